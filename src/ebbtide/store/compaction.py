"""Compacting a program's directory: many small files of steps become few of a good size.

Law: the answers before and after are the same, but for what is older than it has to be kept.  A
part has all rows of its steps, sorted by time; nothing of different steps is netted, so changes can
still be asked for by step.  Only what a view need not keep any longer is folded into its base: the
net changes of all steps up to one, as far as they hold at ``now`` of that step or later.

    steps   0 . . . . 100 . . . . 180 . . 195 196 197
            |-- base --|-- part --|-part-|  a file each
                       ^ from here on every step, and every instant from its ``now`` on

Each row is rewritten a number of times that grows with the logarithm of the steps: ``LOOSE`` steps
make a part, ``FAN_IN`` parts of one level one of the next, until they are ``LARGE``; a base is
written again once half as many rows as it has are to be folded in.  What is written is durable
before the index names it, and what the index no longer names is removed when the next index has
come: a crash at any point leaves the one index or the other, and files that the next start removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.time import INF, NEG_INF, Duration, Instant
from ebbtide.state.batch import DIFF, FROM, TO, net, where, with_times
from ebbtide.state.columns import ints
from ebbtide.state.files import remove
from ebbtide.store.archive import Archive
from ebbtide.store.history import STEP, History, HistoryPart, ViewHistory, with_step
from ebbtide.store.journal import Journal, JournalEntry
from ebbtide.store.record import StepRecord, WrittenFile

LOOSE = 16
"""So many steps have files of their own before they are compacted."""

FAN_IN = 8
"""So many parts of a level become one of the next."""

LARGE = 1 << 25
"""The bytes that parts to be merged may have together."""

_AS_IS = 99
"""The level of a part that is large enough for good."""

_SPAN = 4
"""A part covers no more than this fraction of the time that changes are kept for."""

Join = Callable[[Sequence[HistoryPart]], HistoryPart]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long a view keeps its changes, None for ever; whether each has a mark at its end."""

    keep_us: Duration | None = None
    marked: bool = False


def due(history: History) -> int:
    """The step after which there is something to compact again."""
    return history.upto + LOOSE + 1


def compact(root: str, views: Mapping[str, Keeping]) -> History:
    """Compacts the steps before the latest if there are enough of them; gives the index."""
    journal, history = Journal(root), History.read(root)
    latest = journal.latest()
    if latest is None or latest.version < due(history):
        return history
    entries = [e for e in journal.chain(history.upto) if e.record.version < latest.version]
    since = min((base.version for base in latest.bases), default=latest.version)
    after = _Compaction(root, history, entries, since).compacted(views)
    loose = {file for entry in entries for file in _files_of(entry.record)}
    gone = sorted({*history.files(), *loose} - set(after.files()))
    after = replace(after, replaced=tuple(gone))
    after.write(root)
    for file in history.replaced:
        remove(root, file)
    return after


def _files_of(record: StepRecord) -> Iterator[str]:
    yield Journal.file_of(record.version)
    yield from record.files()


