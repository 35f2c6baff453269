"""What a step did: rows, bytes and seconds, by operator and by source.

Law: rows and bytes are functions of the step's input, the same when it is repeated; seconds are
those of the try that was committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.core.time import Instant
from ebbtide.runtime.journal import Entry


@dataclass(frozen=True, slots=True)
class OperatorMetrics:
    """An operator in a step, over all shards.

    ``rows_in`` and ``rows_out`` are net changes; ``rows_stored`` and ``bytes_stored`` are what its
    state is after the step; ``rows_expired`` are stored changes that were dropped because their
    time was over; ``seconds`` are those of all shards, ``seconds_max`` those of the slowest.
    """

    rows_in: int
    rows_out: int
    rows_stored: int
    rows_expired: int
    bytes_stored: int
    bytes_written: int
    seconds: float
    seconds_max: float


@dataclass(frozen=True, slots=True)
class SourceMetrics:
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
class StepMetrics:
    """A step: ``seconds`` are those of the clock on the wall, until it was committed."""

    step: int
    now: Instant
    seconds: float
    operators: Mapping[str, OperatorMetrics]
    sources: Mapping[str, SourceMetrics]


def metrics_of(entry: Entry) -> StepMetrics:
    """The metrics in the entry of a step."""
    return StepMetrics(
        entry.version,
        entry.now,
        entry.seconds,
        {name: OperatorMetrics(**counts) for name, counts in entry.metrics.items()},
        {name: SourceMetrics(**counts) for name, counts in entry.sources.items()},
    )
