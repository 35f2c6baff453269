"""Steps in this process: rows move from shard to shard in memory, and tasks run one by one.

Law: as of every transport; scalar expressions are evaluated on Arrow columns, as in Spark's tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.core.frontier import InputFrontier
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.routing import Entrance, Parcel, sent
from ebbtide.dataflow.shard import Shard
from ebbtide.dataflow.tasks import StageTask
from ebbtide.state.batch import concat

Shards = list[dict[int, list[Any]]]


@dataclass(frozen=True, slots=True)
class LocalTransport:
    """Carries the rows of a program; what arrives is an Arrow table for each source's number."""

    dataflow: Dataflow

    def enter(self, arrived: Mapping[int, Any], before: tuple[InputFrontier, ...]) -> LocalEntered:
        """Judges the rows and takes them to their shards."""
        entrance = Entrance.of(self.dataflow, before)
        shards: Shards = [defaultdict(list) for _ in range(self.dataflow.shards)]
        observed, refused = [], False
        for source in range(len(before)):
            judged, found = entrance.enter(source, arrived.get(source, entrance.empty(source)))
            observed.append(judged.observed)
            refused = refused or bool(judged.refused)
            _deliver(found, shards)
        return LocalEntered(self.dataflow, shards, Seen(tuple(observed), refused))


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
        # A step may be run again: what its tasks send is not among the rows that entered.
        shards: Shards = [
            defaultdict(list, {tag: list(tables) for tag, tables in rows.items()})
            for rows in self.shards
        ]
        for stage, task in enumerate(tasks, 1):
            leaving: list[Parcel] = []
            for number, rows in enumerate(shards):
                here = {
                    tag: concat(tables, tables[0].schema)
                    for tag, tables in rows.items()
                    if (tag < 0 and stage == 1) or (tag >= 0 and routes[tag].stage == stage)
                }
                made, told = task.run(here, Shard(task.place, number))
                for tag, changes in made.items():
                    leaving += sent(routes[tag], changes, self.dataflow.shards)
                said += told
            _deliver(leaving, shards)
        return said


def _deliver(found: Iterable[Parcel], shards: Shards) -> None:
    for parcel in found:
        shards[parcel.shard][parcel.tag].append(parcel.rows)
