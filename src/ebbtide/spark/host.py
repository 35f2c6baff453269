"""Spark as the place where an engine runs its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.relation import Values
from ebbtide.compile.lowering import Lowered
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import Duration, Instant
from ebbtide.core.values import Row
from ebbtide.dataflow.plan import Dataflow
from ebbtide.program.delivery import Outlet
from ebbtide.program.run import Program, Run
from ebbtide.spark import answers
from ebbtide.spark.arrivals import arrivals_of, arrow_arrivals
from ebbtide.spark.batch_shares import BatchShares
from ebbtide.spark.entry import Entry
from ebbtide.spark.errors import sinking, translated
from ebbtide.spark.private import keep_classes
from ebbtide.spark.rows_in_memory import fed_table, given_table
from ebbtide.spark.session import start_spark, step_settings
from ebbtide.spark.sources import open_files
from ebbtide.spark.transport import SparkTransport
from ebbtide.spark.workers_python import check_workers_python
from ebbtide.sql.catalog import FileSource
from ebbtide.store.clock import Clock
from ebbtide.store.feed_log import FedRow
from ebbtide.store.readers import View
from ebbtide.store.record import StepRecord

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkHost:
    """A session, given or started at the first use; ``log`` is a file for what it has to say."""

    def __init__(self, spark: SparkSession | None = None, log: str | None = None) -> None:
        self._given = spark
        self._log = log

    @cached_property
    def spark(self) -> SparkSession:
        """The session."""
        session = self._given or start_spark(log=self._log)
        check_workers_python(session)
        keep_classes(session)
        return session

    def within(self, spark: SparkSession) -> SparkHost:
        """The same host, in the session of a batch."""
        return SparkHost(spark)

    @contextmanager
    def stepping(self, program: str, shards: int) -> Iterator[None]:
        with translated(program), step_settings(self.spark, shards):
            yield

    def transport(self, dataflow: Dataflow) -> SparkTransport:
        return SparkTransport(self.spark, dataflow)

    def fed(self, lowered: Lowered, rows: Mapping[int, Sequence[tuple[int, FedRow]]]) -> DataFrame:
        shape = Entry(lowered).shape
        tables = [
            fed_table(shape, source, lowered.declarations[source], fed)
            for source, fed in rows.items()
        ]
        return arrow_arrivals(self.spark, shape, tables)

    def with_static(
        self, lowered: Lowered, arrived: DataFrame | BatchShares, sources: Mapping[int, Any]
    ) -> DataFrame | BatchShares:
        if not sources:
            return arrived
        arrived, shape = self.as_rows(lowered, arrived), Entry(lowered).shape
        for source, read in sources.items():
            declaration = lowered.declarations[source]
            arrived = arrived.union(arrivals_of(read(), shape, source, declaration))
        return arrived

    def as_rows(self, lowered: Lowered, arrived: DataFrame | BatchShares) -> DataFrame:
        """What arrives as a DataFrame, beside which other rows may stand."""
        if isinstance(arrived, BatchShares):
            return Entry(lowered).wide(self.spark, arrived)
        return arrived

    def emitted(self, view: View, record: StepRecord) -> DataFrame:
        return answers.emitted(self.spark, view, record)

    def rows(self, schema: Schema, rows: Sequence[Row]) -> DataFrame:
        return self.spark.createDataFrame(given_table(schema, rows))

    def sinking(self, view: str, sink: str, step: int) -> AbstractContextManager[None]:
        return sinking(view, sink, step)

    def changes(self, view: View, since: int | None) -> DataFrame:
        with translated(view.name):
            return answers.changes(self.spark, view, since)

    def snapshot(self, view: View, at: Instant | None, step: int | None) -> DataFrame:
        with translated(view.name):
            return answers.snapshot(self.spark, view, at, step)

    def shown(self, table: Any) -> DataFrame:
        return self.spark.createDataFrame(table)

    def unused(self, roots: Mapping[str, str], source: str) -> DataFrame:
        return answers.unused(self.spark, dict(roots), source)

    @contextmanager
    def binding(self, program: str) -> Iterator[None]:
        with translated(program):
            yield

    def given(self, values: Values) -> Callable[[], DataFrame]:
        return lambda: self.spark.createDataFrame(given_table(values.schema, values.rows))

    def files(
        self, files: FileSource, declaration: Declaration, zone: str, streaming: bool
    ) -> DataFrame:
        return open_files(self.spark, files, declaration, zone, streaming)

    def run(
        self,
        program: Program,
        clock: Clock,
        sinks: Mapping[str, tuple[Outlet, ...]],
        archive: bool,
        keep: Mapping[str, Duration],
    ) -> Run:
        from ebbtide.spark.run import SparkRun

        return SparkRun(program, self, clock, sinks, archive, keep)

    def stream(self, run: Any, streams: Mapping[int, Any], trigger: dict[str, Any]) -> None:
        run.stream(streams, trigger)

    def stop(self) -> None:
        if self._given is None and "spark" in self.__dict__:
            self.spark.stop()
            del self.__dict__["spark"]
