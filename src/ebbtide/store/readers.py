"""What a program has left in its directory, read without Spark.

Law: the answers are those of ``spark.answers``, as DataFrames there: ``changes`` are all
changes of the steps that were kept, ``snapshot`` at an instant is their sum there (from ``now`` on
it is read from what keeps the answer, and costs what the answer is large), ``unused`` are
the rows that counted for nothing, net of what was taken back.  Reading takes no lock: what a step
has committed is there, and nothing else is looked at.  A file is read once, verified, and parsed
from memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.admission import UNUSED_COLUMNS, UnusedRow
from ebbtide.core.change import Change
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError, StateError
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, concat, net, to_changes, with_times
from ebbtide.state.columns import ints
from ebbtide.state.layout import by_rows
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.archive import Archive, damaged_output
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.record import StepRecord

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

    def records(self, since: int | None = None, upto: int | None = None) -> list[StepRecord]:
        """The steps after ``since``, up to another; their output must be in the archive."""
        records = [
            record
            for record in Journal(self.root).entries(-1 if since is None else since)
            if self.name in record.output and (upto is None or record.version <= upto)
        ]
        for record in records:
            if not record.kept:
                raise QueryError(
                    "no-archive",
                    f"the output of step {record.version} was not kept",
                    hint="start the query with archive=True, under another name",
                )
        return records

    def files(self, record: StepRecord) -> list[str]:
        """The files of a step's output, below the root."""
        return [written.file for written in record.output[self.name] if written.file is not None]

    def now(self, records: list[StepRecord]) -> Instant:
        """``now`` after the last of the steps."""
        return max((record.nows[self.name] for record in records), default=NEG_INF)

    def changes(self, since: int | None = None) -> Iterator[tuple[int, Change]]:
        """The changes of all steps after ``since``, each with its step, in the order of time."""
        return ((step, change) for step, change, _ in self.marked_changes(since))

    def marked_changes(self, since: int | None = None) -> Iterator[tuple[int, Change, bool]]:
        """The same, each with its mark: whether it is a revision."""
        width = len(self.schema)
        for record in self.records(since):
            for change in sorted(to_changes(self.table(record)), key=_time_order):
                row, marks = change.row[:width], change.row[width:]
                yield record.version, replace(change, row=row), marks == (True,)

    def table(self, record: StepRecord) -> Any:
        """The changes of one step as a batch, with their marks at the end of the rows."""
        return concat(map(self._read, self.files(record)), self.layout)

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
        records = self.records(upto=step)
        moment = self.now(records) if at is None else at
        valid = [(FROM, "<=", moment), (TO, ">", moment)]
        files = [file for record in records for file in self.files(record)]
        marked = concat((self._read(file, valid) for file in files), self.layout)
        return marked.select([*range(len(self.schema)), FROM, TO, DIFF])

    def snapshot(self, at: Instant | None = None, step: int | None = None) -> list[Row]:
        """The rows that are valid at an instant, or now, in order; equal ones as often as they are.

        With a ``step`` they are those that were said after it.
        """
        live = self.live(at, step)
        table = self._said(at, step) if live is None else live
        start, end = (np.full(table.num_rows, t, np.int64) for t in (NEG_INF, INF))
        netted = net(with_times(table, start, end, ints(table, DIFF)))
        counts = ints(netted, DIFF)
        copies = int(counts[counts > 0].sum(dtype=np.float64))
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

    @property
    def layout(self) -> Any:
        """The schema of its changes as batches: the row, and the mark if there is one."""
        types = [arrow_type(column.type) for column in self.schema]
        return batch_schema([*types, pa.bool_()] if self.marked else types)

    def _read(self, file: str, filters: Any = None) -> Any:
        return _table(self.root, file, filters).cast(self.layout)


def unused(root: str, source: str) -> list[tuple[UnusedRow, int]]:
    """The rows of a source that were not used, each with its step, in the order of the steps."""
    counts: Counter[UnusedRow] = Counter()
    steps: dict[UnusedRow, int] = {}
    for record in Journal(root).entries():
        for written in record.unused:
            for told in _table(root, str(written.file)).to_pylist():
                if told["source"].casefold() == source.casefold():
                    row = UnusedRow(*(told.get(name) for name in UNUSED_COLUMNS))
                    counts[row] += told["diff"]
                    steps[row] = record.version
    rows = [(row, steps[row]) for row, count in counts.items() for _ in range(count)]
    return sorted(rows, key=lambda found: (found[1], found[0].reason, found[0].row))


def _table(root: str, file: str, filters: Any = None) -> Any:
    content = Archive(root).content(file)
    try:
        source = pa.BufferReader(content)
        if filters is None:
            return pq.ParquetFile(source).read()
        return pq.read_table(source, filters=filters, partitioning=None)
    except (OSError, pa.ArrowInvalid) as error:
        raise damaged_output(root, file, str(error).splitlines()[0]) from error


def _time_order(change: Change) -> tuple[Any, ...]:
    return change.valid_from, change.valid_to, change.diff, row_key(change.row)


def progress(root: str, view: str) -> tuple[Instant, Instant | None]:
    """``now`` of a view, and the progress of the slowest source of its program that has any."""
    latest = Journal(root).latest()
    if latest is None:
        return NEG_INF, None
    lines = [line for source in latest.frontiers.values() for line in source["lines"].values()]
    reached = [reached for reached, _ in lines if reached > NEG_INF]
    return latest.record.nows.get(view, NEG_INF), min(reached, default=None)
