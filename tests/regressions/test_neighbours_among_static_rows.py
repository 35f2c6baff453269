"""Rows of a static table wait for no neighbours.

The rule of EXPLAIN kept the last ones, which the engine rightly forgot: all has come.
"""

import pytest
from tests.final_law import held_to_finality
from tests.histories import Fed

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Literal
from ebbtide.algebra.ranking import FrameCall, Over
from ebbtide.algebra.relation import Map, Named
from ebbtide.core.types import TIMESTAMP
from strategies.sources import SHOPS

STEPS = [{"shops": Fed.of([("insert", (1, "b")), ("insert", (None, "a")), ("insert", (2, "a"))])}]


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
@pytest.mark.parametrize("name", ["LAG", "LEAD"])
def test_nothing_is_kept_where_all_has_come(name: str, emit: Emit) -> None:
    columns = (
        Named("c", SHOPS.ref("auction")),
        Named("n", SHOPS.ref("name")),
        Named("at", Literal(2, TIMESTAMP)),
    )
    rows = Map(SHOPS, columns)
    call = FrameCall("v", AggregateCall(name, (rows.ref("c"),)))
    plan = Over(rows, (call,), (rows.ref("n"),), (SortKey(rows.ref("at")),))
    assert held_to_finality([(plan, emit)], STEPS, 1) == 3
