"""Steps on Spark: two jobs, whose exchanges are Spark's and whose tasks run in its Python workers.

Law: job 1 judges the rows of sources, observes them on their way and fills the first exchange;
job 2 runs the kernels on it, stage by stage.  Every task of a stage runs, with rows or without:
what Spark's optimizer cannot see into it cannot leave out.  What travels is parcels, which only
tasks open.  Those of sources for a later stage wait in the first exchange and join the parcels of
that stage's own exchange, partition by partition.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.compile.stages import Route
from ebbtide.core.frontier import InputFrontier
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.routing import Entrance, sent
from ebbtide.dataflow.shard import Shard
from ebbtide.dataflow.tags import DESCRIPTION
from ebbtide.dataflow.tasks import StageTask, in_order
from ebbtide.spark.batch_shares import BatchShares
from ebbtide.spark.entry import Entry, number_of_task
from ebbtide.spark.exchange import (
    COLUMNS,
    SHARD,
    batches_of,
    opened,
    packed,
    said,
    unpacked,
)
from ebbtide.spark.private import filled, zipped
from ebbtide.spark.session import unsized_batches
from ebbtide.spark.shelf import Shelf, cleared_by_failure
from ebbtide.spark.tagged_rows import TAG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SparkTransport:
    """Carries the rows of a program; what arrives is a DataFrame in the shape of its entry, or
    files that tasks read, and nothing else."""

    spark: SparkSession
    dataflow: Dataflow

    def enter(
        self, arrived: DataFrame | BatchShares, before: tuple[InputFrontier, ...]
    ) -> SparkEntered:
        """Job 1: judges the rows and takes them to their shards."""
        entry, shelf = Entry(self.dataflow.lowered), Shelf.of_step(self.spark)
        entrance = Entrance.of(self.dataflow, before)
        sized = unsized_batches(self.spark) if entry.has_fixed_rows else nullcontext()
        with cleared_by_failure(shelf), sized:
            parcels = entry.packed(self.spark, arrived, entrance, copy(shelf))
            exchanged = parcels.repartitionById(self.dataflow.shards, SHARD)
            frozen, metrics = filled(self.spark, exchanged)
        seen = entry.seen(arrived, before, metrics, shelf)
        return SparkEntered(self.spark, self.dataflow, frozen, shelf, seen)


@dataclass(frozen=True, slots=True)
class SparkEntered:
    """The first exchange, filled."""

    spark: SparkSession
    dataflow: Dataflow
    parcels: DataFrame
    shelf: Shelf | None
    """Where large parcels are, for as long as this is here."""
    seen: Seen

    def run(self, tasks: Sequence[StageTask]) -> list[str]:
        """Job 2: all stages, and what their tasks have to say."""
        with cleared_by_failure(self.shelf):
            return self._run(tasks)

    def _run(self, tasks: Sequence[StageTask]) -> list[str]:
        stages = self.dataflow.lowered.stages
        parcels = self._first()
        for stage, task in enumerate(tasks, 1):
            if stage > 1:
                parcels = self._exchanged(stage, parcels)
            if stage == stages.count:
                texts = parcels.mapInArrow(LastTask(task), "text STRING")
                return [row.text for row in texts.collect()]
            on = tuple(route for route in stages.routes if route.stage > stage)
            sending = SendingTask(task, on, self.dataflow.shards, copy(self.shelf))
            parcels = parcels.mapInArrow(sending, COLUMNS)
        raise AssertionError("a step has a last stage")

    def _first(self) -> DataFrame:
        stages = self.dataflow.lowered.stages
        if all(route.stage == 1 for route in stages.entering):
            return self.parcels
        return self.parcels.where(f"{TAG} < 0 OR {_among(stages.arriving(1))}")

    def _exchanged(self, stage: int, before: DataFrame) -> DataFrame:
        """The parcels of a stage: from the stages before it, and those of sources that wait."""
        exchanged = before.repartitionById(self.dataflow.shards, SHARD)
        entering = self.dataflow.lowered.stages.entering
        waiting = [route for route in entering if route.stage == stage]
        if not waiting:
            return exchanged
        chosen = self.parcels.where(_among(waiting))
        return zipped(self.spark, exchanged, chosen, self.dataflow.shards)


def _among(routes: Sequence[Route]) -> str:
    tags = ", ".join(str(route.tag) for route in routes)
    return f"{TAG} IN ({tags})" if tags else "FALSE"


@dataclass(frozen=True, slots=True)
class LastTask:
    """A task of the last stage, as a worker of Spark runs it on the parcels of its partition."""

    task: StageTask

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """What all tasks have to say, of this stage and of those before it."""
        bodies = unpacked(batches)
        _, told = _run(self.task, bodies, shard_of_task())
        texts = [*_texts(bodies), *told]
        yield pa.RecordBatch.from_pydict({"text": pa.array(texts, pa.string())})


@dataclass(frozen=True, slots=True)
class SendingTask:
    """A task of an earlier stage; ``on`` are the routes that lead to later ones."""

    task: StageTask
    on: tuple[Route, ...]
    shards: int
    shelf: Shelf | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Parcels for the stages after it, those of the stages before among them."""
        bodies, shard = unpacked(batches), shard_of_task()
        routes = {route.tag: route for route in self.on}
        here = {tag: found for tag, found in bodies.items() if tag not in routes}
        made, told = _run(self.task, here, shard)
        carried = (
            (tag, shard, body.to_pybytes()) for tag in routes for body in bodies.get(tag, ())
        )
        # Spark compares the parcels of a task that is repeated, for which rows come in any order.
        leaving = (
            parcel
            for tag, rows in made.items()
            for parcel in sent(routes[tag], in_order(rows), self.shards)
        )
        texts = sorted([*_texts(bodies), *told])
        yield from batches_of(chain(carried, packed(leaving, self.shelf), [said(texts)]))


def _run(
    task: StageTask, bodies: Mapping[int, list[Any]], shard: int
) -> tuple[dict[int, Any], list[str]]:
    arrived = {tag: opened(found) for tag, found in bodies.items() if tag != DESCRIPTION}
    return task.run(arrived, Shard(task.place, shard))


def _texts(bodies: Mapping[int, list[Any]]) -> list[str]:
    """What tasks of earlier stages have said."""
    if DESCRIPTION not in bodies:
        return []
    texts: list[str] = opened(bodies[DESCRIPTION]).column("text").to_pylist()
    return texts


_SETTLING = 8
_tasks = count()


def shard_of_task() -> int:
    """The shard that this task is: the number of its partition."""
    _settle()
    return number_of_task()


def _settle() -> None:
    """Spares the collector of garbage what this process has loaded and keeps for good.

    Spark collects after every task, and the next one waits for it: with all modules in sight that
    takes longer than a small step's own work.
    """
    if next(_tasks) < _SETTLING:
        gc.freeze()
