"""A program that runs as a query of Structured Streaming, or is fed by hand, on Spark.

Law: a batch is a step.  One that comes again after a crash is the step that was made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from threading import RLock
from typing import TYPE_CHECKING, Any

from ebbtide.core.time import Duration, Instant
from ebbtide.dataflow.record import Given
from ebbtide.errors import EbbtideError, SourceError, StateError
from ebbtide.program.delivery import Outlet
from ebbtide.program.host import Host
from ebbtide.program.run import Program, Run, Status
from ebbtide.spark import checkpoint_copy
from ebbtide.spark.arrivals import FOUND, HOW, arrivals_of
from ebbtide.spark.batch_files import each_once, named_files
from ebbtide.spark.batch_shares import BatchShares
from ebbtide.spark.checkpoint import HEARTBEAT_NAME, agreed, checkpoint_of, source_name
from ebbtide.spark.entry import Entry
from ebbtide.spark.errors import disk_full, is_full
from ebbtide.spark.heartbeat import HEARTBEAT, HeartbeatWait, heartbeat_rows
from ebbtide.spark.host import SparkHost
from ebbtide.spark.listener import Ids, Listeners
from ebbtide.spark.private import stream_names
from ebbtide.spark.session import by_names, plain_checkpoint
from ebbtide.spark.tagged_rows import TAG, Shape
from ebbtide.store.clock import Clock, Readings
from ebbtide.store.journal import Journal
from ebbtide.store.lock import Claim
from ebbtide.store.manifest import Manifest
from ebbtide.store.metrics import metrics_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


class SparkRun(Run):
    """A program on Spark."""

    def __init__(
        self,
        program: Program,
        host: SparkHost,
        clock: Clock,
        sinks: Mapping[str, tuple[Outlet, ...]],
        archive: bool = True,
        keep: Mapping[str, Duration] | None = None,
    ) -> None:
        super().__init__(program, host, clock, sinks, archive, keep)
        self.streaming: StreamingQuery | None = None
        self._host = host
        self._listeners: Listeners | None = None
        self._waiting = HeartbeatWait()
        self._ending = False
        self._stepping = RLock()
        self._in_tasks: dict[str, int] = {}
        self._how: dict[int, str] = {}
        self._names_files = False

    def stream(self, frames: Mapping[int, DataFrame], trigger: dict[str, Any]) -> None:
        """Sets Structured Streaming off on the streams, and on the heartbeat if there is one."""
        from pyspark.sql import DataFrame

        spark = self._host.spark
        tables = dict(frames)
        in_tasks = [number for number in tables if tables[number].columns == [FOUND]]
        self._how = {number: tables[number].schema[FOUND].metadata[HOW] for number in in_tasks}
        self._names_files = len(in_tasks) == len(tables)
        shape = Shape.of({}) if self._names_files else Entry(self.program.lowered).shape
        if self.program.beats:
            tables[HEARTBEAT] = heartbeat_rows(spark, shape)
        numbers = {self._name(number): number for number in tables}
        names = {name: stream_names(tables[number]) for name, number in numbers.items()}
        latest = Journal(self.root).latest()
        checkpoint_copy.restore(self.root, self.name, None if latest is None else latest.version)
        known = agreed(self.root, self.name, names)
        if self.program.beats:
            self.claim.with_heartbeat(self.program.identity)
        self._in_tasks = {
            name: numbers[name] for name in known.sources if numbers[name] in self._how
        }
        with by_names(spark, known.named), plain_checkpoint(spark):
            arrivals = [self._arrivals(tables, numbers[name], shape) for name in known.sources]
            writer = reduce(DataFrame.union, arrivals).writeStream.queryName(self.name)
            writer = writer.foreachBatch(self.batch)
            writer = writer.option("checkpointLocation", checkpoint_of(self.root))
            if trigger:
                writer = writer.trigger(**trigger)
            self.streaming = writer.start()

    def _name(self, number: int) -> str:
        if number == HEARTBEAT:
            return HEARTBEAT_NAME
        return source_name(self.program.lowered.declarations[number].name)

    def _arrivals(self, tables: Mapping[int, DataFrame], number: int, shape: Shape) -> DataFrame:
        if number == HEARTBEAT:
            return tables[number]
        return arrivals_of(tables[number], shape, number, self.program.lowered.declarations[number])

    @property
    def active(self) -> bool:
        """Whether steps may still come."""
        if self.stopped:
            return False
        return self.streaming is None or bool(self.streaming.isActive)

    @property
    def status(self) -> Status:
        """The last committed step, and why the run ended if it did not end by itself."""
        if self.failure is None and self.streaming is not None and not self._ending:
            error = None if self.streaming.isActive else self.streaming.exception()
            self.failure = None if error is None else self._failed(str(error))
        return super().status

    @property
    def fed_by_hand(self) -> bool:
        """Whether steps come only when they are asked for."""
        return self.streaming is None

    def stop(self) -> None:
        """Stops the program once the step at work is done; what it has committed stays."""
        self._ending = True
        if self.streaming is not None:
            with self._stepping:
                pass  # a step that comes now is refused
            self.streaming.stop()
        if self._listeners is not None:
            self._listeners.stopped()
            self._listeners = None
        super().stop()

    def await_termination(self, timeout: int | None = None) -> bool:
        """Waits until a program on streams ends, or for so many seconds; whether it has ended."""
        if self.streaming is None:
            return not self.active
        with self._told():
            ended = self.streaming.awaitTermination(timeout)
        return ended is None or bool(ended)

    def process_all_available(self) -> None:
        """Waits until all that is there has been taken in; a step that fails raises here."""
        if self.streaming is not None:
            with self._told():
                if self.program.beats:
                    self._waiting.wait(lambda: self.active)
                if not self.program.beats or self.streaming.exception() is not None:
                    self.streaming.processAllAvailable()

    def take(self, clock: Instant | None) -> Manifest | None:
        """Takes what was fed in a step, or waits for the steps on streams that take it."""
        if self.streaming is None:
            return self.step(clock)
        self.process_all_available()
        return Journal(self.root).latest()

    def step(self, clock: Instant | None = None) -> Manifest:
        """Takes all that was fed so far, in one step."""
        if self._listeners is None:
            self._listeners = Listeners(self._host.spark, self.name, Ids.of_directory(self.root))
            self._listeners.started()
        return super().step(clock)

    def promised(self, at: Instant) -> Manifest:
        """The last step of a program on streams: no batch of Spark's, which makes none without
        rows, but one that its checkpoint knows as a batch that had read nothing."""
        if self.streaming is None:
            return super().promised(at)
        self.process_all_available()
        self.stop()
        latest = Journal(self.root).latest()
        if latest is None:
            raise nothing_came(self.name)
        self.claim = Claim(self.root, self.name)
        self.claim.check(self.program.identity)
        version = latest.version + 1
        checkpoint_copy.restore(self.root, self.name, latest.version)
        checkpoint_copy.go_back(self.root, self.name, version, latest.version)
        given = Given(clock=self.reading(version), follows=self.program.follows)
        arrived, given = self.fed(self._host, latest, given)
        sources = enumerate(self.program.lowered.declarations)
        advances = {number: at for number, source in sources if source.promises}
        self._listeners = Listeners(self._host.spark, self.name, Ids.of_directory(self.root))
        self._listeners.started()
        return self.run_step(self._host, version, arrived, replace(given, advances=advances))

    def batch(self, rows: DataFrame, version: int) -> None:
        """The step of one batch of Structured Streaming."""
        with self._stepping:
            if self._ending:
                # Spark must not take the batch for done: it comes again when the query goes on.
                raise InterruptedError(f'"{self.name}" is being stopped')
            try:
                self._batch(rows, version)
            except Exception as error:
                self.failure = error
                raise

    def _batch(self, rows: DataFrame, version: int) -> None:
        self._waiting.begin()
        host, latest = self._host.within(rows.sparkSession), Journal(self.root).latest()
        is_done = latest is not None and version <= latest.version
        if is_done:
            checkpoint_copy.check_same(self.root, self.name, version)
        else:
            checkpoint_copy.keep(self.root, version)
        # Every source is compared with the clock: one that follows it may not run away from it.
        clock = Readings(self.root).of(version, self.clock)
        places = {} if latest is None else latest.record.places
        arrived: DataFrame | BatchShares
        if self._names_files:
            arrived = self._named(version, is_done, places)
        else:
            arrived = self._rows(rows, version, is_done, places)
        given = Given(clock=clock, follows=self.program.follows)
        if self.logs:
            fed, given = self.fed(host, latest, given)
            arrived = host.as_rows(self.program.lowered, arrived).union(fed)
        manifest = self.run_step(host, version, arrived, given)
        self._waiting.end(idle=not manifest.record.accepted and not manifest.record.unused)

    def _named(self, version: int, is_done: bool, places: Mapping[str, int]) -> BatchShares:
        """The files of a batch; what a step that is done has read is not looked for again."""
        files = [] if is_done else named_files(self.root, version, self._in_tasks, self._how)
        last = (
            places.get(declaration.name, -1) if declaration.key else None
            for declaration in self.program.lowered.declarations
        )
        cores = self._host.spark.sparkContext.defaultParallelism
        return BatchShares.of(files, cores, tuple(last))

    def _rows(
        self, rows: DataFrame, version: int, is_done: bool, places: Mapping[str, int]
    ) -> DataFrame:
        """The rows of a batch, of which some may name files."""
        if not is_done:
            rows = each_once(rows, self.root, version, self._in_tasks)
        if self.program.beats:
            rows = rows.where(f"{TAG} <> {HEARTBEAT}")
        return Entry(self.program.lowered).placed(rows, places)

    def told(self, host: Host, manifest: Manifest) -> None:
        """Tells Spark's listeners what a step did."""
        # The session of a batch is a copy, to which nobody listens.
        assert isinstance(host, SparkHost)
        own = self._listeners
        listeners = own or Listeners(self._host.spark, self.name, Ids.of_batch(host.spark))
        listeners.progressed(metrics_of(manifest.record))

    def _failed(self, said: str) -> EbbtideError:
        if is_full(said):
            return disk_full(self.name, said)
        return SourceError(
            "step-failed",
            f'query "{self.name}" has stopped at a step that failed',
            detail=said.partition("\n")[0],
        )

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
            self.failure = self._failed(str(self.failure or error))
            raise self.failure from error
        finally:
            if not self.active:
                self.stop()  # the query came to its end: another run may have its directory


def nothing_came(name: str) -> StateError:
    """The error of a program that is to be finished before it has begun."""
    return StateError(
        "nothing-came",
        f'"{name}" has had no row yet, so there is nothing to finish',
        hint="finish it once files are there",
    )
