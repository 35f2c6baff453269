"""Tables of changes: a row is there as often as the sum of its changes says.

Law: the versions of a kind of row are the sum of all positive changes and of the negative ones that
are *covered*: in the order (time, source offset), one counts iff with it, and with those before it
that count, no instant would have fewer than no rows.  One that is not covered over its whole
interval waits, and is unused once the horizon has passed its begin.

    +1  ├─────────────┤
    +1                ├──────┤
    -1       ├──────────┤             covered by both together
    -1                            ├─┤ waits for a positive
    sum ├────┤          ├────┤

A version begins where the sum rises, and lasts until the sum falls again: what has begun last ends
first.  So nothing but the sum decides what the versions are, and nothing at or below the horizon is
altered by changes that begin after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ebbtide.core.admission.arrival import Op, Reason
from ebbtide.core.admission.operation import Operation, Outcome, unused
from ebbtide.core.change import Change
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.frontier import Frontier, InputFrontier
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, Instant, is_finite
from ebbtide.core.values import Row, normalise


@dataclass(frozen=True, slots=True)
class SumLedger:
    """All changes of a table, and the numbers of those that can never count any more."""

    declaration: TableDeclaration
    operations: tuple[Operation, ...] = ()
    dropped: frozenset[int] = frozenset()

    def admit(
        self, operations: Iterable[Operation], before: InputFrontier, after: InputFrontier
    ) -> SumLedger:
        """The ledger with the changes of a step, by the frontiers before and after it."""
        grown = replace(self, operations=(*self.operations, *operations))
        line = after[self._time]
        missed = {o.number for o in grown._waiting() if not line.accepts(o.at)}
        return replace(grown, dropped=self.dropped | missed)

    def outcome(self, frontier: InputFrontier) -> Outcome:
        """What has become of all changes so far."""
        waiting = {o.number for o in self._waiting()}
        out = waiting | self.dropped
        counting = [o for o in self.operations if o.number not in out]
        return Outcome(
            changes=tuple(self._versions(counting)),
            accepted=tuple(counting),
            pending=tuple(o for o in self.operations if o.number in waiting),
            unused=tuple(
                unused(o, Reason.NO_POSITIVE) for o in self.operations if o.number in self.dropped
            ),
        )

    def needed(self, line: Frontier) -> list[Operation]:
        """Changes of one kind of row that say of all instants beyond the horizon what these say.

        What has settled is added up, with all positives, for they may cover a negative that has;
        what is left of them begins when it did.
        """
        told = [o for o in self.operations if o.number not in self.dropped]
        if all(line.accepts(o.at) for o in told):
            return told
        later = [o for o in told if o.op is Op.END and line.accepts(o.at)]
        added = [o for o in told if o.op is Op.UPSERT or not line.accepts(o.at)]
        first = min(added, key=lambda o: o.order)
        standing = (
            self._retold(first, begin, end, count)
            for begin, end, count in _pieces(self._steps(added))
            if end - 1 > line.horizon
        )
        return [*standing, *later]

    def _waiting(self) -> Iterator[Operation]:
        """The negative changes that are not covered."""
        kinds: dict[Row, list[Operation]] = defaultdict(list)
        for operation in self.operations:
            if operation.number not in self.dropped:
                kinds[operation.key].append(operation)
        for told in kinds.values():
            if not _falls_short(self._steps(told)):
                continue
            counting = [o for o in told if o.op is Op.UPSERT]
            for operation in sorted((o for o in told if o.op is Op.END), key=lambda o: o.order):
                if _falls_short(self._steps([*counting, operation])):
                    yield operation
                else:
                    counting.append(operation)

    def _versions(self, operations: Iterable[Operation]) -> Iterator[Change]:
        kinds: dict[Row, list[Operation]] = defaultdict(list)
        for operation in operations:
            kinds[operation.key].append(operation)
        for told in kinds.values():
            for begin, end, count in _pieces(self._steps(told)):
                yield Change(self._row(told[0].row, begin), begin, end, count)

    def _steps(self, operations: Iterable[Operation]) -> Mapping[Instant, int]:
        """By how much the sum of changes rises at each instant."""
        steps: dict[Instant, int] = defaultdict(int)
        for operation in operations:
            interval = self._interval(operation)
            if interval is not None:
                steps[interval.valid_from] += self._diff(operation)
                steps[interval.valid_to] -= self._diff(operation)
        return steps

    def _interval(self, operation: Operation) -> Interval | None:
        end = self.declaration.end_of(operation.at, operation.row)
        return Interval(operation.at, end) if operation.at < end else None

    def _diff(self, operation: Operation) -> int:
        place = self.declaration.schema.position(self._op)
        diff: int = operation.row[place]
        return diff

    def _row(self, told: Row, begin: Instant) -> Row:
        schema, time = self.declaration.schema, self.declaration.schema.column(self._time)
        return tuple(
            begin if column.identity == time.identity else normalise(told[schema.index(column)])
            for column in self.declaration.row_schema
        )

    def _retold(self, one: Operation, begin: Instant, end: Instant, count: int) -> Operation:
        """A change of the same kind of row, over another interval."""
        schema, until = self.declaration.schema, self.declaration.until
        assert until is not None
        row = list(one.row)
        row[schema.position(self._time)] = begin
        row[schema.position(until)] = end if is_finite(end) else None
        row[schema.position(self._op)] = count
        arrival = replace(one.arrival, op=Op.UPSERT, row=tuple(row))
        return replace(one, arrival=arrival, at=begin, times=_moved(one, begin))

    @property
    def _time(self) -> str:
        assert self.declaration.time is not None
        return self.declaration.time

    @property
    def _op(self) -> str:
        assert self.declaration.op is not None
        return self.declaration.op


def _moved(one: Operation, begin: Instant) -> tuple[Instant | None, ...]:
    """The times of a change that begins at another instant."""
    return tuple(begin if t == one.at else t for t in one.times)


def _falls_short(steps: Mapping[Instant, int]) -> bool:
    """Whether there would be fewer than no rows at some instant."""
    total = 0
    for t in sorted(steps):
        total += steps[t]
        if total < 0:
            return True
    return False


def _pieces(steps: Mapping[Instant, int]) -> Iterator[tuple[Instant, Instant, int]]:
    """Begin, end and count of the rows that a sum is made of; what began last ends first."""
    standing: list[tuple[Instant, int]] = []
    for t in sorted(steps):
        if steps[t] > 0:
            standing.append((t, steps[t]))
        falls = -steps[t]
        while falls > 0:
            begin, count = standing.pop()
            yield begin, t, min(count, falls)
            if count > falls:
                standing.append((begin, count - falls))
            falls -= count
    assert not standing, f"{INF} ends every change"
