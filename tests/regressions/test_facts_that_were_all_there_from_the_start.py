"""Facts derived from static rows alone are emitted in the first step.

With collection they were not: the rule of what may still differ has no case where no row is to
come, and it was asked before the rows were there.
"""

from __future__ import annotations

from tests.histories import Fed
from tests.law import held_to

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import StrictDifference
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.relation import Aggregate, Map, Named, NamedCall, Relation, Values
from ebbtide.algebra.window import Dstream, Istream, Sessions, Window
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from strategies.sources import SHOPS


def test_a_static_row_without_an_equal_fact_is_emitted() -> None:
    rows = Values(schema(x="BIGINT", at="TIMESTAMP"), ((0, 0), (0, 0)))
    facts = Istream(Window(rows, Sessions(6, ("x",)), "at"))
    plan = StrictDifference(_only(SHOPS, "auction"), _only(facts, "x"))
    steps = [{"shops": Fed((Arrival(Op.INSERT, (1, "a"), 0),), None)}, {}]
    assert held_to([plan], steps, 2) == {"v0": (Change((1,), NEG_INF, INF, 1),)}


def test_the_group_of_no_facts_is_emitted_once() -> None:
    rows = Values(schema(x="BIGINT", at="TIMESTAMP"), ((0, 0), (0, 0)))
    plan = Aggregate(Dstream(rows), (), (NamedCall("n", AggregateCall("COUNT")),))
    assert held_to([plan], [{}, {}, {}], 2) == {"v0": (Change((0,), NEG_INF, INF, 1),)}


def _only(relation: Relation, name: str) -> Relation:
    return Map(relation, (Named("x", Ref(relation.schema.column(name))),))
