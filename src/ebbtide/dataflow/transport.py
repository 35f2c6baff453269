"""What carries rows in a step: into the first exchange, from stage to stage, and through tasks.

Law: all transports give a task the same rows of a shard's, in any order, and run it once for every
shard, with rows or without; rows with equal keys of a route are in one shard, which is the same in
every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ebbtide.core.frontier import InputFrontier
from ebbtide.dataflow.observation import Seen
from ebbtide.dataflow.tasks import StageTask


class Entered(Protocol):
    """The rows of a step behind the first exchange, judged, and there to stay."""

    @property
    def seen(self) -> Seen:
        """What they showed on their way."""
        ...

    def run(self, tasks: Sequence[StageTask]) -> list[str]:
        """Runs the tasks of all stages on them, and gives what these have to say."""
        ...


class Transport(Protocol):
    """Moves the rows of a program's steps; what arrives is a table of its own kind."""

    def enter(self, arrived: Any, before: tuple[InputFrontier, ...]) -> Entered:
        """Judges rows by the frontiers before the step, and takes them to their shards."""
        ...
