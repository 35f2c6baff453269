"""Steps in this process: rows move from shard to shard in memory, and tasks run one by one.

Law: as of every transport; scalar expressions are evaluated on Arrow columns, as in Spark's tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.core.frontier import InputFrontier
from ebbtide.dataflow.in_process import Shards, deliver, no_rows, run_stages
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.routing import Entrance
from ebbtide.dataflow.tasks import StageTask


@dataclass(frozen=True, slots=True)
class LocalTransport:
    """Carries the rows of a program; what arrives is an Arrow table for each source's number."""

    dataflow: Dataflow

    def enter(self, arrived: Mapping[int, Any], before: tuple[InputFrontier, ...]) -> LocalEntered:
        """Judges the rows and takes them to their shards."""
        entrance = Entrance.of(self.dataflow, before)
        shards = no_rows(self.dataflow)
        observed, refused = [], False
        for source in range(len(before)):
            judged, found = entrance.enter(source, arrived.get(source, entrance.empty(source)))
            observed.append(judged.observed)
            refused = refused or bool(judged.refused)
            deliver(found, shards)
        return LocalEntered(self.dataflow, shards, Seen(tuple(observed), refused))


@dataclass(frozen=True, slots=True)
class LocalEntered:
    """The rows of a step by their shards and tags."""

    dataflow: Dataflow
    shards: Shards
    seen: Seen

    def run(self, tasks: Sequence[StageTask]) -> list[str]:
        """Runs all tasks, stage by stage."""
        return run_stages(self.dataflow, self.shards, tasks, StageTask.run)