@dataclass(frozen=True, slots=True)
class _Compaction:
    """One compaction: the index before it, and the entries that are to be compacted."""

    root: str
    before: History
    entries: Sequence[JournalEntry]
    since: int

    @property
    def records(self) -> list[StepRecord]:
        return [entry.record for entry in self.entries]

    def compacted(self, views: Mapping[str, Keeping]) -> History:
        """The index after it; all that it names is written.

        Views that the program has no more are kept for as long as others, and bound nothing.
        """
        bounds = [keeping.keep_us for keeping in views.values()]
        bounded = bool(bounds) and None not in bounds
        longest = max((bound for bound in bounds if bound is not None), default=0)
        gone = Keeping(longest if bounded else None)
        said = (name for record in self.records for name in record.output)
        names = list(dict.fromkeys((*self.before.views, *said, *views)))
        kept = {name: self._view(name, views.get(name, gone)) for name in names}
        journal = Journal(self.root)
        steps = (*self.before.steps, journal.write_part(self.entries, 1))
        dropped, fed, clock = self.before.dropped, self.before.fed, self.before.clock
        reach = _Reach()
        if bounded:
            reach = _Reach(_horizon(self.entries[-1].record.now, longest), longest)
            floor = min(_floor(kept[name], self.last) for name in views)
            passed = [p for p in steps if p.last <= floor and p.until <= reach.horizon]
            steps = steps[len(passed) :]
            if passed:
                last = journal.read_part(passed[-1])[-1].record
                dropped, fed, clock = last.version, last.positions, last.clock
        return History(
            upto=self.last,
            link=self.entries[-1].link,
            views=kept,
            unused=self._unused(),
            steps=_merged(steps, self._join_steps, reach),
            dropped=dropped,
            fed=dict(fed),
            clock=clock,
        )

    @property
    def last(self) -> int:
        """The last step that is compacted."""
        return self.entries[-1].record.version

    # --- views --------------------------------------------------------------------------------

    def _view(self, name: str, keeping: Keeping) -> ViewHistory:
        known = replace(self.before.view(name), keep_us=keeping.keep_us)
        nows = {record.version: record.nows.get(name, record.now) for record in self.records}
        unkept = [r.version for r in self.records if name in r.output and not r.kept]
        files = [
            (written, record.version)
            for record in self.records
            if record.kept
            for written in record.output.get(name, ())
        ]
        parts = (*known.parts, *self._loose(f"output/{name}", files, nows))
        reach = _Reach()
        if keeping.keep_us is not None:
            reach = _Reach(_horizon(nows[self.last], keeping.keep_us), keeping.keep_us)
        parts = _merged(parts, self._joining(f"output/{name}"), reach)
        found = replace(known, parts=parts, unkept=max((known.unkept, *unkept)))
        return self._folded(name, found, reach, keeping.marked)

    def _folded(self, name: str, view: ViewHistory, reach: _Reach, marked: bool) -> ViewHistory:
        """The view with what has passed the horizon in its base, if that is worth it."""
        if reach.horizon == NEG_INF:
            return view
        needed = min(
            (p.first for p in view.parts if p.until > reach.horizon), default=self.last + 1
        )
        # Replays compare with what was said since the version that they begin from.
        needed = min(needed, self.since + 1)
        passed = [part for part in view.parts if part.last < needed]
        rows = sum(part.rows for part in passed)
        if not passed or 2 * rows < (0 if view.base is None else view.base.rows):
            return view
        step, moment = (max(p.last for p in passed), max(p.until for p in passed))
        tables = [self._table(part) for part in (view.base, *passed) if part is not None]
        base = _base(tables, moment, marked)
        written = self._write(f"output/{name}", base, step, step, _AS_IS)
        parts = tuple(part for part in view.parts if part not in passed)
        return replace(view, parts=parts, base=replace(written, since=moment, until=moment))

    # --- files --------------------------------------------------------------------------------

    def _unused(self) -> tuple[HistoryPart, ...]:
        nows = {record.version: record.now for record in self.records}
        files = [(written, record.version) for record in self.records for written in record.unused]
        parts = (*self.before.unused, *self._loose("unused", files, nows))
        return _merged(parts, self._joining("unused"), _Reach())

    def _loose(
        self, kind: str, files: Iterable[tuple[WrittenFile, int]], nows: Mapping[int, Instant]
    ) -> Iterator[HistoryPart]:
        """Files of single steps as parts: small ones together, large ones as they are."""
        archive, waiting, size = Archive(self.root), [], 0
        join = self._joining(kind)
        for written, step in files:
            if written.file is None:
                continue
            count = archive.size(written.file)
            now = nows[step]
            part = HistoryPart(
                written.file, step, step, 0, written.rows, count, since=now, until=now
            )
            if FAN_IN * count >= LARGE:
                yield replace(part, level=_AS_IS)
                continue
            waiting.append(part)
            size += count
            if size >= LARGE:
                yield replace(join(waiting), level=_AS_IS)
                waiting, size = [], 0
        if waiting:
            yield join(waiting)

    def _joining(self, kind: str) -> Join:
        def join(parts: Sequence[HistoryPart]) -> HistoryPart:
            tables = [with_step(self._table(part), part) for part in parts]
            table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
            first, last = min(p.first for p in parts), max(p.last for p in parts)
            times = [(name, "ascending") for name in (FROM, TO) if name in table.column_names]
            table = table.sort_by([*times, (STEP, "ascending")])
            written = self._write(kind, table, first, last, 1 + max(p.level for p in parts))
            since, until = min(p.since for p in parts), max(p.until for p in parts)
            return replace(written, since=since, until=until)

        return join

    def _join_steps(self, parts: Sequence[HistoryPart]) -> HistoryPart:
        journal = Journal(self.root)
        entries = [entry for part in parts for entry in journal.read_part(part)]
        return journal.write_part(entries, parts[0].level + 1)

    def _write(self, kind: str, table: Any, first: int, last: int, level: int) -> HistoryPart:
        file = Archive(self.root).write(kind, first, last, table)
        begins, ends = NEG_INF, INF
        if FROM in table.column_names:
            begins = pc.min(table.column(FROM)).as_py() if table.num_rows else INF
            ends = pc.max(table.column(TO)).as_py() if table.num_rows else NEG_INF
        size = Archive(self.root).size(file)
        return HistoryPart(file, first, last, level, table.num_rows, size, begins, ends)

    def _table(self, part: HistoryPart) -> Any:
        return Archive(self.root).table(part.file)


