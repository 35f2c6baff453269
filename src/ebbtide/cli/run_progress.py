"""How far runs have come, from what their steps have committed.

Law: everything shown is in the manifests and the journal, so it is what a later process would find;
only rates are taken here, between two looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbtide.core.output_name import view_of
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.program.run import Run
from ebbtide.store.frontiers import restored
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.record import StepRecord

_RECENT = 30.0
"""Rates are those of so many seconds."""


@dataclass(slots=True)
class SourceProgress:
    """A source of a run: rows so far, and how far its time has come."""

    name: str
    rows: int = 0
    late: int = 0
    oldest: Instant = INF
    newest: Instant = NEG_INF
    progress: Instant = NEG_INF
    looks: list[tuple[float, int]] = field(default_factory=list)

    def look(self, seconds: float) -> None:
        """Notes how many rows there are at a reading of a clock that only rises."""
        self.looks = [(at, rows) for at, rows in self.looks if at > seconds - _RECENT]
        self.looks.append((seconds, self.rows))

    @property
    def rate(self) -> float | None:
        """Rows a second, of late; None before it can be known."""
        (first, before), (last, rows) = self.looks[0], self.looks[-1]
        return (rows - before) / (last - first) if last > first else None

    @property
    def share(self) -> float | None:
        """How much of the span of the data is behind progress."""
        if self.oldest >= self.newest or self.progress == NEG_INF:
            return None
        done = (min(self.progress, self.newest) - self.oldest) / (self.newest - self.oldest)
        return max(0.0, done)


@dataclass(slots=True)
class QueryProgress:
    """A run: its last step, and what its steps did together."""

    name: str
    sources: list[SourceProgress]
    version: int = -1
    now: Instant = NEG_INF
    emitted: int = 0
    refused: int = 0
    rows_stored: int = 0
    bytes_stored: int = 0
    seconds: float | None = None
    errors: int = 0

    @property
    def late(self) -> int:
        """Rows that came late and were accepted."""
        return sum(source.late for source in self.sources)


class Watch:
    """Looks at a run now and then."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.declarations = run.program.lowered.declarations
        sources = [SourceProgress(declaration.name) for declaration in self.declarations]
        self.seen = QueryProgress(run.name, sources)

    def look(self, seconds: float) -> bool:
        """Takes in the steps since the last look; whether there were any."""
        journal = Journal(self.run.root)
        before = self.seen.version
        for entry in journal.entries(max(before, History.read(self.run.root).dropped)):
            self._add(entry)
        if self.seen.version > before:
            manifest = journal.latest()
            for source, frontier in zip(
                self.seen.sources, restored(manifest, self.declarations), strict=True
            ):
                lines = frontier.progressing or frontier.lines
                if lines:
                    source.newest, source.progress = lines[0].newest, lines[0].progress
            self.seen.errors = sum(self.run.status.errors.values())
        for source in self.seen.sources:
            source.look(seconds)
        return self.seen.version > before

    def _add(self, record: StepRecord) -> None:
        seen = self.seen
        seen.version, seen.now, seen.seconds = record.version, record.now, record.seconds
        answers = (files for name, files in record.output.items() if view_of(name) == name)
        seen.emitted += sum(written.rows for files in answers for written in files)
        seen.refused += sum(written.rows for written in record.unused)
        seen.rows_stored = sum(counts.rows_stored for counts in record.operators.values())
        seen.bytes_stored = sum(counts.bytes_stored for counts in record.operators.values())
        for source in seen.sources:
            came = record.came[source.name]
            source.rows += came.rows
            source.late += came.late
            if came.oldest is not None:
                source.oldest = min(source.oldest, came.oldest)
