"""The parts of a stage's work: operators, what each of their inputs takes, and cycles of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.compile.stages import Origin
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.shard import Job


@dataclass(frozen=True, slots=True)
class Take:
    """Where an input gets changes from, and the pipe that they come through."""

    origin: Origin
    pipe: TaskPipe | None

    def piped(self, changes: Any) -> Any:
        """Changes of its origin, behind its pipe."""
        return changes if self.pipe is None else self.pipe(changes)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an operator or an output: all that it takes, and the schema of its changes."""

    takes: tuple[Take, ...]
    schema: Any
    net: bool = False
    """Whether what comes is net already."""


@dataclass(frozen=True, slots=True)
class TaskOperator:
    """An operator of the stage, by its number in the plan."""

    number: int
    job: Job
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class TaskCycle:
    """A recursion of the stage, and the operators by which its rows follow from one another."""

    recursion: TaskOperator
    members: tuple[TaskOperator, ...]
