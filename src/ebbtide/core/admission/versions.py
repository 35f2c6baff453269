"""Changing tables: versions of a key, made, ended, deleted and replaced in the order of time.

Law: the operations of one key are replayed in the order (time, SEQUENCE, source offset), over a
pile of versions of which only the topmost is valid.

    upsert at t    lays a version on the pile, from t on
    end at t       the topmost version is valid until t
    delete at t    the topmost version is taken off: it never was, so it ended no other
    replace at t   the topmost version has other values, from its begin on

A version lasts until its end, its begin + LIFETIME, the bound in its row (LIFETIME UNTIL), or the
begin of the next on the pile.  One whose bound is not after its begin is never valid, and still
ends the version before it; a replacement brings its own bound.  A negative at an instant at which
no version is valid waits for one.

In a bag all versions on the pile are valid, each until its own end, and an end is that of the
oldest one of its kind.

    upsert a at 10, upsert b at 20, end at 40       a ├────────┤
                                                    b          ├──────────────┤
                                                     10       20             40
    ... and delete at 25                            a ├───────────────────────┤

A delete or replace alters its version from the begin on, and nothing at or below the horizon may
be altered.  So it reaches only versions that began within RETAIN before it:

    begin >= t - RETAIN        and, for one that is late itself, begin > horizon

Which version it names is certain only when the progress has come to ``t``.  Up to then the horizon
is below ``t - RETAIN``, so it may name another version as long as rows that are on time come; from
the moment at which the horizon passes the begin of the version that it has corrected, it is bound
to it, and a late row that slips in between cannot undo what is settled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ebbtide.core.admission.arrival import Op, Reason
from ebbtide.core.admission.operation import Operation, Outcome, unused
from ebbtide.core.change import Change
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.frontier import Frontier, InputFrontier
from ebbtide.core.time import INF, Instant, shift
from ebbtide.core.values import Row, normalise
from ebbtide.errors import InternalError


@dataclass(frozen=True, slots=True)
class Binding:
    """A correction and the upsert whose version it corrects."""

    correction: Operation
    upsert: Operation


@dataclass(frozen=True, slots=True)
class VersionLedger:
    """All operations on a table, and the corrections that nothing can undo any more."""

    declaration: TableDeclaration
    operations: tuple[Operation, ...] = ()
    bound: tuple[Binding, ...] = ()

    def admit(
        self, operations: Iterable[Operation], before: InputFrontier, after: InputFrontier
    ) -> VersionLedger:
        """The ledger with the operations of a step, by the frontiers before and after it."""
        grown = replace(self, operations=(*self.operations, *operations))
        passed = (
            binding
            for history in grown._histories(before[self._time])
            for binding in history.bindings
            if not after[self._time].accepts(binding.upsert.at)
        )
        return replace(grown, bound=(*self.bound, *passed))

    def outcome(self, frontier: InputFrontier) -> Outcome:
        """What has become of all operations so far."""
        line = frontier[self._time]
        histories = self._histories(line)
        waiting = {o.number for history in histories for o in history.waiting}
        pending = tuple(o for o in self.operations if o.number in waiting)
        return Outcome(
            changes=tuple(change for history in histories for change in self._changes(history)),
            accepted=tuple(o for o in self.operations if o.number not in waiting),
            pending=tuple(o for o in pending if line.accepts(o.at)),
            unused=tuple(unused(o, Reason.NO_POSITIVE) for o in pending if not line.accepts(o.at)),
        )

    def _histories(self, line: Frontier) -> list[_History]:
        by_key: dict[Row, list[Operation]] = defaultdict(list)
        for operation in sorted(self.operations, key=lambda o: o.order):
            by_key[operation.key].append(operation)
        end_of = self.declaration.end_of
        bag = self.declaration.bag
        return [_replay(told, self.bound, line, end_of, bag) for told in by_key.values()]

    def standing(self, line: Frontier) -> list[Operation]:
        """The upserts whose versions are valid after the horizon, as far as is known."""
        return [
            version.upsert
            for history in self._histories(line)
            for version in history.pile
            if version.until > line.horizon
        ]

    def _changes(self, history: _History) -> Iterable[Change]:
        next_begin = INF
        for version in reversed(history.pile):
            end = min(version.until, next_begin)
            if version.upsert.at < end:
                yield Change(self._row(version), version.upsert.at, end)
            if not history.bag:
                next_begin = version.upsert.at

    def _row(self, version: _Version) -> Row:
        """The version's row; a replacement keeps the time at which the version began."""
        schema = self.declaration.schema
        begin = schema.column(self._time)
        return tuple(
            version.upsert.at
            if column.identity == begin.identity
            else normalise(version.says.row[schema.index(column)])
            for column in self.declaration.row_schema
        )

    @property
    def _time(self) -> str:
        if self.declaration.time is None:
            raise InternalError("no-versions", f'table "{self.declaration.name}" is static')
        return self.declaration.time


@dataclass(slots=True)
class _Version:
    """A version on the pile: its upsert, the operation with its values, and its end if known."""

    upsert: Operation
    says: Operation
    until: Instant


@dataclass(slots=True)
class _History:
    """What the operations of one key come to."""

    pile: list[_Version] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    waiting: list[Operation] = field(default_factory=list)
    bag: bool = False

    def valid(self, t: Instant) -> _Version | None:
        """The version valid at an instant at or after the begin of the topmost one; of a bag, the
        oldest."""
        if self.bag:
            return next((version for version in self.pile if t < version.until), None)
        return self.pile[-1] if self.pile and t < self.pile[-1].until else None


def _replay(
    operations: Iterable[Operation],
    bound: Iterable[Binding],
    line: Frontier,
    end_of: Callable[[Instant, Row], Instant],
    bag: bool,
) -> _History:
    """The history of one key; what is bound has been done before the rest begins."""
    done = {binding.correction.number for binding in bound}
    says: dict[int, Operation] = {}
    for binding in bound:
        if binding.correction.op is Op.DELETE:
            done.add(binding.upsert.number)
        else:
            says[binding.upsert.number] = binding.correction
    history = _History(bag=bag)
    for operation in operations:
        if operation.number in done:
            continue
        if operation.op is Op.UPSERT:
            told = says.get(operation.number, operation)
            until = end_of(operation.at, told.row)
            history.pile.append(_Version(operation, told, until))
        else:
            _correct(history, operation, line, end_of)
    return history


def _correct(
    history: _History,
    operation: Operation,
    line: Frontier,
    end_of: Callable[[Instant, Row], Instant],
) -> None:
    """End, delete or replace the version valid at the operation's time, or wait for one."""
    version = history.valid(operation.at)
    if version is None:
        history.waiting.append(operation)
    elif operation.op is Op.END:
        version.until = operation.at
    elif not _reaches(operation, version, line):
        history.waiting.append(operation)
    else:
        history.bindings.append(Binding(operation, version.upsert))
        if operation.op is Op.DELETE:
            history.pile.pop()
        else:
            version.says = operation
            version.until = end_of(version.upsert.at, operation.row)


def _reaches(correction: Operation, version: _Version, line: Frontier) -> bool:
    begin = version.upsert.at
    if not line.progresses:
        return True
    return begin >= shift(correction.at, -line.retain_us) and line.accepts(begin)
