"""What a program has left in its directory, read without Spark.

Law: the answers are those of ``spark.answers``, as DataFrames there: ``changes`` are all
changes of the steps that were kept, over their base, ``snapshot`` at an instant is their sum there
(from ``now`` on it is read from what keeps the answer, and costs what the answer is large),
``unused`` are the rows that counted for nothing, net of what was taken back.  Reading takes no
lock: what a step has committed is there, and nothing else is looked at; what was compacted since
it was looked up is looked up again.  A file is read once, verified, and parsed from memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ebbtide.core.admission import UNUSED_COLUMNS, UnusedRow
from ebbtide.core.change import Change, consolidate
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant, format_instant
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError, StateError
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import differs
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    concat,
    net,
    to_changes,
    where,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.layout import by_rows
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.archive import Archive
from ebbtide.store.history import STEP, History, HistoryPart, with_step
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.record import StepRecord

T = TypeVar("T")

_MOVED = ("missing-output", "not-kept")
"""What errors say of files and steps that are elsewhere, or gone, since they were named."""

OUTPUT = "output."
"""What the name of whatever emits the rows of a view begins with."""

LIVE = "answer@"
"""What the name of whatever keeps the answer of a view begins with."""

MOST_COPIES = 1 << 26
"""An answer of more rows than this is too large for a list."""


def live_name(output: str) -> str:
    """The name of what keeps the answer as it is now, beside what emits its rows; that of no
    operator begins like it."""
    return f"{LIVE}{output.removeprefix(OUTPUT)}"


@dataclass(frozen=True, slots=True)
class View:
    """A view of a program: the program's directory, its name there, and its columns.

    The changes of one that asks for finality are ``marked``: each says whether it is a revision.
    """

    root: str
    name: str
    schema: Schema
    marked: bool = False

    def parts(self, since: int | None = None, upto: int | None = None) -> list[HistoryPart]:
        """The files with the changes of the steps after ``since``, up to another.

        Without ``since`` that is all that is kept: the base, whose changes are those of its step,
        and every step after it.
        """
        history = History.read(self.root)
        mine = history.view(self.name)
        base, after = mine.base, -1 if since is None else since
        last = INF if upto is None else upto
        if base is not None and (last < base.last or (since is not None and since < base.last)):
            raise not_kept(self.name, base)
        if after < mine.unkept <= last:
            raise self._no_archive(mine.unkept)
        found = [] if base is None or since is not None else [base]
        found += [part for part in mine.parts if part.last > after and part.first <= last]
        for record in Journal(self.root).entries(max(after, history.upto)):
            if record.version <= last and self.name in record.output:
                if not record.kept:
                    raise self._no_archive(record.version)
                found += self.parts_of(record)
        return found

    def parts_of(self, record: StepRecord) -> list[HistoryPart]:
        """The files that a step has written, as long as it has files of its own."""
        step = record.version
        written = [w for w in record.output[self.name] if w.file is not None]
        return [HistoryPart(str(w.file), step, step, rows=w.rows) for w in written]

    def _no_archive(self, step: int) -> QueryError:
        return QueryError(
            "no-archive",
            f"the output of step {step} was not kept",
            hint="start the query with archive=True, under another name",
        )

    @property
    def last(self) -> int:
        """The last step; -1 before the first."""
        latest = Journal(self.root).latest()
        return -1 if latest is None else latest.version

    def now(self, step: int | None = None) -> Instant:
        """``now`` after a step, or after the last."""
        latest = Journal(self.root).latest()
        if latest is None or (step is not None and step < 0):
            return NEG_INF
        if step is None or step >= latest.version:
            return latest.record.nows.get(self.name, NEG_INF)
        base = History.read(self.root).view(self.name).base
        if base is not None and base.last == step:
            return base.until
        return next(Journal(self.root).entries(step - 1)).nows.get(self.name, NEG_INF)

    def moment(self, at: Instant | None, step: int | None = None) -> Instant:
        """The instant that is asked for, or ``now``; in the place of the end of time, which is
        none, the last one before it."""
        return min(self.now(step) if at is None else at, INF - 1)

    def check_kept(self, at: Instant | None) -> None:
        """Refuses an instant from which on answers are not kept any more."""
        base = History.read(self.root).view(self.name).base
        if base is not None and at is not None and at < base.until:
            raise not_kept(self.name, base)

    def changes(self, since: int | None = None) -> Iterator[tuple[int, Change]]:
        """The changes of all steps after ``since``, each with its step, in the order of time."""
        return ((step, change) for step, change, _ in self.marked_changes(since))

    def marked_changes(self, since: int | None = None) -> Iterator[tuple[int, Change, bool]]:
        """The same, each with its mark: whether it is a revision."""
        width = len(self.schema)
        for step, table in self.steps(since):
            for change in sorted(to_changes(table), key=_time_order):
                row, marks = change.row[:width], change.row[width:]
                yield step, replace(change, row=row), marks == (True,)

    def steps(self, since: int | None = None) -> list[tuple[int, Any]]:
        """The changes of each step after ``since`` that has any, as batches with their marks."""

        def read() -> Any:
            parts = self.parts(since)
            return concat((self._read(part, since) for part in parts), self._stepped)

        table = settled(self.root, read)
        order = np.argsort(ints(table, STEP), kind="stable")
        table = table.take(pa.array(order))
        steps = ints(table, STEP)
        plain = table.drop_columns([STEP])
        starts = np.flatnonzero(differs([steps])).tolist() if len(steps) else []
        return [
            (int(steps[start]), plain.slice(start, end - start))
            for start, end in pairwise([*starts, len(steps)])
        ]

    def between(self, first: int, last: int) -> Any:
        """The changes of the steps after one, up to another, as a batch with their marks."""
        parts = self.parts(first, last)
        table = concat((self._read(part, first, last) for part in parts), self._stepped)
        return table.drop_columns([STEP])

    def table(self, record: StepRecord) -> Any:
        """The changes of one step as a batch, with their marks at the end of the rows."""

        def read() -> Any:
            step = record.version
            if step > History.read(self.root).upto:
                return concat(map(self._read, self.parts_of(record)), self._stepped)
            parts = self.parts(step - 1, step)
            return concat((self._read(p, step - 1, step) for p in parts), self._stepped)

        return settled(self.root, read).drop_columns([STEP])

    def emitted(self, record: StepRecord) -> tuple[Change, ...]:
        """The changes of one step, without their marks."""
        width = len(self.schema)
        changes = to_changes(self.table(record))
        return tuple(replace(change, row=change.row[:width]) for change in changes)

    def live(self, at: Instant | None = None, step: int | None = None) -> Any | None:
        """The changes that an answer from ``now`` on sums up from, however long its history is.

        None if an instant before ``now`` or an earlier step is asked for, or if the answer was not
        kept from the first step on.
        """
        while True:
            latest = Journal(self.root).latest()
            if latest is None or step not in (None, latest.version):
                return None
            now = latest.record.nows.get(self.name, INF)
            moment = now if at is None else at
            shards = [shard for name in self._live_names(latest) for shard in latest.areas[name]]
            if not shards or not now <= moment < INF:
                return None
            try:
                return self._valid([area for (area,) in shards], moment)
            except StateError as error:
                after = Journal(self.root).latest()
                # Two steps that came meanwhile may have removed what this one had.
                if error.code != "missing-segment" or after is None or after == latest:
                    raise

    def _live_names(self, manifest: Manifest) -> list[str]:
        mine = live_name(f"{OUTPUT}{self.name}")
        others = {live_name(f"{OUTPUT}{name}") for name in manifest.record.output} - {mine}
        stage = re.compile(rf"{re.escape(mine)}(\.\d+)?")
        return [name for name in manifest.areas if stage.fullmatch(name) and name not in others]

    def _valid(self, described: list[Any], moment: Instant) -> Any:
        types = [arrow_type(column.type) for column in self.schema]
        layout = by_rows("live", batch_schema(types))
        store = DirectoryStore(f"{self.root}/state")
        areas = [SweepArea.restore(layout, d, WriteScope(store)) for d in described]
        try:
            return concat((area.query(None, moment, moment + 1) for area in areas), layout.schema)
        finally:
            # Whoever reads once should not hold on to files that steps will remove.
            for segment in (segment for area in areas for segment in area.segments):
                store.forget(segment.name)

    def _said(self, at: Instant | None, step: int | None) -> Any:
        """The changes of all steps that are valid at an instant."""
        moment = self.moment(at, step)
        self.check_kept(moment)

        def read() -> Any:
            parts = [p for p in self.parts(upto=step) if p.holds(moment)]
            return concat((self._read(p, None, step, moment) for p in parts), self._stepped)

        marked = settled(self.root, read)
        return marked.select([*range(len(self.schema)), FROM, TO, DIFF])

    def snapshot(self, at: Instant | None = None, step: int | None = None) -> list[Row]:
        """The rows that are valid at an instant, or now, in order; equal ones as often as they are.

        With a ``step`` they are those that were said after it.
        """
        netted = self.netted(at, step)
        copies = int(ints(netted, DIFF).sum(dtype=np.float64))
        if copies > MOST_COPIES:
            raise QueryError(
                "too-many-rows",
                f'the answer of "{self.name}" has about {copies:,} rows, equal ones counted',
                detail=f"at most {MOST_COPIES:,} are shown",
                hint="SELECT DISTINCT, or count equal rows with GROUP BY",
            )
        found = ((change.row, change.diff) for change in to_changes(netted))
        rows = [row for row, count in found for _ in range(count)]
        return sorted(rows, key=row_key)

    def netted(self, at: Instant | None = None, step: int | None = None) -> Any:
        """The same rows as a batch, each once, with how often it is there as its diff."""
        live = self.live(at, step)
        table = self._said(at, step) if live is None else live
        start, end = (np.full(table.num_rows, t, np.int64) for t in (NEG_INF, INF))
        netted = net(with_times(table, start, end, ints(table, DIFF)))
        return where(netted, ints(netted, DIFF) > 0)

    def standing(self, step: int) -> tuple[Change, ...]:
        """What is valid at ``now`` after a step, net, until it ends as far as that is known."""
        live = self.live(None, step)
        table = self._said(None, step) if live is None else live
        begun = (replace(change, valid_from=NEG_INF) for change in to_changes(table))
        return consolidate(begun)

    def count(self) -> int:
        """How many rows are valid now."""
        live = self.live()
        return len(self.snapshot()) if live is None else int(ints(live, DIFF).sum())

    def valid(self, at: Instant | None = None, step: int | None = None) -> list[Change]:
        """The same rows, each once with the interval over which it is there and how often."""
        moment = self.now(step) if at is None else at
        self.check_kept(moment)
        said = (change for of, change in self.changes() if step is None or of <= step)
        there = (c for c in consolidate(said) if c.valid_from <= moment < c.valid_to)
        return sorted(there, key=lambda change: (row_key(change.row), change.valid_from))

    @property
    def layout(self) -> Any:
        """The schema of its changes as batches: the row, and the mark if there is one."""
        types = [arrow_type(column.type) for column in self.schema]
        return batch_schema([*types, pa.bool_()] if self.marked else types)

    @property
    def _stepped(self) -> Any:
        return self.layout.append(pa.field(STEP, pa.int64()))

    def _read(
        self,
        part: HistoryPart,
        since: int | None = None,
        upto: int | None = None,
        moment: Instant | None = None,
    ) -> Any:
        """The changes of a part, each with its step: of some steps, and valid at an instant."""
        valid = None if moment is None else [(FROM, "<=", moment), (TO, ">", moment)]
        table = with_step(Archive(self.root).table(part.file, valid), part).cast(self._stepped)
        steps = ints(table, STEP)
        lower = NEG_INF if since is None or part.first > since else since
        upper = INF if upto is None or part.last <= upto else upto
        if lower == NEG_INF and upper == INF:
            return table
        return where(table, (steps > lower) & (steps <= upper))


def settled(root: str, read: Callable[[], T]) -> T:
    """What is read of a program's directory, again if files were compacted meanwhile."""
    while True:
        history = History.read(root)
        try:
            return read()
        except StateError as error:
            if error.code not in _MOVED or History.read(root) == history:
                raise


