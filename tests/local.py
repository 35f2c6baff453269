"""Steps without Spark: the engine's own stages, tasks, state and manifests, in this process.

What Spark does between kernels, judging rows, evaluating pipes and moving rows to their shards, is
done here row by row, with the naive evaluator.
"""

from __future__ import annotations

import json
from binascii import crc32
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from tests.histories import Fed

from ebbtide.core.admission import Arrival, Op, Reason
from ebbtide.core.admission.refusal import refusal, times_of
from ebbtide.core.change import Change
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.kernel import Times
from ebbtide.reference.scalar import evaluator
from ebbtide.runtime.archive import Archive
from ebbtide.runtime.arrivals import Arrivals, Seen
from ebbtide.runtime.exchange import Passage
from ebbtide.runtime.frontiers import restored
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.linear import VALID_FROM, VALID_TO
from ebbtide.runtime.lowering import Lowered
from ebbtide.runtime.physical import OUTPUT
from ebbtide.runtime.record import Record, Step
from ebbtide.runtime.shape import SHARD, TAG, UNUSED, Shape
from ebbtide.runtime.staging import Moment, Staging
from ebbtide.runtime.state import Place, Shard
from ebbtide.state.batch import from_changes, to_changes
from ebbtide.state.manifest import Manifest, Manifests


@dataclass
class LocalRunner:
    """Runs the steps of one lowered query."""

    lowered: Lowered
    root: str
    shards: int
    collects: bool = True
    version: int = 0
    frontiers: tuple[InputFrontier, ...] = field(default_factory=tuple)

    @property
    def staging(self) -> Staging:
        return Staging(self.lowered.physical, self.shards)

    def step(self, fed: Mapping[str, Fed], clock: Instant | None = None) -> Manifest:
        """One step, committed."""
        manifests = Manifests(Place(self.root, self.version).store())
        previous = manifests.load(self.version - 1) if self.version else None
        manifests.start(self.version)
        manifests.sweep()
        declarations = self.lowered.declarations
        before = tuple(f.read(clock) for f in restored(previous, declarations))
        arrivals = {
            source: self._arrivals(source, fed.get(d.name, Fed()))
            for source, d in enumerate(declarations)
        }
        refused, admitted, after = [], {}, []
        for source, declaration in enumerate(declarations):
            judged = [(a, refusal(declaration, before[source], a)) for a in arrivals[source]]
            admitted[source] = [a for a, reason in judged if reason is None]
            refused += [(declaration.name, a, reason) for a, reason in judged if reason]
            times = [times_of(declaration, before[source], a) for a in admitted[source]]
            advance = fed.get(declaration.name, Fed()).advance
            after.append(before[source].commit(times, advance))
        moment = previous.details["now"] if previous else NEG_INF
        times = self.lowered.physical.times(before, tuple(after), moment)
        if not self.collects:
            times = uncollected(times)
        texts = self._run(admitted, refused, Moment(before, tuple(after), times))
        record = Record(self.version, self.shards, self.staging.names, texts)
        seen = Seen(tuple(after), {})
        manifest = record.manifest(seen, times[OUTPUT].now, Step(clock=clock), previous)
        manifests.commit(manifest)
        Journal(self.root).record(manifest)
        self.version += 1
        return manifest

    def emitted(self, manifest: Manifest) -> tuple[Change, ...]:
        """What a step emitted, from its files."""
        import pyarrow.parquet as pq

        paths = [Archive(self.root).path(w["file"]) for w in manifest.details["output"]]
        return tuple(change for path in paths for change in to_changes(pq.read_table(path)))

    def unused(self, manifest: Manifest) -> list[tuple[Any, ...]]:
        """The rows that a step left unused: source, reason, row, operation and diff."""
        import pyarrow.parquet as pq

        paths = [Archive(self.root).path(w["file"]) for w in manifest.details["unused"]]
        return [tuple(row.values()) for path in paths for row in pq.read_table(path).to_pylist()]

    def _arrivals(self, source: int, fed: Fed) -> Sequence[Arrival]:
        given = dict(self.lowered.given)
        if source in given and self.version == 0:
            return [Arrival(Op.INSERT, row, i) for i, row in enumerate(given[source].rows)]
        return fed.arrivals

    def _run(
        self,
        admitted: Mapping[int, Sequence[Arrival]],
        refused: Sequence[tuple[str, Arrival, Reason]],
        moment: Moment,
    ) -> list[Any]:
        place, staging = Place(self.root, self.version), self.staging
        stages, last = self.lowered.physical.stages, staging.last(place, moment)
        shards = self._entered(admitted, refused)
        for stage in range(1, stages + (last is None)):
            task = staging.stage(place, stage, moment)
            made = [
                pa.concat_tables(task.run(rows, Shard(place, i))) for i, rows in enumerate(shards)
            ]
            ready, passages = staging.ready(stage + 1), staging.passages(stage)
            parts = [passed(rows, task.after, ready, passages, self.shards) for rows in made]
            if stage < stages:
                shards = [pa.concat_tables(column) for column in zip(*parts, strict=True)]
            else:
                shards = [pa.concat_tables(part) for part in parts]
        output = last or staging.output(place, staging.ready(stages + 1), moment)
        said = [output.run(rows, Shard(place, i)) for i, rows in enumerate(shards)]
        return [json.loads(text) for batch in said for text in batch.column("text").to_pylist()]

    def _entered(
        self,
        admitted: Mapping[int, Sequence[Arrival]],
        refused: Sequence[tuple[str, Arrival, Reason]],
    ) -> list[Any]:
        arrivals = Arrivals(self.lowered.declarations, self.lowered.physical)
        entering, ready = arrivals.entering, self.staging.ready(1)
        tables = [entering.arrow.empty_table()]
        for tag, edge in enumerate(self.lowered.physical.edges):
            if tag not in entering.tags:
                continue
            rows = [
                Change((*a.row, a.op.value, a.offset, None), NEG_INF, INF)
                for a in admitted[edge.producer.source]
            ]
            schema = entering.changes(entering.arrow.empty_table(), tag).schema
            tables.append(entering.rows(tag, from_changes(rows, schema)))
        passages = {t: p for t, p in arrivals.passages().items() if t != UNUSED}
        shards = passed(pa.concat_tables(tables), entering, ready, passages, self.shards)
        unused = [
            json.dumps([name, reason.value, str(a.row), a.op and a.op.value])
            for name, a, reason in refused
        ]
        texts = ready.wide(UNUSED, ready.texts(UNUSED, unused))
        shards[0] = pa.concat_tables([shards[0], texts])
        return shards


