"""What a step did: rows, bytes and seconds, by operator and by source.

Law: rows and bytes are functions of the step's input, the same when it is repeated; seconds are
those of the try that was committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ebbtide.core.output_name import is_errors, view_of
from ebbtide.core.time import Instant
from ebbtide.store.record import Delay, OperatorCounts, ReplayCounts, SourceCounts, StepRecord


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """A step: ``seconds`` are those of the clock on the wall, until it was committed.

    ``errors`` has, for each view in which expressions can fail, how many changes of what it leaves
    out the step brought: rows that it left out, and rows that it no longer does.  ``delays`` has,
    for each view, how late its changes appeared, in the time of the rows, and ``replays`` those
    that were replayed: which way, how many stored rows were looked at, and how many ran again.
    """

    step: int
    now: Instant
    seconds: float
    operators: Mapping[str, OperatorCounts]
    sources: Mapping[str, SourceCounts]
    errors: Mapping[str, int] = field(default_factory=dict)
    delays: Mapping[str, Delay] = field(default_factory=dict)
    replays: Mapping[str, ReplayCounts] = field(default_factory=dict)


def metrics_of(record: StepRecord) -> StepMetrics:
    """The metrics in the record of a step."""
    errors = {
        view_of(name): sum(written.rows for written in files)
        for name, files in record.output.items()
        if is_errors(name)
    }
    return StepMetrics(
        record.version,
        record.now,
        record.seconds,
        record.operators,
        record.sources,
        errors,
        record.delays,
        record.replays,
    )
