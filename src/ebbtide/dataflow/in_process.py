"""Rows on their way from shard to shard in this process.

Law: as of every transport; tasks run one by one, stage by stage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.routing import Parcel, sent
from ebbtide.dataflow.shard import Shard
from ebbtide.dataflow.tasks import StageTask
from ebbtide.state.batch import concat

Shards: TypeAlias = list[dict[int, list[Any]]]
"""The rows in each shard, by their tags."""

Work: TypeAlias = Callable[
    [StageTask, Mapping[int, Any], Shard], tuple[Mapping[int, Any], list[str]]
]


def no_rows(dataflow: Dataflow) -> Shards:
    """Shards to which nothing has come."""
    return [defaultdict(list) for _ in range(dataflow.shards)]


def deliver(found: Iterable[Parcel], shards: Shards) -> None:
    """Takes rows to their shards."""
    for parcel in found:
        shards[parcel.shard][parcel.tag].append(parcel.rows)


def run_stages(
    dataflow: Dataflow, entered: Shards, tasks: Sequence[StageTask], work: Work
) -> list[str]:
    """Runs all tasks on rows that have entered, and gives what they have to say."""
    routes = dataflow.lowered.stages.routes
    said: list[str] = []
    # A step may be run again: what its tasks send is not among the rows that entered.
    shards: Shards = [
        defaultdict(list, {tag: list(tables) for tag, tables in rows.items()}) for rows in entered
    ]
    for stage, task in enumerate(tasks, 1):
        leaving: list[Parcel] = []
        for number, rows in enumerate(shards):
            here = {
                tag: concat(tables, tables[0].schema)
                for tag, tables in rows.items()
                if (tag < 0 and stage == 1) or (tag >= 0 and routes[tag].stage == stage)
            }
            made, told = work(task, here, Shard(task.place, number))
            for tag, changes in made.items():
                leaving += sent(routes[tag], changes, dataflow.shards)
            said += told
        deliver(leaving, shards)
    return said
