"""Snapshot-reducibility: the snapshot of an operator's output is the operator on the snapshots.

For every operator but windows, ISTREAM, DSTREAM and RSTREAM (paper 4, definition 5.2). The plan is
evaluated once over all time, and once for each instant, on inputs that never change; NOW() is the
instant in both.
"""

from typing import get_args

from hypothesis import strategies as st

from ebbtide.algebra import ChangingTable, Kind, Relation, Stream
from ebbtide.algebra.operators import Pointwise
from ebbtide.core.change import Change, end_points, facts, snapshot
from ebbtide.core.declaration import StreamDeclaration, TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.reference import evaluate
from ebbtide.testing.assertions import assert_snapshot_equal
from laws import Law
from strategies import plans, relations
from strategies.temporal import MULTIPLYING_FACTS, TO_FACTS

POINTWISE: tuple[type[Relation], ...] = get_args(Pointwise)
FIRST = schema(x="BIGINT", y="BOOLEAN")
SECOND = schema(x="BIGINT", d="DOUBLE", at="TIMESTAMP")
TABLES = (
    ChangingTable(TableDeclaration("first", FIRST)),
    ChangingTable(TableDeclaration("second", SECOND)),
)
# TUMBLE and its like are written on facts; at an instant they do with any relation.
STREAMS = (
    Stream(StreamDeclaration("first", FIRST)),
    Stream(StreamDeclaration("second", SECOND)),
)
MOST_INSTANTS = 12

Case = tuple[Relation, dict[str, tuple[Change, ...]]]


def cases(root: type[Relation]) -> st.SearchStrategy[Case]:
    """Plans of operators that look at one instant, and relations for their sources."""
    on_facts = root in TO_FACTS or root in MULTIPLYING_FACTS
    below = plans(
        STREAMS if on_facts else TABLES,
        depth=2,
        kind=Kind.FACT if on_facts else Kind.SNAPSHOT,
        root=root,
        operators=POINTWISE,
    )
    data = {"first": relations(FIRST, 6), "second": relations(SECOND, 6)}
    return st.tuples(below, st.fixed_dictionaries(data))


def check(case: Case) -> None:
    plan, data = case
    output = evaluate(plan, data)
    points = sorted({t for p in end_points(*data.values()) if p > NEG_INF for t in (p - 1, p)})
    for t in [NEG_INF, *points[:: 1 + len(points) // MOST_INSTANTS]]:
        frozen = {name: facts(snapshot(changes, t).elements()) for name, changes in data.items()}
        here = facts(snapshot(output, t).elements())
        # At that instant: NOW() makes a relation of what never changes.
        there = facts(snapshot(evaluate(plan, frozen), t).elements())
        assert_snapshot_equal(here, there, schema=plan.schema)


LAWS = [
    Law(f"{operator.__name__} is snapshot-reducible", cases(operator), check, 0.15)
    for operator in POINTWISE
]
