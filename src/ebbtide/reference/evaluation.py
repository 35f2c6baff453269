"""Evaluating a plan over all time.

Law: the result of a plan is the relation whose snapshot at every instant is what plain SQL gives
on the snapshots of the plan's inputs at that instant (paper 4, section 3).  Between two
neighbouring end points of its inputs an operator's snapshots are all the same, so one snapshot
per end point is enough.

Facts hold at every instant, so a query on bare streams is evaluated once, on all facts so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias, assert_never

from ebbtide.algebra.combination import OuterJoin
from ebbtide.algebra.group_instants import with_group_instants
from ebbtide.algebra.operators import AcrossTime, Pointwise, Source, operator
from ebbtide.algebra.quarantine import OnError, subquery_of
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Alias,
    ChangingTable,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.window import Dstream, Istream, Rstream, Window
from ebbtide.core.change import (
    Change,
    Multiset,
    consolidate,
    end_points,
    fact,
    segments,
    snapshot,
)
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, Instant
from ebbtide.core.tree import find, fold, rewrite
from ebbtide.errors import InternalError
from ebbtide.reference.aggregation import SubqueryValue
from ebbtide.reference.instants import at_instant, inside, turns
from ebbtide.reference.pointwise import operate
from ebbtide.reference.quarantine import LeftOut
from ebbtide.reference.streams import came, shown, went
from ebbtide.reference.windows import validity

Changes: TypeAlias = tuple[Change, ...]
Inputs: TypeAlias = Mapping[str, Iterable[Change]]
Said: TypeAlias = dict[Relation, Changes]
"""What each operator has left out, as rows of ``ERRORS``."""


def evaluate(
    plan: Relation,
    inputs: Inputs,
    now: Instant = INF,
    on_error: OnError = OnError.QUARANTINE,
) -> Changes:
    """The consolidated output of a plan over all time.

    ``inputs`` has the accepted changes of every source by its name; facts are changes that hold
    at every instant.  ``now`` bounds the facts that ISTREAM, DSTREAM and RSTREAM have made, and
    those that follow from others in a recursion.
    """
    said: Said | None = {} if on_error is OnError.QUARANTINE else None
    return _evaluated(plan, _with_solutions(plan, inputs, now, on_error), now, said)


def errors(plan: Relation, inputs: Inputs, now: Instant = INF) -> Changes:
    """What all operators of a plan leave out because an expression fails, as rows of ``ERRORS``.

    Operators that are equal are one.
    """
    found: Said = {}
    _evaluated(plan, _with_solutions(plan, inputs, now, OnError.QUARANTINE), now, found)
    return consolidate(change for changes in found.values() for change in changes)


def _with_solutions(plan: Relation, inputs: Inputs, now: Instant, on_error: OnError) -> Inputs:
    """The inputs of a plan, and the facts of its recursions."""
    known = dict(inputs)
    for node in reversed(list(find(plan, Recursion))):
        known[node.name] = _solution(node, known, now, on_error)
    return known


def _solution(node: Recursion, inputs: Inputs, now: Instant, on_error: OnError) -> Changes:
    """The facts of a recursion, in the order of their time: what follows is later.

    The facts up to some time are right once they are all that follows from them; then those of the
    next time at which there are any follow from these alone.
    """
    if now >= INF:
        raise InternalError("no-end", "a recursion up to the end of time has no end; give a now")
    facts: Changes = ()
    while True:
        said: Said | None = None if on_error is OnError.FAIL else {}
        made = _up_to(_evaluated(node.input, {**inputs, node.name: facts}, now, said), node, now)
        wrong = consolidate((*made, *(fact(c.row, -c.diff) for c in facts)))
        if not wrong:
            return facts
        facts = _up_to(made, node, min(change.row[node.place] for change in wrong))


def _up_to(changes: Changes, node: Recursion, now: Instant) -> Changes:
    times = ((change, change.row[node.place]) for change in changes)
    return tuple(change for change, time in times if time is not None and time <= now)


def evaluate_at(plan: Relation, inputs: Inputs, at: Instant, now: Instant = INF) -> Multiset:
    """The snapshot of a plan's output at an instant."""
    return snapshot(evaluate(plan, inputs, now), at)


