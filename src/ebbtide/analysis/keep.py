"""What every stateful operator stores of its inputs, and when it forgets.

Law: each store has a rule; what the rule does not keep is never read again.  The three clauses of
the keep condition:

(i)   a change to come can touch it: ``touching``;
(ii)  under EMIT FINAL, output that depends on it has not passed.  Operators emit changes in either
      mode; the last stage holds what has not passed, and its store (``held_back``) is this clause;
(iii) it is read when something kept is derived again.  In operators on groups, rows and partitions
      whatever reads it touches it, so (i) says it; in semi, anti and outer joins it is a partner of
      a partner.

A filter, map, union, view or window of time stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    MaxUnion,
    Outer,
    Product,
    SemiJoin,
    StrictDifference,
)
from ebbtide.algebra.operators import Joining, Padding, operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Distinct,
    Relation,
)
from ebbtide.algebra.traits import Stateless, Streaming
from ebbtide.algebra.window import (
    Dstream,
    Istream,
    Rstream,
    Session,
    Window,
)
from ebbtide.analysis.contact import NOT_TOUCHED, Touch, met, touched
from ebbtide.analysis.formula.conditions import After, Keep
from ebbtide.analysis.formula.formula import Formula, both
from ebbtide.analysis.formula.progress import ALWAYS, Bound, Progress, fastest, slowest
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule, behind
from ebbtide.analysis.ordered_keep import open_sessions, rows_of_frames, window_rule
from ebbtide.analysis.temporal.combination import matching
from ebbtide.analysis.temporal.edge import TO, Copy, Edge, same_row
from ebbtide.analysis.temporal.frame import reach
from ebbtide.analysis.temporal.pointwise import same_partition
from ebbtide.core.time import Duration

Retain: TypeAlias = Mapping[Bound, Duration]
Together: TypeAlias = Callable[[Copy, Copy], Formula]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one stored input: by a rule, for want of which bounds."""

    input: int
    rule: Rule
    touch: Touch = NOT_TOUCHED


def kept_inputs(relation: Relation, below: tuple[Edge, ...], retain: Retain) -> tuple[Kept, ...]:
    """The stored inputs of a node, each with its rule."""
    node = operator(relation)
    if isinstance(node, Stateless):
        return ()
    if isinstance(node, Joining):
        return _joined(node, below, retain)
    match node:
        case MaxUnion() | Difference() | StrictDifference() | Intersection():
            return _counted(below, retain)
        case Distinct():
            return (_turning(0, below[0], _among(below[0], retain)),)
        case Aggregate():
            keys = tuple(named.expression for named in node.keys)
            touch = _among(below[0], retain, lambda x, y: same_partition(keys, x, y))
            return (_turning(0, below[0], touch),)
        case TopN():
            keys = node.partition_by
            touch = _among(below[0], retain, lambda x, y: same_partition(keys, x, y))
            return (_turning(0, below[0], touch),)
        case Over():
            return (_framed(node, below[0], retain),)
        case Window():
            window = window_rule(node, below[0], retain)
            return () if window is None else (_in_order(window),)
        case Session():
            return (_in_order(open_sessions(node, below[0], retain)),)
        case Istream() | Dstream() | Rstream():
            return (_streamed(node, below[0], retain),)
        case Recursion():
            return (_ahead(node, below[0]),)
        case _:
            assert_never(node)


def held_back(edge: Edge, waits: tuple[After, ...]) -> Kept:
    """What the last stage holds under EMIT FINAL: rows that have not passed."""
    return Kept(0, ByTime(Keep((waits,)), _columns(edge)))


def _joined(node: Joining, below: tuple[Edge, ...], retain: Retain) -> tuple[Kept, ...]:
    """Each row waits for partners; where rows are derived again, so do its partners' partners."""

    def match(left: Copy, right: Copy) -> Formula:
        return both() if isinstance(node, Product) else matching(node.predicate, left, right)

    def swapped(right: Copy, left: Copy) -> Formula:
        return match(left, right)

    left, right = below
    of_left = _partners(left, right, match, retain)
    of_right = _partners(right, left, swapped, retain)
    kept = node.kept if isinstance(node, Padding) else None
    if isinstance(node, SemiJoin | AntiJoin) or kept in (Outer.LEFT, Outer.FULL):
        of_right = of_right.either(_partners_of_partners(right, left, swapped, retain))
    if kept in (Outer.RIGHT, Outer.FULL):
        of_left = of_left.either(_partners_of_partners(left, right, match, retain))
    return _by_time(0, left, of_left), _by_time(1, right, of_right)


