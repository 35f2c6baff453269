"""What an operator keeps of its own output, and when it forgets.

Law: what was emitted is kept while a change to come can make it be derived again.  A change does
that to the row of its own group, to an equal row, or to the rows of its partition; in an OVER with
frames only to those whose frame it is in.  Under that rule nothing that is forgotten is retracted.

Joins and windows emit each row once, from its parents, and keep nothing of it; LAG, LEAD and frames
of rows on facts keep the values of a fact beside it, as long as its input's rule keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    MaxUnion,
    StrictDifference,
)
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.operators import operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import (
    Aggregate,
    Distinct,
    Named,
    Relation,
)
from ebbtide.algebra.traits import EmitsOnce
from ebbtide.analysis.contact import NOT_TOUCHED, Touch, touched
from ebbtide.analysis.formula.conditions import Keep
from ebbtide.analysis.formula.formula import Formula, both, compare
from ebbtide.analysis.formula.progress import NEVER, Value, slowest
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep import Retain, Together
from ebbtide.analysis.keep_rules import ByTime, behind
from ebbtide.analysis.ordered_keep import rows_of_frames
from ebbtide.analysis.temporal.edge import FROM, Copy, Edge, same, same_row
from ebbtide.analysis.temporal.frame import reach
from ebbtide.analysis.temporal.pointwise import same_partition
from ebbtide.analysis.temporal.predicates import term_of


def kept_output(
    relation: Relation, edge: Edge, below: tuple[Edge, ...], retain: Retain
) -> ByTime | None:
    """The rule of what a node has emitted; None if it keeps nothing of it."""
    node = operator(relation)
    if isinstance(node, EmitsOnce):
        return None
    match node:
        case Aggregate() if not node.keys and edge.kind is Kind.FACT:
            # The one group has a row from the first step on, which is emitted once.
            return _rule(edge, Touch(Keep(((),))))
        case Aggregate():
            touch = _touched(edge, below, lambda o, y: _same_group(node.keys, o, y), retain)
            return _rule(edge, touch)
        case Distinct() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return _rule(edge, _touched(edge, below, same_row, retain))
        case TopN():
            keys = node.partition_by
            # The input's columns stand first in the output.
            touch = _touched(below[0], below, lambda o, y: same_partition(keys, o, y), retain)
            return _rule(below[0], touch)
        case Over() if rows_of_frames(node, below[0], retain) is not None:
            return None  # the values of a fact stand beside it, in the store of its input
        case Over():
            return _rule(below[0], _touched(below[0], below, _framed(node, below[0]), retain))
        case _:
            assert_never(node)


def begun(below: Iterable[Edge], retain: Retain) -> Value:
    """The instant that every change to come of some inputs begins after."""
    changing = [edge for edge in below if edge.kind is not Kind.STATIC]
    if not changing or not all(edge.is_snapshot for edge in changing):
        return NEVER
    return slowest(behind(propagated(FROM, e.facts, e.bounds), retain) for e in changing)


def _touched(mine: Edge, below: tuple[Edge, ...], together: Together, retain: Retain) -> Touch:
    touch = NOT_TOUCHED
    for other in below:
        o, y = mine.rows.copy("o"), other.copy("y")
        touch = touch.either(touched(o, y, together(o, y), retain))
    return touch


def _same_group(keys: tuple[Named, ...], o: Copy, y: Copy) -> Formula:
    """That a row is in the group of an output row, as far as times go."""
    found: list[Formula] = []
    for place, named in enumerate(keys):
        mine = o.columns.get(place)
        other = term_of(named.expression, y.edge.schema, y.columns)
        if mine is None or other is None:
            continue
        may_miss = nullable(named.expression)
        if isinstance(other, Var):
            found.append(same(mine, other, may_miss))
        elif not may_miss:
            found.append(compare(mine, "=", other))
    return both(*found)


def _framed(node: Over, below: Edge) -> Together:
    """On an edge of snapshots what holds at ``now`` stays anyhow, and so do whole partitions."""
    frames = reach(node)

    def together(o: Copy, y: Copy) -> Formula:
        partition = same_partition(node.partition_by, o, y)
        return partition if below.is_snapshot else both(partition, frames.affects(o, y))

    return together


def _rule(edge: Edge, touch: Touch) -> ByTime:
    turns = edge.kind is not Kind.FACT
    return ByTime(touch.keep, tuple(edge.columns.items()), turns=turns)
