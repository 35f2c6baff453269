"""A started query: by hand, a step when it is told to; or on streams, as Structured Streaming.

Law: both ways run the same step.  The version of the state is the number of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.core.time import Instant
from ebbtide.errors import StateError
from ebbtide.runtime.feed import Advance, FedRow, FeedLog
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.lowering import Lowered
from ebbtide.runtime.session import STEP_SETTINGS
from ebbtide.runtime.shape import Shape
from ebbtide.runtime.sources import arrivals_of, arrow_arrivals, fed_table
from ebbtide.runtime.step import Runner, Step
from ebbtide.state.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run has come: its last step, ``now``, and what its operators did in that step."""

    version: int | None
    now: Instant | None
    metrics: Mapping[str, Any]
    active: bool


class Run:
    """A started query; ``stop`` it, wait for it, or ask how it does."""

    def __init__(self, name: str, root: str, lowered: Lowered, shards: int) -> None:
        self.name = name
        self.root = root
        self.lowered = lowered
        self.shards = _same_shards(root, name, shards)
        self.logs: Mapping[int, FeedLog] = {}
        self.static: Mapping[int, Callable[[], DataFrame]] = {}
        self.streaming: StreamingQuery | None = None
        self.active = True

    @property
    def status(self) -> Status:
        """The last committed step."""
        latest = Journal(self.root).latest()
        if latest is None:
            return Status(None, None, {}, self.active)
        return Status(latest.version, latest.details["now"], latest.details["metrics"], self.active)

    def stop(self) -> None:
        """Stops the query; what it has committed stays."""
        if self.streaming is not None:
            self.streaming.stop()
        self.active = False

    def await_termination(self, timeout: int | None = None) -> bool:
        """Waits until a query on streams ends, or for so many seconds; whether it has ended."""
        if self.streaming is None:
            return not self.active
        ended = self.streaming.awaitTermination(timeout)
        return ended is None or bool(ended)

    def process_all_available(self) -> None:
        """Waits until all that is there has been taken in."""
        if self.streaming is not None:
            self.streaming.processAllAvailable()

    def step(self, spark: SparkSession, clock: Instant | None = None) -> Manifest:
        """Takes all that was fed so far, in one step."""
        latest = Journal(self.root).latest()
        version = 0 if latest is None else latest.version + 1
        positions = {} if latest is None else latest.details.get("positions", {})
        shape = self.shape(spark)
        tables: list[Any] = []
        advances: dict[int, Instant] = {}
        moved = dict(positions)
        for source, log in self.logs.items():
            entries = log.read(positions.get(str(source), 0))
            rows = [(place, entry) for place, entry in entries if isinstance(entry, FedRow)]
            promised = [entry.to for _, entry in entries if isinstance(entry, Advance)]
            tables.append(fed_table(shape, source, self.lowered.declarations[source], rows))
            if promised:
                advances[source] = max(promised)
            if entries:
                moved[str(source)] = entries[-1][0] + 1
        arrived = arrow_arrivals(spark, shape, tables)
        return self.run_step(spark, version, arrived, Step(advances, clock, moved))

    def shape(self, spark: SparkSession) -> Shape:
        """The shape of the table of arrivals."""
        return self._runner(spark).arrivals.shape

    def run_step(
        self, spark: SparkSession, version: int, arrived: DataFrame, step: Step
    ) -> Manifest:
        """Runs the step of a version, with what is there from the start before the first."""
        for name, value in STEP_SETTINGS.items():
            spark.conf.set(name, value)
        runner = self._runner(spark)
        if version == 0:
            for source, read in self.static.items():
                declaration = self.lowered.declarations[source]
                frame = arrivals_of(read(), runner.arrivals.shape, source, declaration)
                arrived = arrived.union(frame)
        return runner.step(version, arrived, step)

    def _runner(self, spark: SparkSession) -> Runner:
        return Runner(
            spark, self.lowered.physical, self.lowered.declarations, self.root, self.shards
        )


def _same_shards(root: str, name: str, shards: int) -> int:
    latest = Journal(root).latest()
    if latest is not None and latest.shards != shards:
        raise StateError(
            "shards-differ",
            f'query "{name}" has its state in {latest.shards} shards, not {shards}',
            hint=f"Engine(..., shards={latest.shards})",
        )
    return shards
