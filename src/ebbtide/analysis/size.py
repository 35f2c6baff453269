"""How many rows of a relation hold at once, as time goes on.

Law: of the rows that are valid after some instant, there are as many as come within a window; or
one for each key; or as many as a table holds; or all that ever came.  On facts, which hold always,
it is all that ever came, unless they are grouped.
"""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from ebbtide.algebra.combination import (
    Intersection,
    Join,
    MaxUnion,
    Outer,
    Product,
    UnionAll,
)
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.phases import Phase, during, phases
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.traits import KeepsSize
from ebbtide.algebra.window import (
    Dstream,
    Istream,
    Leaves,
    Rstream,
    Window,
)
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.edge import FROM, TO, Edge
from ebbtide.core.time import INF


class Size(IntEnum):
    """How much is held, from least to most."""

    NONE = 0
    WINDOW = 1
    KEY = 2
    TABLE = 3
    UNBOUNDED = 4

    def __str__(self) -> str:
        return {
            Size.NONE: "none",
            Size.WINDOW: "per window",
            Size.KEY: "per key",
            Size.TABLE: "as much as a table holds",
            Size.UNBOUNDED: "unbounded",
        }[self]


def derive(relation: Relation, below: tuple[Size, ...]) -> Size:
    """How many rows of a node hold at once."""
    node = operator(relation)
    if isinstance(node, Filter) and node.depends_on_now:
        return _ended_by_now(node, below[0])
    if isinstance(node, KeepsSize):
        return below[0]
    if isinstance(node, Padding):
        return _outer(node, below)
    match node:
        case Stream() | Recurrence():
            return Size.UNBOUNDED
        case StaticTable():
            return Size.TABLE
        case Values():
            return Size.WINDOW
        case ChangingTable():
            return Size.TABLE if node.declaration.lifetime_us is None else Size.WINDOW
        case Distinct():
            return min(below[0], Size.KEY) if below[0] is Size.UNBOUNDED else below[0]
        case Aggregate():
            return _grouped(node, below[0])
        case TopN():
            return min(below[0], Size.KEY if node.partition_by else Size.WINDOW)
        case Window():
            return _windowed(node)
        case Product() | Join():
            return _paired(below)
        case Intersection():
            return min(below)
        case UnionAll() | MaxUnion():
            return max(below)
        case Istream() | Dstream() | Rstream():
            return Size.UNBOUNDED
        case _:
            assert_never(node)


def size_of_phases(node: Filter | Map, edge: Edge, below: Size, size: Size) -> Size:
    """How many rows of phases hold or wait to begin, by what is known of their ends.

    Rows that begin within a bound of a time that progresses, and end so, are those of a window; of
    rows that never end and may begin however late, any number may be waiting.
    """
    if edge.bounds.is_static:
        return size
    if begins_however_late(node, edge, below):
        return Size.UNBOUNDED
    return min(size, Size.WINDOW) if _bounded(edge, TO) else size


def begins_however_late(node: Filter | Map, edge: Edge, below: Size) -> bool:
    """Whether conditions on NOW() let rows begin at times that nothing bounds.

    A row that waits for its phase is there already, so it is one of those below that hold at once.
    """
    if below is not Size.UNBOUNDED or edge.bounds.is_static:
        return False
    return any(phase.starts for phase in _phases(node)) and not _bounded(edge, FROM)


def _phases(node: Filter | Map) -> tuple[Phase, ...]:
    if isinstance(node, Filter):
        return during(node.predicate)
    return phases(*(named.expression for named in node.columns))


def may_last(edge: Edge) -> bool:
    """Whether rows of a changing relation may be there however far its times have come."""
    return edge.is_snapshot and not _bounded(edge, TO)


def _bounded(edge: Edge, end: Var) -> bool:
    known = edge.bounds.variables
    return all(
        any(case.is_there(v) and case.dist(v, end) < INF for v in known)
        for case in edge.facts.cases
    )


def _ended_by_now(node: Filter, below: Size) -> Size:
    """Rows that a condition on NOW() ends: those of a window, or as many as have not ended."""
    kept = during(node.predicate)
    if not all(phase.ends for phase in kept):
        return below
    return min(below, Size.TABLE)


def _grouped(node: Aggregate, below: Size) -> Size:
    if not node.keys:
        return Size.WINDOW
    return Size.KEY if below is Size.UNBOUNDED else below


def _windowed(node: Window) -> Size:
    match node.spec.leaves:
        case Leaves.BY_ITSELF:
            return Size.WINDOW
        case Leaves.BY_OTHERS:
            return Size.KEY if node.spec.keys else Size.WINDOW
        case Leaves.NEVER:
            return Size.UNBOUNDED


def _paired(below: tuple[Size, ...]) -> Size:
    """A pair holds while both rows do, but one row may have all of the other side as partners."""
    return Size.UNBOUNDED if Size.UNBOUNDED in below else min(below)


def _outer(node: Padding, below: tuple[Size, ...]) -> Size:
    left, right = below
    match node.kept:
        case Outer.LEFT:
            return left
        case Outer.RIGHT:
            return right
        case Outer.FULL:
            return max(left, right)
