"""Steps in this process: rows move from shard to shard in memory, and tasks run one by one.

Law: as of every transport; scalar expressions are evaluated on Arrow columns, as in Spark's tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.columnar import Columnar
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.stages import Route
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import INF, NEG_INF
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.plan import Dataflow, entering_sources
from ebbtide.dataflow.shard import Shard
from ebbtide.dataflow.tags import UNUSED
from ebbtide.dataflow.tasks import StageTask, unused_rows
from ebbtide.local.entry import judge
from ebbtide.state.batch import batch_schema, concat, key_hash
from ebbtide.state.types import arrow_type

Shards = list[dict[int, list[Any]]]


@dataclass(frozen=True, slots=True)
class LocalTransport:
    """Carries the rows of a program; what arrives is an Arrow table for each source's number."""

    dataflow: Dataflow

    def enter(self, arrived: Mapping[int, Any], before: tuple[InputFrontier, ...]) -> LocalEntered:
        """Judges the rows and takes them to their shards."""
        lowered = self.dataflow.lowered
        routes = entering_sources(lowered)
        shards: Shards = [defaultdict(list) for _ in range(self.dataflow.shards)]
        observed, refused = [], []
        for source, declaration in enumerate(lowered.declarations):
            given = arrival_schema(declaration)
            schema = batch_schema([arrow_type(column.type) for column in given])
            rows = arrived.get(source, schema.empty_table().select(range(len(given))))
            judged = judge(declaration, before[source], rows)
            observed.append(judged.observed)
            refused += judged.refused
            changes = _facts(judged.accepted, schema)
            for tag in routes[source]:
                self._send(lowered.stages.routes[tag], changes, given, shards)
        if refused:
            ones = pa.array(np.ones(len(refused), np.int64))
            shards[0][UNUSED].append(unused_rows(refused, ones))
        return LocalEntered(self.dataflow, shards, Seen(tuple(observed), bool(refused)))

    def _send(self, route: Route, changes: Any, given: Any, shards: Shards) -> None:
        pipe = TaskPipe.of(route.pipe, given)
        places = [_place(route, key) for key in route.keys]
        made = pipe(changes)
        if None not in places:
            _spread(route.tag, made, places, shards)
            return
        # Keys that the route does not carry are looked at before its pipe, row by row.
        keys = [Columnar(key, given)(changes) for key in route.keys]
        table = pa.Table.from_arrays(keys, names=[f"k{i}" for i in range(len(keys))])
        goes = key_hash(table, range(len(keys))) % np.uint64(len(shards))
        for number, shard in enumerate(shards):
            shard[route.tag].append(pipe(changes.filter(pa.array(goes == number))))


@dataclass(frozen=True, slots=True)
class LocalEntered:
    """The rows of a step by their shards and tags."""

    dataflow: Dataflow
    shards: Shards
    seen: Seen

    def run(self, tasks: Sequence[StageTask]) -> list[str]:
        """Runs all tasks, stage by stage."""
        routes = self.dataflow.lowered.stages.routes
        said: list[str] = []
        for stage, task in enumerate(tasks, 1):
            sent: list[tuple[int, Any]] = []
            for number, rows in enumerate(self.shards):
                here = {
                    tag: concat(tables, tables[0].schema)
                    for tag, tables in rows.items()
                    if (tag < 0 and stage == 1) or (tag >= 0 and routes[tag].stage == stage)
                }
                made, told = task.run(here, Shard(task.place, number))
                sent += made.items()
                said += told
            for tag, changes in sent:
                places = [_place(routes[tag], key) for key in routes[tag].keys]
                _spread(tag, changes, places, self.shards)
        return said


def _facts(rows: Any, schema: Any) -> Any:
    """Rows as they arrive: there once, at all times."""
    times = [pa.repeat(pa.scalar(t, pa.int64()), rows.num_rows) for t in (NEG_INF, INF, 1)]
    return pa.Table.from_arrays([*rows.columns, *times], schema=schema)


def _place(route: Route, key: Any) -> Any:
    """The column of a route that holds a key, if one does."""
    return route.pipe.columns.index(key) if key in route.pipe.columns else None


def _spread(tag: int, changes: Any, keys: Sequence[int], shards: Shards) -> None:
    """Changes to the shards of their keys; those without keys are all in the first."""
    hashes = key_hash(changes, keys) if keys else np.zeros(changes.num_rows, np.uint64)
    goes = hashes % np.uint64(len(shards))
    for number, shard in enumerate(shards):
        mine = changes.filter(pa.array(goes == number))
        if mine.num_rows:
            shard[tag].append(mine)
