"""One step of a query on Spark: two jobs, and a manifest that commits it.

Law: a step is a function of the version before it, the rows that arrived, what was promised and
one reading of the clock; its manifest is the commit point.  Job 1 fills the first exchange and
learns how far the sources have come; job 2 runs the kernels on it.  A step whose manifest exists
is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import Frontier, InputFrontier, now
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.errors import InternalError, StateError
from ebbtide.kernels.kernel import Times
from ebbtide.runtime.admission import Admission
from ebbtide.runtime.arrivals import Arrivals
from ebbtide.runtime.exchange import Passage, passed
from ebbtide.runtime.frontiers import restored
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.physical import OUTPUT, Edge, FromOperator, Line, Physical
from ebbtide.runtime.record import Record, Step
from ebbtide.runtime.shape import DESCRIPTION, SHARD, UNUSED, Shape
from ebbtide.runtime.worker import Job, LastTask, OutputTask, Place, StageTask
from ebbtide.state.manifest import Manifest, Manifests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Moment:
    """The frontiers of the sources before and after a step, and the times of the operators."""

    before: tuple[InputFrontier, ...]
    after: tuple[InputFrontier, ...]
    times: Mapping[int, Times]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the steps of one query; all that changes between them is in its directory."""

    spark: SparkSession
    physical: Physical
    declarations: tuple[Declaration, ...]
    root: str
    shards: int

    @property
    def arrivals(self) -> Arrivals:
        """The sources, and where their rows go."""
        return Arrivals(self.declarations, self.physical)

    def step(self, version: int, arrived: DataFrame, step: Step) -> Manifest:
        """Runs the step that makes a version, or gives the one that it made."""
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
        if previous is not None:
            Journal(self.root).record(previous)
        arrivals = self.arrivals
        before = tuple(
            frontier.read(step.clock) for frontier in restored(previous, self.declarations)
        )
        exchanged = self._entered(arrivals, arrivals.observed(arrived, before))
        frozen, observed = _frozen(self.spark, exchanged)
        seen = arrivals.committed(before, observed, step.advances)
        after = seen.frontiers
        moment = previous.details["now"] if previous else NEG_INF
        times = self._times(after, moment)
        texts = self._run(frozen, version, Moment(before, after, times))
        names = tuple(operator.name for operator in self.physical.operators)
        record = Record(version, self.shards, names, texts)
        manifest = record.manifest(seen, times[OUTPUT].now, step, previous)
        manifests.commit(manifest)
        Journal(self.root).record(manifest)
        return manifest

    def _entered(self, arrivals: Arrivals, rows: DataFrame) -> DataFrame:
        shape = self._ready(1)
        tagged = arrivals.tagged(rows)
        entered = passed(tagged, arrivals.entering, shape, arrivals.passages(), self.shards)
        return entered.repartitionById(self.shards, SHARD)

    def _run(self, rows: DataFrame, version: int, moment: Moment) -> list[Any]:
        place = Place(self.root, version)
        stages = self.physical.stages
        for stage in range(1, stages + 1):
            task = self._stage(place, stage, moment)
            if stage == stages and self._ends_plainly():
                rows = rows.mapInArrow(
                    LastTask(task, self._output(place, task.after)), "text STRING"
                )
                return [json.loads(row.text) for row in rows.collect()]
            raw = rows.mapInArrow(task, task.after.ddl)
            rows = passed(
                raw, task.after, self._ready(stage + 1), self._passages(stage), self.shards
            )
            if stage < stages:
                rows = rows.repartitionById(self.shards, SHARD)
        output = self._output(place, self._ready(stages + 1))
        return [json.loads(row.text) for row in rows.mapInArrow(output, "text STRING").collect()]

    def _transit(self, stage: int) -> list[tuple[int, Edge]]:
        """The edges that are in the table that a stage takes in."""
        return [
            (tag, edge)
            for tag, edge in enumerate(self.physical.edges)
            if self.physical.produced_in(edge) < stage <= self.physical.consumed_in(edge)
        ]

    def _ready(self, stage: int) -> Shape:
        return Shape.of({tag: edge.pipe.schema for tag, edge in self._transit(stage)})

    def _raw(self, stage: int) -> Shape:
        """The shape of what a stage yields: outputs as they are made, and what is carried."""
        made = {
            tag: self._produced_schema(edge)
            if self.physical.produced_in(edge) == stage
            else edge.pipe.schema
            for tag, edge in self._transit(stage + 1)
        }
        return Shape.of(made)

    def _produced_schema(self, edge: Edge) -> Any:
        if not isinstance(edge.producer, FromOperator):
            raise InternalError("no-operator", "only operators yield rows in a stage")
        return self.physical.operators[edge.producer.operator].output

    def _passages(self, stage: int) -> dict[int, Passage]:
        return {
            tag: Passage(tag, self._produced_schema(edge), edge.pipe, edge.keys)
            if self.physical.produced_in(edge) == stage
            else Passage(tag, edge.pipe.schema)
            for tag, edge in self._transit(stage + 1)
        } | {tag: Passage(tag, Shape.of({}).schema(tag)) for tag in (DESCRIPTION, UNUSED)}

    def _stage(self, place: Place, stage: int, moment: Moment) -> StageTask:
        edges = self.physical.edges
        jobs = []
        for number, operator in enumerate(self.physical.operators):
            if operator.stage != stage:
                continue
            inputs = tuple(
                tuple(
                    tag
                    for tag, edge in enumerate(edges)
                    if (edge.consumer, edge.input) == (number, index)
                )
                for index in range(len(operator.inputs))
            )
            emits = tuple(
                tag for tag, edge in enumerate(edges) if edge.producer == FromOperator(number)
            )
            kernel = operator.kernel
            if isinstance(kernel, Admission):
                kernel = kernel.between(moment.before[kernel.source], moment.after[kernel.source])
            jobs.append(Job(operator.name, kernel, inputs, emits, moment.times[number]))
        carried = tuple(
            tag for tag, edge in self._transit(stage) if self.physical.consumed_in(edge) > stage
        )
        return StageTask(place, tuple(jobs), carried, self._ready(stage), self._raw(stage))

    def _ends_plainly(self) -> bool:
        """Whether only a choice of columns is between the last operators and the output."""
        return all(
            edge.pipe.is_identity
            for edge in self.physical.edges
            if edge.consumer == OUTPUT and isinstance(edge.producer, FromOperator)
        )

    def _output(self, place: Place, shape: Shape) -> OutputTask:
        plain = shape != self._ready(self.physical.stages + 1)
        columns = []
        for tag, edge in enumerate(self.physical.edges):
            if edge.consumer == OUTPUT:
                chosen = tuple(range(len(edge.pipe.schema)))
                if plain and self.physical.produced_in(edge) == self.physical.stages:
                    given = self._produced_schema(edge)
                    chosen = tuple(given.index(ref.column) for ref in edge.pipe.columns)  # type: ignore[attr-defined]
                columns.append((tag, chosen))
        return OutputTask(place, tuple(columns), shape)

    def _times(self, after: tuple[InputFrontier, ...], moment: Instant) -> dict[int, Times]:
        edges = self.physical.edges
        lines = {line for edge in edges for line in edge.lines}
        moved = now((_line(after, line) for line in lines), before=moment)
        return {
            number: Times(
                moment,
                moved,
                tuple(
                    _horizon(after, number, index, edges) for index in range(len(operator.inputs))
                ),
            )
            for number, operator in enumerate(self.physical.operators)
        } | {OUTPUT: Times(moment, moved, ())}


def _line(frontiers: tuple[InputFrontier, ...], line: Line) -> Frontier:
    return frontiers[line[0]][line[1]]


def _horizon(
    after: tuple[InputFrontier, ...], operator: int, index: int, edges: tuple[Edge, ...]
) -> Instant:
    lines = {
        line
        for edge in edges
        if (edge.consumer, edge.input) == (operator, index)
        for line in edge.lines
    }
    return min((_line(after, line).horizon for line in lines), default=INF)


def _frozen(spark: SparkSession, exchanged: DataFrame) -> tuple[DataFrame, Any]:
    """The exchange as a table of its own, filled, and what was observed on the way there.

    Spark's optimizer would leave out kernels over input that it proves to be empty, and with them
    all expiries; it proves nothing about an RDD.  The second job on it finds its shuffle done.
    """
    from pyspark.sql import DataFrame as Table

    execution = exchanged._jdf.queryExecution()
    rows = spark._jsparkSession.internalCreateDataFrame(
        execution.toRdd(), exchanged._jdf.schema(), False
    )
    frozen = Table(rows, spark)
    frozen.count()
    return frozen, execution.observedMetrics()
