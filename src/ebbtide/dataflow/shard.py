"""One shard's part of the state in a step.

Law: an operator's areas are those that the manifest of the version before describes; what a kernel
leaves behind is described once, for the manifest of this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

from ebbtide.dataflow.timings import Timings
from ebbtide.kernels.kernel import Kernel, Result, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.store.manifest import Manifests


@dataclass(frozen=True, slots=True)
class StatePlace:
    """Where a query's state is, and which version a step makes of it."""

    root: str
    version: int

    def store(self) -> DirectoryStore:
        """The store of the segments."""
        return DirectoryStore(f"{self.root}/state")


@dataclass(frozen=True, slots=True)
class Job:
    """The part of an operator in a step: its kernel and its frontiers."""

    name: str
    kernel: Kernel
    times: Times


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

    def step(self, job: Job, inputs: tuple[Any, ...]) -> tuple[Result, str]:
        """The step of an operator, and the description of what it leaves behind."""
        scope = WriteScope(self.store, job.name, self.number, self.place.version)
        layouts = job.kernel.areas(tuple(table.schema for table in inputs))
        shards = self._previous.get(job.name)
        described = shards[self.number] if shards else [[] for _ in layouts]
        areas = tuple(
            SweepArea.restore(layout, segments, scope)
            for layout, segments in zip(layouts, described, strict=True)
        )
        began = perf_counter()
        with at_work(job.name):
            result = job.kernel.step(inputs, areas, replace(job.times, owner=self.number == 0))
        timings = Timings(self.place.root, self.place.version)
        timings.tell(job.name, self.number, perf_counter() - began)
        return result, self._description(job, inputs, areas, result)

    @cached_property
    def _previous(self) -> Mapping[str, tuple[tuple[Any, ...], ...]]:
        if self.place.version == 0:
            return {}
        manifest = Manifests(self.store).load(self.place.version - 1)
        self.store.forget_before(self.place.version, manifest.segments())
        return manifest.areas

    def _description(
        self, job: Job, inputs: tuple[Any, ...], before: tuple[SweepArea, ...], result: Result
    ) -> str:
        known = {segment.name for area in before for segment in area.segments}
        segments = [segment for area in result.areas for segment in area.segments]
        return json.dumps(
            {
                "operator": job.name,
                "shard": self.number,
                "areas": [area.describe() for area in result.areas],
                "rows_in": sum(table.num_rows for table in inputs),
                "rows_out": result.changes.num_rows,
                "rows_stored": sum(segment.rows for segment in segments),
                "rows_expired": sum(area.expired for area in result.areas),
                "bytes_stored": sum(segment.bytes for segment in segments),
                "bytes_written": sum(s.bytes for s in segments if s.name not in known),
            }
        )
