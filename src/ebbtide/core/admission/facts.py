"""Streams and static tables: facts, inserted, deleted and replaced by key.

Law: a delete or replace is about the fact that has its key and its progressing times; the fact
precedes it in the source.  So the negative is above the horizon just if its positive is, and all
that is said about one fact settles at once, when the horizon passes one of the fact's times.

    offset   1 insert   2 replace   3 delete   4 insert        of one key and time
             a          a'          -          b          ->   b holds

A key holds once among the facts above the horizon: of several, at different times, the one that
comes first in the source stays, the others are duplicates.  What has settled stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from ebbtide.core.admission.arrival import Op, Reason
from ebbtide.core.admission.operation import NOTHING, Operation, Outcome, unused
from ebbtide.core.change import fact
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.values import Row, normalise


@dataclass(frozen=True, slots=True)
class FactLedger:
    """All operations on a stream: those that others may still join, and what has settled."""

    declaration: Declaration
    open: tuple[Operation, ...] = ()
    settled: Outcome = NOTHING

    def admit(
        self, operations: Iterable[Operation], before: InputFrontier, after: InputFrontier
    ) -> FactLedger:
        """The ledger with the operations of a step, by the frontiers before and after it."""
        everything = (*self.open, *operations)
        fates = self._fates(everything, before)
        closed = _closed(everything, fates, after)
        settled = self._outcome((o for o in everything if o.number in closed), fates)
        orphans = tuple(unused(o, Reason.NO_POSITIVE) for o in settled.pending)
        settled = replace(settled, pending=(), unused=settled.unused + orphans)
        still_open = tuple(o for o in everything if o.number not in closed)
        return replace(self, open=still_open, settled=self.settled + settled)

    def outcome(self, frontier: InputFrontier) -> Outcome:
        """What has become of all operations so far."""
        return self.settled + self._outcome(self.open, self._fates(self.open, frontier))

    def _fates(self, operations: tuple[Operation, ...], frontier: InputFrontier) -> _Fates:
        if not self.declaration.key:
            return _Fates({o.number: _Held(o, o) for o in operations})
        return _resolve(operations, frontier)

    def _outcome(self, operations: Iterable[Operation], fates: _Fates) -> Outcome:
        listed = tuple(operations)
        out = fates.pending | fates.duplicates
        held = [fates.held[o.number] for o in listed if o.number in fates.held]
        return Outcome(
            changes=tuple(fact(self._fact(holding.says.row)) for holding in held),
            accepted=tuple(o for o in listed if o.number not in out),
            pending=tuple(o for o in listed if o.number in fates.pending),
            unused=tuple(
                unused(o, Reason.DUPLICATE_KEY) for o in listed if o.number in fates.duplicates
            ),
        )

    def _fact(self, row: Row) -> Row:
        schema = self.declaration.schema
        return tuple(normalise(row[schema.index(column)]) for column in self.declaration.row_schema)


@dataclass(slots=True)
class _Held:
    """A fact that holds: the insert that began it, the operation that says what it is now, and
    the replacements in between."""

    insert: Operation
    says: Operation
    replaced_by: list[Operation] = field(default_factory=list)


@dataclass(slots=True)
class _Fates:
    """Where operations stand, by number; an operation that is in none of these is accepted."""

    held: dict[int, _Held] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)
    duplicates: set[int] = field(default_factory=set)


def _resolve(operations: Iterable[Operation], frontier: InputFrontier) -> _Fates:
    by_fact: dict[Hashable, list[Operation]] = defaultdict(list)
    for operation in sorted(operations, key=lambda o: o.order):
        by_fact[operation.key, _progressing_times(operation, frontier)].append(operation)
    fates = _Fates()
    rivals: dict[Row, list[_Held]] = defaultdict(list)
    for told in by_fact.values():
        held = _tell(told, fates)
        if held is not None:
            rivals[held.insert.key].append(held)
    for facts in rivals.values():
        first, *others = sorted(facts, key=lambda held: held.insert.order)
        fates.held[first.insert.number] = first
        for loser in others:
            fates.duplicates.add(loser.insert.number)
            fates.pending.update(o.number for o in loser.replaced_by)
    return fates


def _tell(operations: list[Operation], fates: _Fates) -> _Held | None:
    """What the operations on one fact, in order, leave of it."""
    held: _Held | None = None
    for operation in operations:
        if operation.op is Op.INSERT:
            if held is None:
                held = _Held(operation, operation)
            else:
                fates.duplicates.add(operation.number)
        elif held is None:
            fates.pending.add(operation.number)
        elif operation.op is Op.REPLACE:
            held.says = operation
            held.replaced_by.append(operation)
        else:
            held = None
    return held


def _closed(operations: tuple[Operation, ...], fates: _Fates, frontier: InputFrontier) -> set[int]:
    """The numbers of the operations that settle: those about facts that the horizon has passed,
    and the duplicates of such facts, which must not come to life because they are forgotten."""
    passed = {o.number for o in operations if frontier.has_settled(o.times)}
    keys = {held.insert.key for number, held in fates.held.items() if number in passed}
    outlived = {o.number for o in operations if o.number in fates.duplicates and o.key in keys}
    return passed | outlived


def _progressing_times(operation: Operation, frontier: InputFrontier) -> tuple[object, ...]:
    lines = zip(frontier.lines, operation.times, strict=True)
    return tuple(t for line, t in lines if line.settles)