def _partners(mine: Edge, other: Edge, match: Together, retain: Retain) -> Touch:
    x, y = mine.rows.copy("x"), other.copy("y")
    return touched(x, y, match(x, y), retain)


def _partners_of_partners(mine: Edge, other: Edge, match: Together, retain: Retain) -> Touch:
    x, w, y = mine.rows.copy("x"), other.rows.copy("w"), mine.copy("y")
    return touched(x, y, both(match(x, w), match(y, w)), retain, (w,))


def _counted(below: tuple[Edge, ...], retain: Retain) -> tuple[Kept, ...]:
    """A row is counted on both sides, so an equal row of either side touches it.

    It is counted again where one of either side begins or ends, also if it never does so itself.
    """
    kept = []
    for place, mine in enumerate(below):
        touch = NOT_TOUCHED
        for other in below:
            x, y = mine.rows.copy("x"), other.copy("y")
            touch = touch.either(touched(x, y, same_row(x, y), retain))
        rule = ByTime(touch.keep, _columns(mine), turns=_turns(*below))
        kept.append(Kept(place, rule, touch))
    return tuple(kept)


def _among(edge: Edge, retain: Retain, together: Together = same_row) -> Touch:
    """A row is touched by one of the same group."""
    x, y = edge.rows.copy("x"), edge.copy("y")
    return touched(x, y, together(x, y), retain)


def _framed(node: Over, below: Edge, retain: Retain) -> Kept:
    """A row's values are derived again from the rows of its frame."""
    by_rows = rows_of_frames(node, below, retain)
    if by_rows is not None:
        return Kept(0, by_rows)
    if below.is_snapshot:
        # What holds at `now` stays anyhow, and whole partitions with it.
        keys = node.partition_by
        touch = _among(below, retain, lambda x, y: same_partition(keys, x, y))
        return _turning(0, below, touch)
    frames = reach(node)
    x, z, y = below.rows.copy("x"), below.rows.copy("z"), below.copy("y")
    itself = both(same_partition(node.partition_by, x, y), frames.affects(x, y))
    read = both(
        same_partition(node.partition_by, x, z),
        same_partition(node.partition_by, z, y),
        frames.affects(z, x),
        frames.affects(z, y),
    )
    touch = touched(x, y, itself, retain).either(touched(x, y, read, retain, (z,)))
    return _by_time(0, below, touch)


def _streamed(node: Streaming, below: Edge, retain: Retain) -> Kept:
    """A row that has come or gone when ``now`` gets there, or that one to come begins beside."""
    x, y = below.rows.copy("x"), below.copy("y")
    touch = met(x, y, same_row(x, y), retain)
    heard = sorted({atom.bound for atom in y.bounds.atoms})
    if heard and below.is_snapshot:
        ahead = fastest(behind(Progress(bound), retain) for bound in heard)
        touch = touch.either(Touch(Keep(((After(TO, ahead),),))))
    first = isinstance(node, Rstream)
    return Kept(0, ByTime(touch.keep, _columns(below), first, turns=True), touch)


def _ahead(node: Recursion, below: Edge) -> Kept:
    """A row that is later than ``now``, which is at or beyond the progress of every input."""
    heard = sorted({atom.bound for atom in below.bounds.atoms})
    waits = After(below.columns[node.place], slowest(map(Progress, heard)))
    return Kept(0, ByTime(Keep(((waits,),) if heard else ()), _columns(below)))


def _in_order(rule: LastRows | OpenSessions) -> Kept:
    """The rows that one to come stands beside; none, where none is to come."""
    return Kept(0, ByTime(Keep(()), ()) if rule.horizon == ALWAYS else rule)


def _by_time(place: int, edge: Edge, touch: Touch) -> Kept:
    return Kept(place, ByTime(touch.keep, _columns(edge)), touch)


def _turning(place: int, edge: Edge, touch: Touch) -> Kept:
    """As above, in an operator that has to see rows end."""
    return Kept(place, ByTime(touch.keep, _columns(edge), turns=_turns(edge)), touch)


def _turns(*below: Edge) -> bool:
    """Whether an operator sees rows begin and end as ``now`` comes to them.

    Where all are there from the start, what it says of all instants is said at once.
    """
    static = all(edge.bounds.is_static for edge in below)
    return any(edge.is_snapshot for edge in below) and not static


def _columns(edge: Edge) -> tuple[tuple[int, Var], ...]:
    return tuple(edge.columns.items())
