"""Evaluating a plan over all time.

Law: the result of a plan is the relation whose snapshot at every instant is what plain SQL gives
on the snapshots of the plan's inputs at that instant (paper 4, section 3).  Between two
neighbouring end points of its inputs an operator's snapshots are all the same, so one snapshot
per end point is enough.

Facts hold at every instant, so a query on bare streams is evaluated once, on all facts so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

from ebbtide.algebra.operators import AcrossTime, Pointwise, Source, operator
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream, Values
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
from ebbtide.core.time import INF, Instant
from ebbtide.core.tree import fold
from ebbtide.errors import InternalError
from ebbtide.reference.pointwise import operate
from ebbtide.reference.streams import came, shown, went
from ebbtide.reference.windows import validity

Changes: TypeAlias = tuple[Change, ...]
Inputs: TypeAlias = Mapping[str, Iterable[Change]]


def evaluate(plan: Relation, inputs: Inputs, now: Instant = INF) -> Changes:
    """The consolidated output of a plan over all time.

    ``inputs`` has the accepted changes of every source by its name; facts are changes that hold
    at every instant.  ``now`` bounds the facts that ISTREAM, DSTREAM and RSTREAM have made.
    """
    return fold(plan, lambda node, below: _output(node, below, inputs, now))


def evaluate_at(plan: Relation, inputs: Inputs, at: Instant, now: Instant = INF) -> Multiset:
    """The snapshot of a plan's output at an instant."""
    return snapshot(evaluate(plan, inputs, now), at)


def apply(node: Pointwise | AcrossTime, below: tuple[Changes, ...], now: Instant) -> Changes:
    """The consolidated output of one operator on its inputs over all time."""
    if not isinstance(node, AcrossTime):
        return consolidate(pointwise(node, below))
    match node:
        case Window():
            return consolidate(validity(node, below[0]))
        case Istream():
            return consolidate(came(below[0], now))
        case Dstream():
            return consolidate(went(below[0], now))
        case Rstream():
            return consolidate(shown(below[0], node.every_us, now))
        case _:
            assert_never(node)


def _output(
    relation: Relation, below: tuple[Changes, ...], inputs: Inputs, now: Instant
) -> Changes:
    node = operator(relation)
    if not isinstance(node, Source):
        return apply(node, below, now)
    match node:
        case Stream() | StaticTable() | ChangingTable():
            return consolidate(_source(node.declaration.name, inputs))
        case Values():
            return consolidate(fact(row) for row in node.rows)
        case _:
            assert_never(node)


def pointwise(node: Pointwise, below: tuple[Changes, ...]) -> Iterable[Change]:
    """The operator applied to every snapshot of its inputs."""
    for segment in segments(end_points(*below)):
        rows = operate(node, tuple(snapshot(changes, segment.valid_from) for changes in below))
        for row, multiplicity in rows.items():
            yield Change(row, segment.valid_from, segment.valid_to, multiplicity)


def _source(name: str, inputs: Inputs) -> Iterable[Change]:
    if name not in inputs:
        raise InternalError("no-input", f'there is no input for "{name}"')
    return inputs[name]