def passed(
    table: Any, before: Shape, after: Shape, passages: Mapping[int, Passage], shards: int
) -> list[Any]:
    """The rows of the next table, by their shards."""
    found: list[list[Any]] = [[after.arrow.empty_table()] for _ in range(shards)]
    tags = table.column(TAG).to_numpy()
    for tag, passage in passages.items():
        rows = table.filter(pa.array(tags == tag))
        if passage.pipe is None:
            changes = before.changes(rows, tag)
            goes = np.array([0 if s is None else s for s in rows.column(SHARD).to_pylist()], int)
        else:
            changes, goes = _piped(rows, before, after, tag, passage, shards)
        for shard in range(shards):
            part = changes.filter(pa.array(goes == shard))
            part = after.rows(passage.tag, part)
            place = part.schema.get_field_index(SHARD)
            here = pa.repeat(pa.scalar(shard, pa.int32()), part.num_rows)
            found[shard].append(part.set_column(place, part.schema.field(place), here))
    return [pa.concat_tables(tables) for tables in found]


def _piped(
    rows: Any, before: Shape, after: Shape, tag: int, passage: Passage, shards: int
) -> tuple[Any, Any]:
    pipe = passage.pipe
    assert pipe is not None
    schema = Schema((*passage.given.columns, VALID_FROM.column, VALID_TO.column))
    conditions, columns, keys, ends = (
        [evaluator(expression, schema) for expression in expressions]
        for expressions in (
            pipe.conditions,
            pipe.columns,
            passage.keys,
            (pipe.valid_from, pipe.valid_to),
        )
    )
    changes, goes = [], []
    for change in to_changes(before.changes(rows, tag)):
        row = (*change.row, change.valid_from, change.valid_to)
        start, end = (compute(row) for compute in ends)
        if start is None or end is None or start >= end:
            continue
        if not all(condition(row) is True for condition in conditions):
            continue
        made = tuple(compute(row) for compute in columns)
        changes.append(Change(made, start, end, change.diff))
        key = repr([compute(row) for compute in keys])
        goes.append(crc32(key.encode()) % shards if keys else 0)
    target = after.changes(after.arrow.empty_table(), passage.tag).schema
    return from_changes(changes, target), np.array(goes, int)


def uncollected(times: Mapping[int, Times]) -> dict[int, Times]:
    """The times of operators that collect nothing: all that has come may still be touched."""
    return {number: its.uncollected for number, its in times.items()}
