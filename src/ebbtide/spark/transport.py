"""Steps on Spark: two jobs, whose exchanges are Spark's and whose tasks run in its Python workers.

Law: job 1 fills the first exchange and observes the rows on their way; job 2 runs the kernels on
it, stage by stage.  Every task of a stage runs, with rows or without: what Spark's optimizer cannot
see into it cannot leave out.  Rows of sources for a later stage wait in the first exchange and join
the rows of that stage's own exchange, partition by partition.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ebbtide.compile.stages import Route
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Schema
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.shard import Shard
from ebbtide.dataflow.tags import DESCRIPTION, UNUSED
from ebbtide.dataflow.tasks import StageTask, unused_rows
from ebbtide.spark.entry import Entry
from ebbtide.spark.exchange import by_tag, merged, passed, shard_text
from ebbtide.spark.private import filled, zipped
from ebbtide.spark.session import unsized_batches
from ebbtide.spark.tagged_rows import SHARD, TAG, Shape
from ebbtide.spark.types import spark_type
from ebbtide.state.batch import DIFF, FROM, TO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SparkTransport:
    """Carries the rows of a program; what arrives is a DataFrame in the shape of its entry."""

    spark: SparkSession
    dataflow: Dataflow

    def enter(self, arrived: DataFrame, before: tuple[InputFrontier, ...]) -> SparkEntered:
        """Job 1: judges the rows and takes them to their shards."""
        entry, known = Entry(self.dataflow.lowered), _Known(self.dataflow)
        rows = entry.tagged(entry.observed(arrived, before))
        shards = self.dataflow.shards
        shape = known.shape
        entered = passed(rows, entry.entering, shape, entry.passages(), shards, known.columns)
        if known.repeats:
            entered = merged(entered)
        frozen, metrics = filled(self.spark, entered.repartitionById(shards, SHARD))
        return SparkEntered(self.spark, self.dataflow, frozen, entry.seen(before, metrics))


@dataclass(frozen=True, slots=True)
class SparkEntered:
    """The first exchange, filled."""

    spark: SparkSession
    dataflow: Dataflow
    rows: DataFrame
    seen: Seen

    def run(self, tasks: Sequence[StageTask]) -> list[str]:
        """Job 2: all stages, and what their tasks have to say."""
        # Rows that are refused stand there as text of any length.
        plain = self.dataflow.lowered.physical.has_fixed_rows and not self.seen.refused
        with unsized_batches(self.spark) if plain else nullcontext():
            rows: DataFrame | None = None
            for stage, task in enumerate(tasks, 1):
                rows = self._stage(stage, task, rows)
            assert rows is not None
            return [row.text for row in rows.collect()]

    def _stage(self, stage: int, task: StageTask, before: DataFrame | None) -> DataFrame:
        known, stages = _Known(self.dataflow), self.dataflow.lowered.stages
        last = stage == stages.count
        shape = known.shape if stage == 1 else stage_shape(self.dataflow, stage)
        after = None if last else _sent_shape(self.dataflow, stage)
        lengths = known.lengths if stage == 1 else {}
        work = SparkTask(task, shape, after, lengths)
        if before is None:
            rows = self.rows.select(*known.entering(self.seen.refused))
            if any(route.stage > 1 for route in stages.entering):
                rows = rows.where(f"{TAG} < 0 OR {_among(stages.arriving(1))}")
        else:
            rows = self._joined(stage, before, shape)
        ddl = "text STRING" if after is None else after.ddl
        return rows.mapInArrow(work, ddl)

    def _joined(self, stage: int, before: DataFrame, shape: Shape) -> DataFrame:
        """The rows of a stage: from the stages before it, and those of sources that wait for it."""
        exchanged = self._exchanged(stage, before, shape)
        stages = self.dataflow.lowered.stages
        waiting = [route for route in stages.entering if route.stage == stage]
        if not waiting:
            return exchanged
        entry = _Known(self.dataflow)
        chosen = self.rows.where(_among(waiting)).selectExpr(*entry.renamed(waiting, shape))
        return zipped(self.spark, exchanged, chosen, self.dataflow.shards)

    def _exchanged(self, stage: int, before: DataFrame, shape: Shape) -> DataFrame:
        from pyspark.sql import functions as F

        sent = _sent_shape(self.dataflow, stage - 1)
        routes = self.dataflow.lowered.stages.routes
        shards = {
            tag: shard_text(_keys(routes[tag], sent), self.dataflow.shards)
            for tag in sent.tags
            if tag >= 0
        }
        by = F.expr(f"CAST({by_tag(shards, '0')} AS INT)")
        columns = _renamed({tag: sent.slots(tag) for tag in sent.tags}, shape)
        rows = before.repartitionById(self.dataflow.shards, by)
        return rows.selectExpr(*columns)


def stage_shape(dataflow: Dataflow, stage: int) -> Shape:
    """The table of the rows that come to a stage: its own, and those on their way to later ones."""
    stages = dataflow.lowered.stages
    entering = {route.tag: route.schema for route in stages.entering if route.stage == stage}
    return Shape.of({**entering, **_sent(dataflow, stage - 1)})


def _sent_shape(dataflow: Dataflow, stage: int) -> Shape:
    """The table of what travels on behind a stage."""
    return Shape.of(_sent(dataflow, stage))


def _sent(dataflow: Dataflow, stage: int) -> dict[int, Schema]:
    """The routes on which rows travel on behind a stage: to the next one, and to those after it."""
    stages = dataflow.lowered.stages
    return {
        route.tag: route.schema
        for route in stages.routes
        if route not in stages.entering and _made(dataflow, route) <= stage < route.stage
    }


def _made(dataflow: Dataflow, route: Route) -> int:
    return dataflow.lowered.stages.of_operator[route.producer.operator]  # type: ignore[union-attr]


def _keys(route: Route, shape: Shape) -> list[tuple[str, Any]]:
    """The slots of the columns by which a route's rows find their shard."""
    slots = shape.slots(route.tag)
    return [(slots[route.pipe.columns.index(key)], key.type) for key in route.keys]