def apply(
    node: Pointwise | AcrossTime,
    below: tuple[Changes, ...],
    now: Instant,
    said: Said | None = None,
) -> Changes:
    """The consolidated output of one operator on its inputs over all time.

    What it leaves out is said by operator; without a place for that, a failure is raised.
    """
    if not isinstance(node, AcrossTime):
        if said is not None:
            said[node] = ()
        return consolidate(pointwise(node, below, said))
    match node:
        case Window():
            return consolidate(validity(node, below[0]))
        case Istream():
            return consolidate(came(below[0], now))
        case Dstream():
            return consolidate(went(below[0], now))
        case Rstream():
            return consolidate(shown(below[0], node.every_us, now))
        case Recursion():
            return _up_to(below[0], node, now)
        case _:
            assert_never(node)


def _evaluated(plan: Relation, inputs: Inputs, now: Instant, said: Said | None) -> Changes:
    marked = rewrite(with_group_instants(plan), _as_value)
    return fold(marked, lambda node, below: _output(node, below, inputs, now, said))


def _as_value(node: Relation) -> Relation:
    """A join with a subquery that is a value: it is there where it is an error, too."""
    group = subquery_of(node) if isinstance(node, OuterJoin) else None
    if group is None:
        return node
    assert isinstance(node, OuterJoin)
    assert isinstance(node.right, Alias)
    value = SubqueryValue(group.input, group.keys, group.calls)
    return replace(node, right=Alias(value, node.right.name))


def _output(
    relation: Relation,
    below: tuple[Changes, ...],
    inputs: Inputs,
    now: Instant,
    said: Said | None,
) -> Changes:
    node = operator(relation)
    if not isinstance(node, Source):
        return apply(node, below, now, said)
    match node:
        case Stream() | StaticTable() | ChangingTable():
            return consolidate(_source(node.declaration.name, inputs))
        case Recurrence():
            return consolidate(_source(node.name, inputs))
        case Values():
            return consolidate(fact(row) for row in node.rows)
        case _:
            assert_never(node)


def pointwise(
    node: Pointwise, below: tuple[Changes, ...], said: Said | None = None
) -> Iterable[Change]:
    """The operator applied to every snapshot of its inputs."""
    if isinstance(node, Filter | Map) and node.depends_on_now:
        yield from _at_instants(node, below[0], said)
        return
    for segment in segments(end_points(*below)):
        rows = tuple(snapshot(changes, segment.valid_from) for changes in below)
        yield from _over(segment, node, rows, said, node)


def _at_instants(node: Filter | Map, below: Changes, said: Said | None) -> Iterable[Change]:
    """An operator with NOW() in it, applied to every snapshot of its input."""
    points = {*end_points(below), *turns(node, {change.row for change in below})}
    for segment in segments(sorted(points)):
        rows = (snapshot(below, segment.valid_from),)
        yield from _over(segment, at_instant(node, inside(segment)), rows, said, node)


def _over(
    segment: Interval,
    node: Pointwise,
    rows: tuple[Multiset, ...],
    said: Said | None,
    written: Pointwise,
) -> Iterable[Change]:
    """What an operator makes of snapshots that are the same over a segment."""
    left_out = None if said is None else LeftOut()
    made = operate(node, rows) if left_out is None else operate(node, rows, left_out)
    if said is not None and left_out is not None and left_out.rows:
        said[written] = (*said[written], *_lasting(segment, left_out.rows))
    return _lasting(segment, made)


def _lasting(segment: Interval, rows: Multiset) -> Iterable[Change]:
    for row, multiplicity in rows.items():
        yield Change(row, segment.valid_from, segment.valid_to, multiplicity)


def _source(name: str, inputs: Inputs) -> Iterable[Change]:
    if name not in inputs:
        raise InternalError("no-input", f'there is no input for "{name}"')
    return inputs[name]
