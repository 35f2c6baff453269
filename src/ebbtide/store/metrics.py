"""What a step did: rows, bytes and seconds, by operator and by source.

Law: rows and bytes are functions of the step's input, the same when it is repeated; seconds are
those of the try that was committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.core.time import Instant
from ebbtide.store.record import OperatorCounts, SourceCounts, StepRecord


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """A step: ``seconds`` are those of the clock on the wall, until it was committed."""

    step: int
    now: Instant
    seconds: float
    operators: Mapping[str, OperatorCounts]
    sources: Mapping[str, SourceCounts]


def metrics_of(record: StepRecord) -> StepMetrics:
    """The metrics in the record of a step."""
    return StepMetrics(record.version, record.now, record.seconds, record.operators, record.sources)
