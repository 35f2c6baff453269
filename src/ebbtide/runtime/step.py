"""One step of a query on Spark: two jobs, and a manifest that commits it.

Law: a step is a function of the version before it, the rows that arrived, what was promised and
one reading of the clock; its manifest is the commit point.  Job 1 fills the first exchange and
learns how far the sources have come; job 2 runs the kernels on it.  A step whose manifest exists
is not run again.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.time import NEG_INF
from ebbtide.errors import StateError
from ebbtide.runtime.archive import Archive
from ebbtide.runtime.arrivals import Arrivals
from ebbtide.runtime.exchange import merged, passed
from ebbtide.runtime.frontiers import restored
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.physical import OUTPUT, Physical
from ebbtide.runtime.record import Record, Spent, Step
from ebbtide.runtime.session import unsized_batches
from ebbtide.runtime.shape import SHARD
from ebbtide.runtime.staging import Moment, Staging
from ebbtide.runtime.state import Place
from ebbtide.runtime.timing import Timings
from ebbtide.state.manifest import Manifest, Manifests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the steps of one query; all that changes between them is in its directory.

    What a step emits is written if somebody wants it, and kept for longer than a step if it
    belongs to the archive.
    """

    spark: SparkSession
    physical: Physical
    declarations: tuple[Declaration, ...]
    root: str
    shards: int
    keeps: bool = True
    writes: bool = True

    @property
    def staging(self) -> Staging:
        """The stages of a step."""
        return Staging(self.physical, self.shards, self.writes)

    @property
    def arrivals(self) -> Arrivals:
        """The sources, and where their rows go."""
        return Arrivals(self.declarations, self.physical)

    def step(self, version: int, arrived: DataFrame, step: Step) -> Manifest:
        """Runs the step that makes a version, or gives the one that it made."""
        began = perf_counter()
        manifests = Manifests(Place(self.root, version).store())
        versions = manifests.versions()
        if version in versions:
            return manifests.load(version)
        if versions and version < versions[-1]:
            raise StateError(
                "checkpoint-behind",
                f"the state is at version {versions[-1]}, and step {version} comes too late for it",
                hint="restore the checkpoint that belongs to it, or start under another name",
            )
        previous = manifests.load(version - 1) if version else None
        manifests.start(version)
        # Also what the last step wrote and merged again before it ended.
        manifests.sweep()
        if previous is not None:
            Journal(self.root).record(previous)
            Archive(self.root).forget(previous)
        arrivals = self.arrivals
        before = tuple(
            frontier.read(step.clock) for frontier in restored(previous, self.declarations)
        )
        exchanged = self._entered(arrivals, arrivals.observed(arrived, before))
        frozen, observed = _frozen(self.spark, exchanged)
        seen = arrivals.committed(before, observed, step.advances)
        after = seen.frontiers
        moment = previous.details["now"] if previous else NEG_INF
        times = self.physical.times(before, after, moment, step.clock if step.follows else None)
        narrow = frozen.select(*self.staging.entering(seen.refused))
        # Rows that are refused stand there as text of any length.
        plain = self.physical.has_fixed_rows and not seen.refused
        with unsized_batches(self.spark) if plain else nullcontext():
            texts = self._run(narrow, version, Moment(before, after, times))
        spent = Spent(perf_counter() - began, Timings(self.root, version).read())
        record = Record(version, self.shards, self.staging.names, texts, self.keeps, spent)
        manifest = record.manifest(seen, times[OUTPUT].now, step, previous)
        manifests.commit(manifest)
        Journal(self.root).record(manifest)
        return manifest

    def _entered(self, arrivals: Arrivals, rows: DataFrame) -> DataFrame:
        shape, known = self.staging.ready(1), self.staging.known
        tagged, passages = arrivals.tagged(rows), arrivals.passages()
        entered = passed(tagged, arrivals.entering, shape, passages, self.shards, known)
        if self.physical.repeats:
            entered = merged(entered)
        return entered.repartitionById(self.shards, SHARD)

    def _run(self, rows: DataFrame, version: int, moment: Moment) -> list[Any]:
        place, staging = Place(self.root, version), self.staging
        stages, last = self.physical.stages, staging.last(place, moment)
        for stage in range(1, stages + (last is None)):
            task = staging.stage(place, stage, moment)
            raw = rows.mapInArrow(task, task.after.ddl)
            ready, passages = staging.ready(stage + 1), staging.passages(stage)
            rows = passed(raw, task.after, ready, passages, self.shards)
            if stage < stages:
                rows = rows.repartitionById(self.shards, SHARD)
        output = last or staging.output(place, staging.ready(stages + 1), moment)
        return [json.loads(row.text) for row in rows.mapInArrow(output, "text STRING").collect()]


def _frozen(spark: SparkSession, exchanged: DataFrame) -> tuple[DataFrame, Any]:
    """The exchange as a table of its own, filled, and what was observed on the way there.

    Spark's optimizer would leave out kernels over input that it proves to be empty, and with them
    all expiries; it proves nothing about an RDD.  The job fills the shuffle and reads nothing of
    it; the next job finds it done.
    """
    from pyspark.sql import DataFrame as Table

    execution = exchanged._jdf.queryExecution()
    jvm = spark._jvm
    assert jvm is not None
    forever = jvm.scala.concurrent.duration.Duration.Inf()
    filling = execution.executedPlan().mapOutputStatisticsFuture()
    jvm.org.apache.spark.util.ThreadUtils.awaitResult(filling, forever)
    rows = spark._jsparkSession.internalCreateDataFrame(
        execution.toRdd(), exchanged._jdf.schema(), False
    )
    return Table(rows, spark), execution.observedMetrics()
