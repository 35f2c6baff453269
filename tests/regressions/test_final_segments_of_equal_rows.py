"""Segments of a row are those of all its copies, whatever operators and shards they come from.

Rows of the constant and those of EXCEPT came to the end of the query in different stages, and
waited there by themselves: the part before 6 us, where there is one copy, did not leave.

    constant   |------------------------>
    EXCEPT                6 |----) 8
    copies     | 1        1 | 2  | 1
"""

import pytest
from tests.final_law import held_to_finality
from tests.histories import Fed

from ebbtide.algebra.combination import StrictDifference, UnionAll
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Literal
from ebbtide.algebra.relation import Map, Named, Relation, Values
from ebbtide.algebra.window import Fixed, Window
from ebbtide.core.schema import schema
from ebbtide.core.types import BIGINT
from strategies.arrivals import PRICES_PROMISED, REPORTS

STEPS = [
    {"reports": Fed.of([("insert", (0, 2, 0))])},
    {"prices": Fed.of([("upsert", (1, None, 3))])},
    {"reports": Fed.of([("insert", (2, 5, 6))])},
    {"reports": Fed(advance=8)},
    {"prices": Fed(advance=9)},
]


def _only(relation: Relation, name: str) -> Map:
    return Map(relation, (Named("c0", relation.ref(name)),))


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
def test_they_are_cut_together(emit: Emit, shards: int) -> None:
    constant = _only(Values(schema(x="BIGINT"), ((2,),)), "x")
    reports = _only(Window(REPORTS, Fixed(4), "received"), "auction")
    ones = Map(PRICES_PROMISED, (Named("c0", Literal(1, BIGINT)),))
    plan = UnionAll(constant, StrictDifference(reports, ones))
    # 0 over [0, 4), 2 before 6 us, and twice over [6, 8).
    assert held_to_finality([(plan, emit)], STEPS, shards) == 4
