"""Programs in this process, for tests that speak of plans and arrivals rather than of SQL and rows.

All of it is the engine's own: the in-process transport, its stages, tasks, state and manifests.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
from tests.histories import Fed

from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.lowering import Lowered
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change
from ebbtide.core.time import Instant
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.rescaling import rescaled
from ebbtide.dataflow.step import Stepper
from ebbtide.errors import UnsupportedError
from ebbtide.local.host import arrived_table
from ebbtide.local.transport import LocalTransport
from ebbtide.state.batch import to_changes
from ebbtide.state.store import DirectoryStore
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests


@dataclass
class InProcess:
    """Runs the steps of one lowered program."""

    lowered: Lowered
    root: str
    shards: int
    collects: bool = True
    version: int = 0

    def step(
        self, fed: Mapping[str, Fed], clock: Instant | None = None, revise: int = 0
    ) -> Manifest:
        """One step, committed."""
        flow = Dataflow(self.lowered, self.shards)
        stepper = Stepper(flow, LocalTransport(flow), self.root, collects=self.collects)
        arrived, advances = {}, {}
        for source, declaration in enumerate(self.lowered.declarations):
            given = fed.get(declaration.name, Fed())
            rows = [
                (*a.row, None if a.op is None else a.op.value, a.offset, None)
                for a in self._arrivals(source, given)
            ]
            arrived[source] = arrived_table(arrival_schema(declaration), rows)
            if given.advance is not None:
                advances[source] = given.advance
        manifest = stepper.step(self.version, arrived, Given(advances, clock, revise=revise))
        self.version += 1
        return manifest

    def rescale(self, shards: int) -> None:
        """Cuts the state into other shards, if there is any, and if its rows tell where to."""
        if self.version:
            latest = Journal(self.root).latest()
            assert latest is not None
            with suppress(UnsupportedError):
                flow = Dataflow(self.lowered, self.shards)
                after = rescaled(flow, self.root, latest, shards)
                Manifests(DirectoryStore(f"{self.root}/state")).commit(after)
                self.shards, self.version = shards, after.version + 1

    def emitted(self, manifest: Manifest, view: str | None = None) -> tuple[Change, ...]:
        """What a step emitted of a view, or of the only one, from its files."""
        views = (name for name in manifest.record.output if "@" not in name)
        (name,) = views if view is None else (view,)
        files = [written.file for written in manifest.record.output[name]]
        return tuple(change for file in files for change in to_changes(self._read(file)))

    def unused(self, manifest: Manifest) -> list[tuple[Any, ...]]:
        """The rows that a step left unused: source, reason, row, operation and diff."""
        files = [written.file for written in manifest.record.unused]
        return [tuple(row.values()) for file in files for row in self._read(file).to_pylist()]

    def _read(self, file: str | None) -> Any:
        return pq.ParquetFile(f"{self.root}/{file}").read()

    def _arrivals(self, source: int, fed: Fed) -> tuple[Arrival, ...]:
        given = dict(self.lowered.given)
        if source in given and self.version == 0:
            rows = given[source].rows
            return tuple(Arrival(Op.INSERT, row, i) for i, row in enumerate(rows))
        return fed.arrivals
