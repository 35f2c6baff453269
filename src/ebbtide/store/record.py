"""What a step took in and gave out: one typed record, the same in its manifest and in the journal.

Law: ``from_json(to_json(record)) == record``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from ebbtide.core.time import INF, NEG_INF, Instant


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of the archive below the program's directory, and the rows in it.

    A file of None stands for rows that were counted, and written nowhere.
    """

    file: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class Came:
    """How many rows of a source a step accepted, how many of them late, and their first time."""

    rows: int = 0
    late: int = 0
    oldest: Instant | None = None

    def __add__(self, other: Came) -> Came:
        times = [t for t in (self.oldest, other.oldest) if t is not None]
        return Came(self.rows + other.rows, self.late + other.late, min(times) if times else None)


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """An operator in a step, over all shards.

    ``rows_in`` and ``rows_out`` are net changes; ``rows_stored`` and ``bytes_stored`` are what its
    state is after the step; ``rows_expired`` are stored changes that were dropped because their
    time was over; ``seconds`` are those of all shards, ``seconds_max`` those of the slowest.
    ``negatives_in`` and ``negatives_out`` are those of the rows that take something back.
    """

    rows_in: int
    rows_out: int
    rows_stored: int
    rows_expired: int
    bytes_stored: int
    bytes_written: int
    seconds: float = 0.0
    seconds_max: float = 0.0
    negatives_in: int = 0
    negatives_out: int = 0


@dataclass(frozen=True, slots=True)
class Delay:
    """How late the changes of a view appeared: from their beginning to ``now`` of their step.

    ``effects`` are the changes that have a beginning, ``total_us`` is the sum of their delays.
    """

    effects: int = 0
    total_us: int = 0
    longest_us: int = 0

    @property
    def mean_us(self) -> float:
        """The average delay."""
        return self.total_us / self.effects if self.effects else 0.0

    def with_more(self, other: Delay) -> Delay:
        """The delays of two sets of changes."""
        longest = max(self.longest_us, other.longest_us)
        return Delay(self.effects + other.effects, self.total_us + other.total_us, longest)


@dataclass(frozen=True, slots=True)
class ReplayCounts:
    """The replay of a view in a step: its way, the archived rows that were looked at for it and,
    where it is minimal, what was said; and the rows that ran again."""

    way: str
    rows_read: int
    rows_replayed: int


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """A source in a step: rows that passed its frontier, how many of them late, and those that
    were not used, by their reasons; a row that is taken back from these counts as -1."""

    rows_in: int
    rows_late: int
    unused: Mapping[str, int]

    @property
    def rows_unused(self) -> int:
        """How many rows were not used, for whatever reason."""
        return sum(self.unused.values())


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of a program.

    ``nows`` has ``now`` of each view, ``output`` the files of each; ``kept`` says whether they stay
    in the archive.  ``positions`` are those of the hand-fed logs that the step has read up to, and
    ``places`` the last places of the rows of keyed sources.  ``clock`` is the latest reading of the
    clock, of this step and all before it; None where none was ever taken.  ``delays`` has how late
    the changes of each view are, and ``replays`` what was replayed of each.  A step that
    ``evolved`` the program has made it one of other queries or sources.
    """

    version: int
    nows: Mapping[str, Instant] = field(default_factory=dict)
    output: Mapping[str, tuple[WrittenFile, ...]] = field(default_factory=dict)
    unused: tuple[WrittenFile, ...] = ()
    kept: bool = True
    positions: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    came: Mapping[str, Came] = field(default_factory=dict)
    operators: Mapping[str, OperatorCounts] = field(default_factory=dict)
    sources: Mapping[str, SourceCounts] = field(default_factory=dict)
    seconds: float = 0.0
    clock: Instant | None = None
    delays: Mapping[str, Delay] = field(default_factory=dict)
    replays: Mapping[str, ReplayCounts] = field(default_factory=dict)
    evolved: bool = False

    @property
    def now(self) -> Instant:
        """The latest ``now`` of all views."""
        return max(self.nows.values(), default=NEG_INF)

    @property
    def accepted(self) -> int:
        """How many rows the step accepted."""
        return sum(came.rows for came in self.came.values())

    @property
    def oldest(self) -> Instant:
        """The time of the oldest row that the step accepted; ``inf`` if there is none."""
        times = (NEG_INF if c.oldest is None else c.oldest for c in self.came.values() if c.rows)
        return min(times, default=INF)

    def later(self, reading: Instant | None) -> Instant | None:
        """The latest reading of the clock, if another one follows those up to this step."""
        known = [t for t in (self.clock, reading) if t is not None]
        return max(known, default=None)

    def files(self) -> Iterator[str]:
        """The files of the archive that the step has written."""
        for written in (*(w for files in self.output.values() for w in files), *self.unused):
            if written.file is not None:
                yield written.file

    def to_json(self) -> dict[str, Any]:
        """The record as JSON has it."""
        told: dict[str, Any] = _plain(self)
        if not self.evolved:
            # What came later and says nothing is left out: checksums are those of before.
            del told["evolved"]
        return told

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> StepRecord:
        """The record that ``to_json`` gave."""
        known = dict(values)
        known["output"] = {view: _written(files) for view, files in known["output"].items()}
        known["unused"] = _written(known["unused"])
        known["came"] = {name: Came(**came) for name, came in known["came"].items()}
        known["operators"] = {n: OperatorCounts(**c) for n, c in known["operators"].items()}
        known["sources"] = {n: SourceCounts(**c) for n, c in known["sources"].items()}
        known["delays"] = {n: Delay(**d) for n, d in known.get("delays", {}).items()}
        known["replays"] = {n: ReplayCounts(**c) for n, c in known.get("replays", {}).items()}
        return StepRecord(**known)


def _written(files: Any) -> tuple[WrittenFile, ...]:
    return tuple(WrittenFile(**file) for file in files)


def _plain(value: Any) -> Any:
    """A value of a record as JSON has it; numbers and texts are shared and not copied."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value