def _among(routes: Sequence[Route]) -> str:
    tags = ", ".join(str(route.tag) for route in routes)
    return f"{TAG} IN ({tags})" if tags else "FALSE"


def _renamed(slots: Mapping[int, tuple[str, ...]], shape: Shape) -> list[str]:
    """The columns of a table of this shape, for rows whose columns are in other slots."""
    columns = [TAG]
    for slot, type_ in zip(shape.layout.names, shape.layout.slots, strict=True):
        values = {
            tag: names[shape.slots(tag).index(slot)]
            for tag, names in slots.items()
            if tag in shape.tags and slot in shape.slots(tag)
        }
        columns.append(f"{by_tag(values, f'CAST(NULL AS {spark_type(type_)})')} AS {slot}")
    return [*columns, FROM, TO, DIFF]


@dataclass(frozen=True, slots=True)
class _Known:
    """The table of what enters, and what of it need not travel, for it is known."""

    dataflow: Dataflow

    @property
    def routes(self) -> tuple[Route, ...]:
        return self.dataflow.lowered.stages.entering

    @property
    def shape(self) -> Shape:
        return Shape.of({route.tag: route.schema for route in self.routes})

    @property
    def repeats(self) -> bool:
        """Whether many of the changes that the sources make are equal."""
        return all(route.repeats for route in self.routes)

    @property
    def lengths(self) -> dict[int, int]:
        """How long the changes of each route last, if that is fixed for all of them."""
        if any(route.stage > 1 for route in self.routes):
            return {}
        lengths = {route.tag: route.pipe.length_us for route in self.routes}
        fixed = {tag: length for tag, length in lengths.items() if length is not None}
        return fixed if len(fixed) == len(lengths) else {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that need not enter."""
        waits = any(route.stage > 1 for route in self.routes)
        return (*([TO] if self.lengths else []), *([] if self.repeats or waits else [DIFF]))

    def entering(self, refused: bool) -> list[str]:
        """The columns that the first stage reads: what is the same for all rows stays behind."""
        shape = self.shape
        here = [route.tag for route in self.routes if route.stage == 1]
        tags = [*here, UNUSED] if refused else here
        slots = {slot for tag in tags for slot in shape.slots(tag)}
        used = [name for name in shape.layout.names if name in slots]
        tag = [TAG] if len(shape.tags) != 3 or refused else []
        times = [name for name in (FROM, TO, DIFF) if name not in self.columns]
        return [*tag, *used, *times]

    def renamed(self, routes: Sequence[Route], shape: Shape) -> list[str]:
        """The waiting rows of some routes, as a later stage has them."""
        return _renamed({route.tag: self.shape.slots(route.tag) for route in routes}, shape)


@dataclass(frozen=True, slots=True)
class SparkTask:
    """A task as a worker of Spark runs it, on the rows of its partition."""

    task: StageTask
    before: Shape
    after: Shape | None
    lengths: Mapping[int, int] = field(default_factory=dict)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of the next exchange; behind the last stage, what all tasks have to say."""
        by_tag = _by_tag(self.before.gathered(batches, self.lengths), self.before)
        shard = Shard(self.task.place, shard_of_task())
        sent, said = self.task.run(self._arrived(by_tag), shard)
        if DESCRIPTION in by_tag:
            said = [*self.before.text_of(by_tag[DESCRIPTION], DESCRIPTION), *said]
        if self.after is None:
            yield pa.RecordBatch.from_pydict({"text": pa.array(said, pa.string())})
            return
        carried = {
            tag: self.before.changes(by_tag[tag], tag)
            for tag in by_tag
            if tag >= 0 and tag in self.after.tags
        }
        for tag, changes in {**carried, **sent}.items():
            yield from self.after.rows(tag, changes).combine_chunks().to_batches()
        texts = self.after.texts(DESCRIPTION, said)
        yield from self.after.wide(DESCRIPTION, texts).combine_chunks().to_batches()

    def _arrived(self, by_tag: Mapping[int, Any]) -> dict[int, Any]:
        arrived = {tag: self.before.changes(rows, tag) for tag, rows in by_tag.items() if tag >= 0}
        if UNUSED in by_tag:
            rows = by_tag[UNUSED]
            arrived[UNUSED] = unused_rows(self.before.text_of(rows, UNUSED), rows.column(DIFF))
        return arrived


_SETTLING = 8
_tasks = count()


def shard_of_task() -> int:
    """The shard that this task is: the number of its partition."""
    from pyspark import TaskContext

    _settle()
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _settle() -> None:
    """Spares the collector of garbage what this process has loaded and keeps for good.

    Spark collects after every task, and the next one waits for it: with all modules in sight that
    takes longer than a small step's own work.
    """
    if next(_tasks) < _SETTLING:
        gc.freeze()


def _by_tag(rows: Any, shape: Shape) -> dict[int, Any]:
    tags = rows.column(TAG).to_numpy()
    found: dict[int, Any] = {}
    for tag in shape.tags:
        mask = tags == tag
        if mask.all() and len(tags):
            found[tag] = rows
        elif mask.any():
            found[tag] = rows.take(pa.array(np.flatnonzero(mask)))
    return found
