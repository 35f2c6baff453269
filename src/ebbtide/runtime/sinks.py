"""Where a query's changes go, step by step.

Law: a sink gets the output of every step after the step is committed, in order, and once more if a
crash came before it was noted that it had; so a sink that keeps what it gets under the step's
number has everything once.  A step's output is a DataFrame: the columns of the answer, then
``valid_from``, ``valid_to``, ``diff`` and ``step``.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ebbtide.errors import QueryError
from ebbtide.runtime.translation import sinking

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Foreach: TypeAlias = "Callable[[DataFrame, int], None]"
"""A function of the user's, called with a step's output and its number."""


class Sink(Protocol):
    """Takes the output of a step; taking the same step again changes nothing."""

    def write(self, frame: DataFrame, step: int) -> None:
        """Takes what a step emitted."""
        ...


@dataclass(frozen=True, slots=True)
class Noop:
    """Takes nothing, so that nothing is read for it."""

    def write(self, frame: DataFrame, step: int) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class Console:
    """Shows the changes of each step as a table."""

    rows: int = 20

    def write(self, frame: DataFrame, step: int) -> None:
        """Shows a step."""
        from sys import stdout

        stdout.write(f"step {step}\n")
        frame.drop("step").orderBy("valid_from", "valid_to").show(self.rows, truncate=False)


@dataclass(frozen=True, slots=True)
class Memory:
    """Keeps the changes of each step in this process."""

    steps: dict[int, list[Any]] = field(default_factory=dict)

    @property
    def rows(self) -> list[Any]:
        """The changes of all steps."""
        return [row for step in sorted(self.steps) for row in self.steps[step]]

    def write(self, frame: DataFrame, step: int) -> None:
        """Keeps a step."""
        self.steps[step] = frame.collect()


@dataclass(frozen=True, slots=True)
class Files:
    """Writes the changes of each step into a directory of its own, below ``path``.

    The step is the partition column of the files: Spark reads them all as one table.
    """

    path: str
    format: str = "parquet"

    def __post_init__(self) -> None:
        if self.format not in ("parquet", "json"):
            raise QueryError(
                "unknown-format",
                f"changes cannot be written as {self.format}",
                hint="parquet or json",
            )

    def write(self, frame: DataFrame, step: int) -> None:
        """Writes a step; what is there of it already is replaced."""
        writer = frame.drop("step").write.mode("overwrite").format(self.format)
        writer.save(os.path.join(self.path, f"step={step}"))


@dataclass(frozen=True, slots=True)
class Given:
    """Calls a function of the user's."""

    foreach: Foreach

    def write(self, frame: DataFrame, step: int) -> None:
        """Calls it with a step."""
        self.foreach(frame, step)


def sinks_of(given: Any) -> tuple[Sink, ...]:
    """The sinks that a user has named: a word, a sink, a function, or several of them."""
    match given:
        case None:
            return ()
        case "noop":
            return (Noop(),)
        case "console":
            return (Console(),)
        case list() | tuple():
            return tuple(sink for one in given for sink in sinks_of(one))
        case _ if hasattr(given, "write"):
            return (given,)
        case _ if callable(given):
            return (Given(given),)
        case _:
            raise QueryError(
                "unknown-sink",
                f"{given!r} is no sink",
                hint="'console', 'noop', Memory(), Files(path) or a function of (frame, step)",
            )


def _shown(sink: Sink) -> str:
    match sink:
        case Files(path=path):
            return f'Files("{path}")'
        case Given(foreach=foreach):
            return str(getattr(foreach, "__name__", foreach))
        case _:
            return type(sink).__name__


@dataclass(frozen=True, slots=True)
class Delivery:
    """Takes the output of steps to the sinks, and notes in a query's directory how far it came."""

    root: str
    sinks: tuple[Sink, ...] = ()

    @property
    def wants_rows(self) -> bool:
        """Whether some sink looks at the output."""
        return bool(self._wanting())

    @property
    def delivered(self) -> int:
        """The last step whose output all sinks have."""
        try:
            with open(f"{self.root}/delivered", encoding="utf-8") as file:
                return int(file.read())
        except FileNotFoundError:
            return -1

    def deliver(self, step: int, frame: Callable[[], DataFrame]) -> None:
        """Takes a step to the sinks that want rows, unless all of them have it."""
        wanting = self._wanting()
        if not wanting or step <= self.delivered:
            return
        output = frame()
        for sink in wanting:
            with sinking(os.path.basename(self.root), _shown(sink), step):
                sink.write(output, step)
        temporary = f"{self.root}/.{uuid.uuid4().hex}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(str(step))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, f"{self.root}/delivered")

    def _wanting(self) -> list[Sink]:
        return [sink for sink in self.sinks if not isinstance(sink, Noop)]