def unused_parts(root: str) -> list[HistoryPart]:
    """The files with the rows that were not used."""
    history = History.read(root)
    loose = [
        HistoryPart(str(written.file), record.version, record.version, rows=written.rows)
        for record in Journal(root).entries(history.upto)
        for written in record.unused
    ]
    return [*history.unused, *loose]


def unused(root: str, source: str) -> list[tuple[UnusedRow, int]]:
    """The rows of a source that were not used, each with its step, in the order of the steps."""
    archive = Archive(root)
    tables = settled(
        root, lambda: [with_step(archive.table(part.file), part) for part in unused_parts(root)]
    )
    counts: Counter[UnusedRow] = Counter()
    steps: dict[UnusedRow, int] = {}
    for told in (told for table in tables for told in table.to_pylist()):
        if told["source"].casefold() == source.casefold():
            row = UnusedRow(*(told.get(name) for name in UNUSED_COLUMNS))
            counts[row] += told["diff"]
            steps[row] = max(steps.get(row, -1), told[STEP])
    rows = [(row, steps[row]) for row, count in counts.items() for _ in range(count)]
    return sorted(rows, key=lambda found: (found[1], found[0].reason, found[0].row))


def not_kept(view: str, base: HistoryPart) -> StateError:
    """The error of an instant or a step before those from which on answers are kept."""
    return StateError(
        "not-kept",
        f'"{view}" keeps its changes after step {base.last}, '
        f"and its answers from {format_instant(base.until)} on",
        detail="KEEP CHANGES bounds what is kept; what is older was summed up",
        hint=f"changes(since={base.last}), or a later instant",
    )


def _time_order(change: Change) -> tuple[Any, ...]:
    return change.valid_from, change.valid_to, change.diff, row_key(change.row)


def progress(root: str, view: str) -> tuple[Instant, Instant | None]:
    """``now`` of a view, and the progress of the slowest source of its program that has any."""
    latest = Journal(root).latest()
    if latest is None:
        return NEG_INF, None
    lines = [line for source in latest.frontiers.values() for line in source["lines"].values()]
    reached = [line[0] for line in lines if line[0] > NEG_INF]
    return latest.record.nows.get(view, NEG_INF), min(reached, default=None)
