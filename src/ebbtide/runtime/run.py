"""A started query: by hand, a step when it is told to; or on streams, as Structured Streaming.

Law: both ways run the same step.  The version of the state is the number of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, Any

from ebbtide.core.time import Instant
from ebbtide.errors import EbbtideError, SourceError
from ebbtide.runtime.claim import Claim
from ebbtide.runtime.clock import Readings, follows_clock
from ebbtide.runtime.feed import Advance, FedRow, FeedLog
from ebbtide.runtime.heartbeat import HEARTBEAT, NO_HEARTBEAT, Heartbeat, Waiting
from ebbtide.runtime.journal import Journal, entry_of
from ebbtide.runtime.listening import Ids, Listeners
from ebbtide.runtime.lowering import Lowered
from ebbtide.runtime.metrics import StepMetrics, metrics_of
from ebbtide.runtime.record import Step, places
from ebbtide.runtime.results import emitted
from ebbtide.runtime.script import write_script
from ebbtide.runtime.session import step_settings
from ebbtide.runtime.shape import TAG, Shape
from ebbtide.runtime.sinks import Delivery, Sink
from ebbtide.runtime.sources import arrivals_of, arrow_arrivals, fed_table
from ebbtide.runtime.step import Runner
from ebbtide.runtime.translation import disk_full, is_full, translated
from ebbtide.state.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from ebbtide.runtime.query import Query


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run has come: its last step, ``now``, and what its operators did in that step."""

    version: int | None
    now: Instant | None
    metrics: Mapping[str, Any]
    active: bool