@dataclass(frozen=True, slots=True)
class _Reach:
    """What parts may be merged: without a bound all, else those that are past the horizon, or that
    together cover but a fraction of the time that is kept."""

    horizon: Instant = NEG_INF
    keep_us: Duration | None = None

    def allows(self, parts: Sequence[HistoryPart]) -> bool:
        until = max(part.until for part in parts)
        if self.keep_us is None or until <= self.horizon:
            return True
        return until - min(part.since for part in parts) <= self.keep_us // _SPAN


def _merged(parts: Sequence[HistoryPart], join: Join, reach: _Reach) -> tuple[HistoryPart, ...]:
    """Parts, as few as it takes: where enough of a level lie side by side, they become one."""
    found = sorted(parts, key=lambda part: (part.first, part.last))
    while group := _group(found, reach):
        place = found.index(group[0])
        found = [part for part in found if part not in group]
        found.insert(place, join(group))
    return tuple(found)


def _group(parts: Sequence[HistoryPart], reach: _Reach) -> list[HistoryPart]:
    """Neighbours that are to become one; none if all is well."""
    small = [part for part in parts if part.level < _AS_IS]
    for start in range(len(small) - FAN_IN + 1):
        group = small[start : start + FAN_IN]
        same = len({part.level for part in group}) == 1
        if same and sum(part.bytes for part in group) < LARGE and reach.allows(group):
            return group
    return []


def _base(tables: Sequence[Any], moment: Instant, marked: bool) -> Any:
    """The net of changes, as far as they hold at an instant or later; a fact stays one."""
    plain = [
        table.drop_columns([STEP]) if STEP in table.column_names else table for table in tables
    ]
    table = pa.concat_tables(plain, promote_options="permissive").combine_chunks()
    table = where(table, ints(table, TO) > moment)
    if marked:
        place = table.column_names.index(FROM) - 1
        marks = pa.array(np.zeros(table.num_rows, np.bool_))
        table = table.set_column(place, table.schema.field(place), marks)
    starts = ints(table, FROM)
    starts = np.where(starts > NEG_INF, np.maximum(starts, moment), starts)
    return net(with_times(table, starts, ints(table, TO), ints(table, DIFF))).sort_by(
        [(FROM, "ascending"), (TO, "ascending")]
    )


def _horizon(now: Instant, keep_us: Duration) -> Instant:
    return now - keep_us if NEG_INF < now < INF and now - keep_us > NEG_INF else NEG_INF


def _floor(view: ViewHistory, last: int) -> int:
    """The step up to which nobody asks for single steps of a view."""
    if view.base is None and not view.parts:
        return last
    return view.floor
