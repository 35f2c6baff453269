"""Admission on Spark: keyed streams and changing tables, key by key.

Law: what comes out is what ``ebbtide.core.admission`` accepts, by its own ledgers: the difference
between the accepted input after and before the step, of the keys that the step touches.
State: the operations of each key that later ones can still meet, but for those that the archive of
the source has (``archived_keys``), which is the second area, to be read, where there is one; of a
table also the last version below the horizon, for the next operation may end it.
Emits: changes of facts or versions, and rows that turned out to be unused, which can be taken back.
Forgets: an operation when the horizon has passed it.

A row in a batch has the declared columns and then the operation, the place in the source and what
could not be read; what comes out has the columns of a row, and of an unused one its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np
import pyarrow as pa

from ebbtide.core.admission import UNUSED_COLUMNS, Arrival, Op, Unused, UnusedRow
from ebbtide.core.admission.facts import FactLedger
from ebbtide.core.admission.operation import Operation, Outcome, admitted
from ebbtide.core.admission.state import Ledger, ledger_of
from ebbtide.core.admission.sums import SumLedger
from ebbtide.core.admission.versions import VersionLedger
from ebbtide.core.change import Change, minus
from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.core.row_text import row_text
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row
from ebbtide.kernels.admission.archived_keys import archived_operations
from ebbtide.kernels.admission.plain_keys import ends_by_itself, plain_keys, stored_times
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes, Mask, distinct
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    concat,
    from_changes,
    negated,
    net,
    payload,
    to_changes,
    where,
    with_times,
)
from ebbtide.state.columns import column, fixed, ints
from ebbtide.state.layout import Layout
from ebbtide.state.types import arrow_type

_TEXTS = len(UNUSED_COLUMNS)
"""Columns behind the row: what is said about one that is unused."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The kernel of a source with a key; ``before`` and ``after`` are the step's frontiers."""

    declaration: Declaration
    source: int
    before: InputFrontier | None = None
    after: InputFrontier | None = None

    def between(self, before: InputFrontier, after: InputFrontier) -> Admission:
        """The kernel of a step."""
        return replace(self, before=before, after=after)

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The row, and what is said of one that is unused."""
        types = [arrow_type(column.type) for column in self.declaration.row_schema]
        return batch_schema([*types, *[pa.string()] * _TEXTS])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The operations, by key."""
        schema = self.declaration.schema
        keys = tuple(schema.position(name) for name in self.declaration.key)
        return (Layout("operations", inputs[0], keys),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The difference that the arrivals of a step make."""
        (arrived,), (area, *archives) = inputs, areas
        before = self.before or first_frontier(self.declaration)
        after = self.after or before
        passed = self._passed(area, before, after)
        if not arrived.num_rows and not len(passed):
            return Result(self.output(inputs).empty_table(), (area,))
        hashes = area.hash(arrived)
        found = self._known(area, arrived, hashes, passed, (before, after))
        stored = net(found) if found.num_rows else found
        archived = archived_operations(self.declaration, archives, arrived, hashes, stored)
        before_it = concat([stored, archived], arrived.schema)
        count = before_it.num_rows
        operations = concat([before_it, arrived], arrived.schema).combine_chunks()
        hashes = np.concatenate([area.hash(before_it), hashes])
        plain = plain_keys(self.declaration, operations, count, after, hashes)
        known, new = (
            where(part, ~chosen)
            for part, chosen in ((before_it, plain.chosen[:count]), (arrived, plain.chosen[count:]))
        )
        changes, renewed = self._by_ledgers(known, new, before, after)
        parts = [
            from_changes([self._stored(o, after) for o in renewed], stored.schema),
            negated(where(stored, ~plain.kept[: stored.num_rows])),
        ]
        if not archives:
            parts.append(self._opened(where(arrived, plain.kept[count:]), after))
        emitted = [
            from_changes(changes, self.output(inputs)),
            _without_texts(plain.emitted, self.output(inputs)),
        ]
        # Merged now and then, but nothing is dropped by time: what stands for a table's version
        # is older than the horizon.
        parts = [part for part in parts if part.num_rows]
        # The new operations of plain keys alone are net: each is the only one of its key.
        is_net = not (count or renewed)
        made = concat(parts, stored.schema)
        area = area.insert(made if is_net else net(made)).reorganize()
        return Result(pa.concat_tables(emitted), (area,))

    def _known(
        self,
        area: SweepArea,
        arrived: Batch,
        hashes: Hashes,
        passed: Hashes,
        frontiers: tuple[InputFrontier, InputFrontier],
    ) -> Batch:
        """The stored operations of the keys that came, and of those that the horizon passes."""
        before, after = frontiers
        came = distinct(hashes)
        if not _settles_by_key(self.declaration, after):
            return area.query(distinct(np.concatenate([came, passed])))
        # All of a key's operations are stored until the same instant: no others are looked at.
        seen = _ends(self.declaration, arrived, after)
        found = area.moved(*seen, came).changes if len(came) else area.none.changes
        if len(passed):
            first, last = _passing(self.declaration, before, after)
            older = area.moved(first + 1, last, passed)
            ends = ints(older.changes, TO)
            known = (seen[0] <= ends) & (ends <= seen[1]) & _are_among(older.hashes, came)
            found = concat([found, where(older.changes, ~known)], found.schema)
        return found

    def pending(self, stored: Batch, frontier: InputFrontier) -> list[Arrival]:
        """The negatives among stored operations that wait for what they are about."""
        found: list[Arrival] = []
        for mine, _ in _by_key(self._operations(to_changes(stored), frontier, 0), ()).values():
            outcome = ledger_of(self.declaration, mine).outcome(frontier)
            found += [o.arrival for o in outcome.pending]
        return found

    def _by_ledgers(
        self, stored: Batch, arrived: Batch, before: InputFrontier, after: InputFrontier
    ) -> tuple[list[Change], list[Operation]]:
        """What is emitted, and the operations that are kept."""
        known = self._operations(to_changes(stored), before, 0)
        new = self._operations(to_changes(arrived), before, len(known))
        emitted: list[Change] = []
        kept: list[Operation] = []
        for mine, fresh in _by_key(known, new).values():
            outcome = self._keyed(mine, fresh, before, after, kept)
            emitted += self._difference(outcome)
        return emitted, kept

    def _passed(self, area: SweepArea, before: InputFrontier, after: InputFrontier) -> Any:
        """Keys of operations that the horizon passes in this step: something settles."""
        first, last = _passing(self.declaration, before, after)
        if last <= first:
            return np.zeros(0, np.uint64)
        if len(after.settling) == 1 or not isinstance(self.declaration, StreamDeclaration):
            return area.turning(first, last)
        # Each time has a horizon of its own, and the first that passes a fact settles it.
        found = area.moved(first + 1, last)
        passed = np.zeros(len(found.hashes), np.bool_)
        for line in after.settling:
            place = self.declaration.schema.position(line.attribute)
            passed |= fixed(column(found.changes, place)) <= line.horizon
        return distinct(found.hashes[passed])

    def _keyed(
        self,
        known: list[Operation],
        new: list[Operation],
        before: InputFrontier,
        after: InputFrontier,
        kept: list[Operation],
    ) -> tuple[Outcome, Outcome]:
        """What has become of a key's operations before and after the step."""
        ledger = ledger_of(self.declaration, known)
        later = ledger.admit(new, before, after)
        kept += _needed(later, after)
        return ledger.outcome(before), later.outcome(after)

    def _difference(self, outcomes: tuple[Outcome, Outcome]) -> Iterable[Change]:
        old, new = outcomes
        nothing: Row = (None,) * _TEXTS
        for change in minus(new.changes, old.changes):
            yield replace(change, row=change.row + nothing)
        said = {row.arrival.offset: row for row in old.unused}
        says = {row.arrival.offset: row for row in new.unused}
        for offset in sorted(said.keys() | says.keys()):
            if said.get(offset) != says.get(offset):
                for row, diff in ((said.get(offset), -1), (says.get(offset), 1)):
                    if row is not None:
                        yield Change(self._unused(row), NEG_INF, INF, diff)

    def _unused(self, unused: Unused) -> Row:
        text = row_text(self.declaration.schema, unused.arrival.row)
        op = unused.arrival.op.value if unused.arrival.op else None
        said = UnusedRow(self.declaration.name, unused.reason.value, text, op)
        return (*(None,) * len(self.declaration.row_schema), *said.values)

    def _operations(
        self, changes: Sequence[Change], before: InputFrontier, first: int
    ) -> list[Operation]:
        width = len(self.declaration.schema)
        rows = sorted(changes, key=lambda change: (change.row[width + 1], str(change.row)))
        return [
            admitted(self.declaration, before, _arrival(change.row, width), first + i)
            for i, change in enumerate(row for row in rows for _ in range(row.diff))
        ]

    def _stored(self, operation: Operation, frontier: InputFrontier) -> Change:
        """An operation as a change that ends when the horizon passes it.

        A version that ends by itself is there from when it settles until then.
        """
        arrival = operation.arrival
        row = (*arrival.row, operation.op.value, arrival.offset, None)
        lines = zip(frontier.lines, operation.times, strict=True)
        times = [t for line, t in lines if line.settles and t is not None]
        settled = min(times, default=INF)
        if operation.op is Op.UPSERT and settled < INF and ends_by_itself(self.declaration):
            end = self.declaration.end_of(operation.at, operation.row)
            return Change(row, settled, max(end, settled + 1))
        return Change(row, NEG_INF, settled)

    def _opened(self, arrived: Batch, frontier: InputFrontier) -> Batch:
        """The same for operations as they arrived."""
        begins, ends = stored_times(self.declaration, arrived, frontier)
        return with_times(arrived, begins, ends, np.ones(len(ends), np.int64))


def split(changes: Any) -> tuple[Any, Any]:
    """What an admission emits: changes of rows, and rows that are unused."""
    mask = texts(changes)[UNUSED_COLUMNS.index("reason")].is_null()
    return changes.filter(mask), changes.filter(pa.compute.invert(mask))


def texts(changes: Any) -> list[Any]:
    """The columns of what is said about rows that are unused."""
    return [changes.column(i) for i in payload(changes)[-_TEXTS:]]


def _arrival(row: Row, width: int) -> Arrival:
    return Arrival(Op(row[width]), tuple(row[:width]), row[width + 1])


def _by_key(
    known: Iterable[Operation], new: Iterable[Operation]
) -> dict[Row, tuple[list[Operation], list[Operation]]]:
    found: dict[Row, tuple[list[Operation], list[Operation]]] = defaultdict(lambda: ([], []))
    for operation in known:
        found[operation.key][0].append(operation)
    for operation in new:
        found[operation.key][1].append(operation)
    return found


def _settles_by_key(declaration: Declaration, frontier: InputFrontier) -> bool:
    """Whether equal keys have equal times, of all times that settle a fact."""
    settling = {line.attribute for line in frontier.settling}
    return (
        isinstance(declaration, StreamDeclaration)
        and bool(settling)
        and settling <= set(declaration.key)
    )


def _are_among(some: Hashes, known: Hashes) -> Mask:
    """Which of some hashes are among others, which are sorted."""
    if not len(known):
        return np.zeros(len(some), np.bool_)
    places = np.minimum(np.searchsorted(known, some), len(known) - 1)
    among: Mask = known[places] == some
    return among


def _ends(
    declaration: Declaration, arrived: Batch, frontier: InputFrontier
) -> tuple[Instant, Instant]:
    """The first and the last instant until which operations are stored; without any, none."""
    _, ends = stored_times(declaration, arrived, frontier)
    return int(ends.min(initial=INF)), int(ends.max(initial=NEG_INF))


def _passing(
    declaration: Declaration, before: InputFrontier, after: InputFrontier
) -> tuple[Instant, Instant]:
    """Between which instants operations end that may settle in a step: of a stream, whose facts
    settle by any of their times, from the first horizon before it to the last one after it."""
    first = min((line.horizon for line in before.settling), default=NEG_INF)
    last = max if isinstance(declaration, StreamDeclaration) else min
    return first, last((line.horizon for line in after.settling), default=NEG_INF)


def _without_texts(changes: Batch, schema: Schema) -> Batch:
    """Changes of rows that are used, with all columns."""
    times = [changes.column(name) for name in (FROM, TO, DIFF)]
    nothing = [pa.nulls(changes.num_rows, pa.string())] * _TEXTS
    rows = [changes.column(i) for i in payload(changes)]
    return pa.Table.from_arrays([*rows, *nothing, *times], schema=schema)


def _needed(ledger: Ledger, after: InputFrontier) -> Iterable[Operation]:
    """The operations of a key that can still matter."""
    match ledger:
        case FactLedger():
            return ledger.open
        case SumLedger():
            line = after[ledger.declaration.time or ""]
            return ledger.needed(line) if line.progresses else ledger.operations
        case VersionLedger():
            return _prune(ledger, after)
        case _:
            assert_never(ledger)


def _prune(ledger: VersionLedger, after: InputFrontier) -> list[Operation]:
    """The operations of a key that can still matter: those above the horizon, and an upsert that
    stands for the version that is valid there."""
    time = ledger.declaration.time
    line = after[time] if time is not None else None
    if line is None or not line.progresses:
        return list(ledger.operations)
    if ledger.declaration.bag:
        standing = VersionLedger(
            ledger.declaration, tuple(o for o in ledger.operations if o.at <= line.horizon)
        ).standing(line)
        return [*standing, *(o for o in ledger.operations if o.at > line.horizon)]
    baked = _bake(ledger)
    passed = tuple(o for o in baked if o.at <= line.horizon)
    rest = [o for o in baked if o.at > line.horizon]
    versions = VersionLedger(ledger.declaration, passed).outcome(after).changes
    last = max(versions, key=lambda change: change.valid_from, default=None)
    if last is None or last.valid_to <= line.horizon:
        return rest
    begun = [o for o in passed if o.op is Op.UPSERT and o.at == last.valid_from]
    return [max(begun, key=lambda o: o.order), *rest] if begun else rest


def _bake(ledger: VersionLedger) -> list[Operation]:
    """The operations with what is bound already done, so that nothing needs to be remembered."""
    gone: set[int] = set()
    says: dict[int, Operation] = {}
    for binding in ledger.bound:
        gone.add(binding.correction.number)
        if binding.correction.op is Op.DELETE:
            gone.add(binding.upsert.number)
        else:
            says[binding.upsert.number] = binding.correction
    schema, time = ledger.declaration.schema, ledger.declaration.time
    baked = []
    for operation in ledger.operations:
        if operation.number in gone:
            continue
        told = says.get(operation.number)
        if told is not None and time is not None:
            row = list(told.row)
            row[schema.position(time)] = operation.at
            arrival = replace(operation.arrival, row=tuple(row))
            operation = replace(operation, arrival=arrival)
        baked.append(operation)
    return baked
