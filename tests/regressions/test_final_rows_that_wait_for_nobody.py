"""What waits for nobody is final when it comes, and not a revision.

Nothing passes the filter, so no shop can ever meet a bid; that was as true before the shops were
there, and so they left as if something late had brought them.
"""

import pytest
from tests.final_law import held_to_finality
from tests.histories import Fed

from ebbtide.algebra.combination import Outer, OuterJoin
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Comparison, Literal
from ebbtide.algebra.relation import Alias, Filter
from ebbtide.core.types import BOOLEAN
from strategies.arrivals import BIDS_LATE
from strategies.sources import SHOPS

STEPS = [
    {"shops": Fed.of([("insert", (1, "a")), ("insert", (0, None))])},
    {"bids": Fed.of([("insert", (2, 0, 5)), ("insert", (1, 0, 4))])},
    {"bids": Fed(advance=100)},
]


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
def test_shops_without_bids_leave_at_once(emit: Emit) -> None:
    bids, shops = Alias(Filter(BIDS_LATE, Literal(False, BOOLEAN)), "l"), Alias(SHOPS, "r")
    same = Comparison("=", bids.ref("auction"), shops.ref("auction"))
    plan = OuterJoin(bids, shops, same, Outer.FULL)
    assert held_to_finality([(plan, emit)], STEPS, 2) == 2
