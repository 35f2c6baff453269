"""One shard's part of the state in a step.

Law: an operator's areas are those that the manifest of the version before describes; what a kernel
leaves behind is described once, for the manifest of this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any

from ebbtide.core.structure import Structure
from ebbtide.dataflow.parts import stepped, stepped_singly
from ebbtide.dataflow.timings import Timings
from ebbtide.kernels.kernel import Kernel, Result, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, MemoryStore, SegmentStore, WriteScope
from ebbtide.store.manifest import Manifests

AREAS_OF_INPUTS = {"input": 0, "rows": 0, "left": 0, "right": 1}
"""The areas that hold the rows of an input as they are, and of which."""


@dataclass(frozen=True, slots=True)
class StatePlace:
    """Where a query's state is, and which version a step makes of it."""

    root: str
    version: int
    base: int | None = None
    """The version that it is made of: the one before, unless it is said."""

    @property
    def previous(self) -> int:
        """The version that it is made of; -1 is that before all steps."""
        return self.version - 1 if self.base is None else self.base

    def store(self) -> DirectoryStore:
        """The store of the segments."""
        return DirectoryStore(f"{self.root}/state", sync=True)


@dataclass(frozen=True, slots=True)
class ReadAreas:
    """The areas of an operator, by its name, to be read by another one in the same shard."""

    operator: str
    layouts: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """The part of an operator in a step: its kernel and its frontiers.

    A job ``by_instant`` may be cut in time (see `parts`); one that is ``uncompressed`` is cut
    wherever something comes, and says all of it.  ``structures`` are those of its inputs' areas.
    ``reads`` is another operator whose areas it reads, as they stood before the step.
    """

    name: str
    kernel: Kernel
    times: Times
    by_instant: bool = False
    uncompressed: bool = False
    structures: tuple[Structure, ...] = ()
    reads: ReadAreas | None = None

    def areas(self, inputs: tuple[Any, ...]) -> tuple[Layout, ...]:
        """The areas of its kernel, those of its inputs with their structures."""
        return tuple(self._structured(layout) for layout in self.kernel.areas(inputs))

    def _structured(self, layout: Layout) -> Layout:
        place = AREAS_OF_INPUTS.get(layout.name)
        if place is None or place >= len(self.structures):
            return layout
        return replace(layout, structure=self.structures[place])


@contextmanager
def at_work(operator: str) -> Iterator[None]:
    """Notes the operator at work on whatever is raised inside."""
    try:
        yield
    except Exception as error:
        error.add_note(f"operator: {operator}")
        raise


class Shard:
    """A shard of a query's state, as a task sees it."""

    def __init__(self, place: StatePlace, number: int) -> None:
        self.place = place
        self.number = number
        self.store = place.store()
        self.seconds: dict[str, float] = {}

    def finish(self) -> None:
        """Makes durable what was written, before any of it is described to others, and says how
        long operators took."""
        self.store.sync_names()
        Timings(self.place.root, self.place.version).tell(self.number, self.seconds)

    def step(self, job: Job, inputs: tuple[Any, ...]) -> tuple[Any, str]:
        """What an operator emits in a step, and the description of what it leaves behind."""
        opened = self.opened(job, tuple(table.schema for table in inputs), self.store)
        changes = opened.step(inputs, opened.times)
        return changes, opened.described()

    def opened(self, job: Job, inputs: tuple[Any, ...], store: SegmentStore) -> OpenOperator:
        """An operator with what it holds; ``inputs`` are the schemas, ``store`` is written to."""
        scope = WriteScope(store, job.name, self.number, self.place.version)
        areas = self._restored(job.name, job.areas(inputs), scope)
        reads = job.reads
        read = () if reads is None else self._restored(reads.operator, reads.layouts, scope)
        return OpenOperator(self, job, areas, job.kernel.output(inputs), read)

    def _restored(
        self, operator: str, layouts: tuple[Layout, ...], scope: WriteScope
    ) -> tuple[SweepArea, ...]:
        """The areas of an operator as the version before describes them."""
        shards = self._previous.get(operator)
        described = shards[self.number] if shards else [[] for _ in layouts]
        return tuple(
            SweepArea.restore(layout, segments, scope)
            for layout, segments in zip(layouts, described, strict=True)
        )

    @cached_property
    def _previous(self) -> Mapping[str, tuple[tuple[Any, ...], ...]]:
        if self.place.previous < 0:
            return {}
        manifest = Manifests(self.store).load(self.place.previous)
        self.store.forget_before(self.place.version, manifest.segments())
        return manifest.areas


class ScratchShard(Shard):
    """A shard whose state begins empty and goes with it."""

    def __init__(self, place: StatePlace, number: int) -> None:
        super().__init__(place, number)
        self.scratch = MemoryStore()

    def step(self, job: Job, inputs: tuple[Any, ...]) -> tuple[Any, str]:
        """What an operator emits; nothing is left behind."""
        opened = self.opened(job, tuple(table.schema for table in inputs), self.scratch)
        return opened.step(inputs, opened.times), ""

    def finish(self) -> None:
        """Nothing is written."""


class OpenOperator:
    """An operator at work in a shard: its areas, and how much has gone through it.

    Areas of another operator that it ``reads`` come behind its own.
    """

    def __init__(
        self,
        shard: Shard,
        job: Job,
        areas: tuple[SweepArea, ...],
        emits: Any,
        reads: tuple[SweepArea, ...] = (),
    ) -> None:
        self.shard = shard
        self.job = job
        version = shard.place.version
        self.times = replace(job.times, owner=shard.number == 0, step=version)
        self.known = {segment.name for area in areas for segment in area.segments}
        self.areas = areas
        self.reads = reads
        self.nothing = emits.empty_table()
        self.rows_in = self.rows_out = 0
        self.negatives_in = self.negatives_out = 0
        self.seconds = 0.0

    def step(self, inputs: tuple[Any, ...], times: Times) -> Any:
        """The changes that it makes of some more."""
        began = perf_counter()
        with at_work(self.job.name):
            kernel = self.job.kernel
            run = partial(stepped, kernel) if self.job.by_instant else kernel.step
            if self.job.uncompressed:
                run = partial(stepped_singly, kernel)
            result: Result = run(inputs, (*self.areas, *self.reads), times)
        self.seconds += perf_counter() - began
        self.areas = result.areas
        self.rows_in += sum(table.num_rows for table in inputs)
        self.rows_out += result.changes.num_rows
        self.negatives_in += sum(map(_negatives, inputs))
        self.negatives_out += _negatives(result.changes)
        return result.changes

    def described(self) -> str:
        """The description of what it leaves behind."""
        self.shard.seconds[self.job.name] = self.seconds
        segments = [segment for area in self.areas for segment in area.segments]
        return json.dumps(
            {
                "operator": self.job.name,
                "shard": self.shard.number,
                "areas": [area.describe() for area in self.areas],
                "rows_in": self.rows_in,
                "rows_out": self.rows_out,
                "negatives_in": self.negatives_in,
                "negatives_out": self.negatives_out,
                "rows_stored": sum(segment.rows for segment in segments),
                "rows_expired": sum(area.expired for area in self.areas),
                "bytes_stored": sum(segment.bytes for segment in segments),
                "bytes_written": sum(s.bytes for s in segments if s.name not in self.known),
            }
        )


def _negatives(changes: Any) -> int:
    """How many changes take something back."""
    return int((ints(changes, DIFF) < 0).sum())
