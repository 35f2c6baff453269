"""The parts of a stage's work: operators, what each of their inputs takes, and cycles of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ebbtide.compile.stages import Origin
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.shard import Job
from ebbtide.kernels.operators.input_archive import archive_layout
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, cancel, row_types, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import times_of
from ebbtide.state.segment import Segment
from ebbtide.state.store import DirectoryStore, WriteScope


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
class Gone:
    """Up to which instants operators have let rows of a source go, by the columns of its times."""

    source: str
    lines: tuple[tuple[str, int, Instant], ...]
    """Of each time its name, its column and the instant."""

    def mask(self, changes: Any) -> Any:
        """Which changes are about rows that are gone: they are to be replayed."""
        found = np.zeros(changes.num_rows, np.bool_)
        for _, column, instant in self.lines:
            if instant > NEG_INF:
                found |= times_of(changes, column) <= instant
        return found


@dataclass(frozen=True, slots=True)
class TaskOperator:
    """An operator of the stage, by its number in the plan.

    ``gone`` is set for the admission and the archive of a source that can be replayed.
    """

    number: int
    job: Job
    inputs: tuple[Input, ...]
    gone: Gone | None = None


@dataclass(frozen=True, slots=True)
class TaskArchived:
    """In a replay, what an archive holds of a source, in the place of the source's admission.

    ``columns`` are how many more the admission emits; they say something of unused rows alone.
    """

    number: int
    archive: GivenRows
    columns: int

    def made(self, shard: int) -> Any:
        """The changes that the admission has made since, in a shard."""
        changes = self.archive.shards[shard]
        types = row_types(changes.schema)
        rows = [changes.column(i) for i in range(len(types))]
        nothing = [pa.nulls(changes.num_rows, pa.string())] * self.columns
        times = [changes.column(name) for name in (FROM, TO, DIFF)]
        schema = batch_schema([*types, *[pa.string()] * self.columns])
        return pa.Table.from_arrays([*rows, *nothing, *times], schema=schema)


@dataclass(frozen=True, slots=True)
class GivenRows:
    """Some changes of a source, by their shards."""

    shards: tuple[Any, ...]

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(changes.num_rows for changes in self.shards)


@dataclass(frozen=True, slots=True)
class ArchivedRows:
    """The changes of a source that came after a step, as its archive holds them in each shard.

    Those that are ``gone`` were replayed without that step's state.
    """

    store: DirectoryStore
    schema: Any
    shards: tuple[Any, ...]
    since: int
    gone: Gone

    def given(self) -> GivenRows:
        """All of them."""
        return GivenRows(tuple(map(self._of, range(len(self.shards)))))

    def _of(self, shard: int) -> Any:
        """Those in a shard, net."""
        width = len(row_types(self.schema))
        layout = archive_layout(self.schema)
        (described,) = self.shards[shard]
        area = SweepArea.restore(layout, described, WriteScope(self.store))
        stored = area.everything()
        late = where(stored, ints(stored, f"c{width}") > self.since)
        late = late.drop_columns([f"c{width}"]).cast(self.schema)
        return cancel(where(late, ~self.gone.mask(late)))

    @property
    def rows(self) -> int:
        """How many changes the archive has, whenever they came."""
        return sum(
            Segment.restore(values).rows for (described,) in self.shards for values in described
        )


@dataclass(frozen=True, slots=True)
class TaskCycle:
    """A recursion of the stage, and the operators by which its rows follow from one another.

    Of those that are ``seen``, what they make is taken outside of the cycle as well.
    """

    recursion: TaskOperator
    members: tuple[TaskOperator, ...]
    seen: frozenset[int] = frozenset()


TaskOperation: TypeAlias = TaskOperator | TaskCycle | TaskArchived