class Run:
    """A started query; ``stop`` it, wait for it, or ask how it does."""

    def __init__(
        self,
        query: Query,
        lowered: Lowered,
        sinks: tuple[Sink, ...] = (),
        archive: bool = True,
        heartbeat: Heartbeat = NO_HEARTBEAT,
    ) -> None:
        engine = query.engine
        self.name = query.name
        self.root = engine.root_of(query.name)
        self.lowered = lowered
        self.shards = engine.shards
        self.schema = query.schema
        self.clock = engine.clock
        self.archive = archive
        self.heartbeat = heartbeat
        self.delivery = Delivery(self.root, sinks)
        self.claim = Claim(self.root, query.name)
        try:
            self.claim.check(query.sql, lowered.declarations, self.shards, heartbeat.beats)
            self.claim.sweep()
            write_script(self.root, engine.declared, query.text)
        except BaseException:
            self.claim.release()
            raise
        self.logs: Mapping[int, FeedLog] = {}
        self.static: Mapping[int, Callable[[], DataFrame]] = {}
        self.streaming: StreamingQuery | None = None
        self._spark: Callable[[], SparkSession] = lambda: engine.spark
        self._listeners: Listeners | None = None
        self.failure: Exception | None = None
        self._waiting = Waiting()
        self._stopped = False
        self._ending = False
        self._stepping = RLock()

    @property
    def active(self) -> bool:
        """Whether steps may still come."""
        if self._stopped:
            return False
        return self.streaming is None or bool(self.streaming.isActive)

    @property
    def status(self) -> Status:
        """The last committed step."""
        latest = Journal(self.root).latest()
        if latest is None:
            return Status(None, None, {}, self.active)
        return Status(latest.version, latest.details["now"], latest.details["metrics"], self.active)

    def metrics(self, since: int | None = None) -> list[StepMetrics]:
        """What the steps did, or those after ``since``."""
        first = -1 if since is None else since
        return [metrics_of(entry) for entry in Journal(self.root).entries(first)]

    def stop(self) -> None:
        """Stops the query once the step at work is done; what it has committed stays."""
        self._ending = True
        if self.streaming is not None:
            with self._stepping:
                pass  # a step that comes now is refused
            self.streaming.stop()
        if self._listeners is not None:
            self._listeners.stopped()
            self._listeners = None
        self._stopped = True
        self.claim.release()

    def await_termination(self, timeout: int | None = None) -> bool:
        """Waits until a query on streams ends, or for so many seconds; whether it has ended."""
        if self.streaming is None:
            return not self.active
        with self._told():
            ended = self.streaming.awaitTermination(timeout)
        return ended is None or bool(ended)

    def process_all_available(self) -> None:
        """Waits until all that is there has been taken in; a step that fails is told here."""
        if self.streaming is not None:
            with self._told():
                if self.heartbeat.beats:
                    self._waiting.wait(lambda: self.active)
                if not self.heartbeat.beats or self.streaming.exception() is not None:
                    self.streaming.processAllAvailable()

    def batch(self, rows: DataFrame, version: int) -> None:
        """The step of one batch of Structured Streaming."""
        with self._stepping:
            if self._ending:
                # Spark must not take the batch for done: it comes again when the query goes on.
                raise InterruptedError(f'query "{self.name}" is being stopped')
            try:
                self._batch(rows, version)
            except Exception as error:
                self.failure = error
                raise

    def _batch(self, rows: DataFrame, version: int) -> None:
        self._waiting.begin()
        clock = None
        if self.heartbeat.follows or follows_clock(self.lowered.declarations):
            clock = Readings(self.root).of(version, self.clock)
        spark, latest = rows.sparkSession, Journal(self.root).latest()
        last = {int(s): place for s, place in places(latest).items()}
        if self.heartbeat.beats:
            rows = rows.where(f"{TAG} <> {HEARTBEAT}")
        arrived = self._runner(spark).arrivals.placed(rows, last)
        step = Step(clock=clock, follows=self.heartbeat.follows)
        if self.logs:
            fed, step = self._fed(spark, latest, step)
            arrived = arrived.union(fed)
        manifest = self.run_step(spark, version, arrived, step)
        taken = [came["rows"] for came in manifest.details["came"]] + manifest.details["unused"]
        self._waiting.end(idle=not any(taken))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tells why a step failed, not that some Java thread has ended."""
        from pyspark.errors import StreamingQueryException

        try:
            yield
        except StreamingQueryException as error:
            if isinstance(self.failure, EbbtideError):
                raise self.failure from error
            if self._ending and self.failure is None:
                return
            said = str(self.failure or error)
            self.failure = SourceError(
                "step-failed",
                f'query "{self.name}" has stopped at a step that failed',
                detail=said.partition("\n")[0],
            )
            if is_full(said):
                self.failure = disk_full(self.name, said)
            raise self.failure from error
        finally:
            if not self.active:
                self.stop()  # the query came to its end: another run may have its directory

    def take(self, spark: SparkSession, clock: Instant | None) -> Manifest | None:
        """Takes what was fed in a step, or waits for the steps on streams that take it."""
        if self.streaming is None:
            return self.step(spark, clock)
        self.process_all_available()
        return Journal(self.root).latest()

    def step(self, spark: SparkSession, clock: Instant | None = None) -> Manifest:
        """Takes all that was fed so far, in one step."""
        latest = Journal(self.root).latest()
        version = 0 if latest is None else latest.version + 1
        if latest is not None:
            # A sink that failed gets its step before the next one.
            self.deliver(spark, latest)
        if clock is None and follows_clock(self.lowered.declarations):
            clock = self.clock()
        arrived, step = self._fed(spark, latest, Step(clock=clock))
        if self._listeners is None:
            self._listeners = Listeners(spark, self.name, Ids.of_directory(self.root))
            self._listeners.started()
        return self.run_step(spark, version, arrived, step)

    def _fed(
        self, spark: SparkSession, latest: Manifest | None, step: Step
    ) -> tuple[DataFrame, Step]:
        """What was fed by hand since the last step, and the step that takes it."""
        positions = {} if latest is None else latest.details["positions"]
        shape = self.shape(spark)
        tables: list[Any] = []
        advances: dict[int, Instant] = {}
        moved = dict(positions)
        for source, log in self.logs.items():
            entries, end = log.read(positions.get(str(source), 0))
            rows = [(place, entry) for place, entry in entries if isinstance(entry, FedRow)]
            promised = [entry.to for _, entry in entries if isinstance(entry, Advance)]
            tables.append(fed_table(shape, source, self.lowered.declarations[source], rows))
            if promised:
                advances[source] = max(promised)
            if entries:
                moved[str(source)] = end
        arrived = arrow_arrivals(spark, shape, tables)
        return arrived, replace(step, advances=advances, positions=moved)

    def shape(self, spark: SparkSession) -> Shape:
        """The shape of the table of arrivals."""
        return self._runner(spark).arrivals.shape

    def run_step(
        self, spark: SparkSession, version: int, arrived: DataFrame, step: Step
    ) -> Manifest:
        """Runs the step of a version, with what is there from the start before the first."""
        runner = self._runner(spark)
        with translated(self.name), step_settings(spark, self.shards):
            if version == 0:
                for source, read in self.static.items():
                    declaration = self.lowered.declarations[source]
                    frame = arrivals_of(read(), runner.arrivals.shape, source, declaration)
                    arrived = arrived.union(frame)
            manifest = runner.step(version, arrived, step)
        self.deliver(spark, manifest)
        # The session of a batch is a copy, to which nobody listens.
        listeners = self._listeners or Listeners(self._spark(), self.name, Ids.of_batch(spark))
        listeners.progressed(metrics_of(entry_of(manifest)))
        return manifest

    def deliver(self, spark: SparkSession, manifest: Manifest) -> None:
        """Takes the output of a committed step to the sinks that do not have it yet."""
        self.delivery.deliver(
            manifest.version, lambda: emitted(spark, self.root, self.schema, manifest)
        )

    def _runner(self, spark: SparkSession) -> Runner:
        return Runner(
            spark,
            self.lowered.physical,
            self.lowered.declarations,
            self.root,
            self.shards,
            self.archive,
            self.archive or self.delivery.wants_rows,
        )
