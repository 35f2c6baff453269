"""What a task of a stage does: the kernels of one shard, inside a Python worker of Spark.

Law: the result is a function of the multiset of the rows that come in, the version of the state
and the frontiers; a repeated task writes the same segments and yields the same rows.  For every
operator of the stage a task yields exactly one description.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.admission.kernel import Admission, split, texts
from ebbtide.runtime.archive import Archive
from ebbtide.runtime.shape import DESCRIPTION, SHARD, TAG, UNUSED, UNUSED_COLUMNS, Shape
from ebbtide.runtime.state import Job, Place, Shard
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, cancel, concat


@dataclass(frozen=True, slots=True)
class StageTask:
    """The work of one stage on one shard."""

    place: Place
    jobs: tuple[Job, ...]
    carried: tuple[int, ...]
    before: Shape
    after: Shape
    lengths: Mapping[int, int] = field(default_factory=dict)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of the next table."""
        rows = self.before.gathered(batches, self.lengths)
        for table in self.run(rows, Shard(self.place, shard_of_task())):
            yield from table.combine_chunks().to_batches()

    def run(self, rows: Any, shard: Shard) -> Iterator[Any]:
        """The work on the rows of a shard, as rows of the next table."""
        return (self.after.wide(tag, narrow) for tag, narrow in self.results(rows, shard))

    def results(self, rows: Any, shard: Shard) -> Iterator[tuple[int, Any]]:
        """What the rows of a shard come to, tag by tag, each with its own columns alone."""
        by_tag = _by_tag(rows, self.before)
        for job in self.jobs:
            inputs = tuple(self._input(by_tag, tags) for tags in job.inputs)
            result, description = shard.step(job, inputs)
            changes = result.changes
            if isinstance(job.kernel, Admission):
                changes, unused = split(changes)
                said = _said(job.kernel.declaration.name, unused)
                yield UNUSED, self.after.texts(UNUSED, said, unused.column(DIFF).to_pylist())
            for tag in job.emits:
                yield tag, self.after.narrow(tag, changes)
            yield DESCRIPTION, self.after.texts(DESCRIPTION, [description])
        for tag in (*self.carried, DESCRIPTION, UNUSED):
            if tag in by_tag:
                yield tag, self._carried(by_tag[tag], tag)

    def _carried(self, rows: Any, tag: int) -> Any:
        """Rows of a tag in the slots that they have next."""
        names = [*self.before.slots(tag), SHARD, FROM, TO, DIFF]
        return rows.select(names).rename_columns([*self.after.slots(tag), SHARD, FROM, TO, DIFF])

    def _input(self, by_tag: dict[int, Any], tags: tuple[int, ...]) -> Any:
        batches = [self.before.changes(by_tag[tag], tag) for tag in tags if tag in by_tag]
        schema = self.before.changes(self.before.arrow.empty_table(), tags[0]).schema
        return cancel(concat(batches, schema))


@dataclass(frozen=True, slots=True)
class OutputTask:
    """Writes what the query emits in a step, shard by shard, and says what was written.

    ``columns`` has, for each tag, which of its columns are the output's; ``job`` holds back what
    begins after ``now``.  Changes that are ``net`` as they come need not be netted.  Unless
    someone wants the output, it is only counted.
    """

    place: Place
    job: Job
    columns: tuple[tuple[int, tuple[int, ...]], ...]
    before: Shape
    writes: bool = True
    net: bool = False
    lengths: Mapping[int, int] = field(default_factory=dict)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Descriptions alone."""
        rows = self.before.gathered(batches, self.lengths)
        yield self.run(rows, Shard(self.place, shard_of_task()))

    def run(self, rows: Any, shard: Shard) -> Any:
        """The work on the rows of a shard."""
        return self.written(_by_tag(rows, self.before), shard)

    def written(self, by_tag: dict[int, Any], shard: Shard) -> Any:
        """Writes what there is of each tag, and says so."""
        archive = Archive(self.place.root)
        said = self._texts(by_tag)
        if UNUSED in by_tag:
            named = self._unused(by_tag[UNUSED])
            file = archive.write("unused", shard.number, self.place.version, named)
            told = {"unused": file, "rows": named.num_rows, "reasons": _reasons(named)}
            said.append(json.dumps(told))
        result, description = shard.step(self.job, (self._output(by_tag),))
        said.append(description)
        if self.writes and result.changes.num_rows:
            file = archive.write("output", shard.number, self.place.version, result.changes)
            said.append(json.dumps({"output": file, "rows": result.changes.num_rows}))
        return pa.RecordBatch.from_pydict({"text": pa.array(said, pa.string())})

    def _output(self, by_tag: dict[int, Any]) -> Any:
        nothing = self.before.arrow.empty_table()
        found = []
        for tag, columns in self.columns:
            changes = self.before.changes(by_tag.get(tag, nothing), tag)
            width = changes.num_columns - 3
            chosen = changes.select([*columns, width, width + 1, width + 2])
            names = [f"c{i}" for i in range(len(columns))]
            found.append(chosen.rename_columns([*names, FROM, TO, DIFF]))
        schema = batch_schema([f.type for f in found[0].schema][:-3])
        changes = concat(found, schema)
        return changes if self.net else cancel(changes)

    def _unused(self, rows: Any) -> Any:
        said = zip(*map(json.loads, self.before.text_of(rows, UNUSED)), strict=True)
        columns = [pa.array(values, pa.string()) for values in said]
        return pa.Table.from_arrays([*columns, rows.column(DIFF)], names=[*UNUSED_COLUMNS, DIFF])

    def _texts(self, by_tag: dict[int, Any]) -> list[str]:
        rows = by_tag.get(DESCRIPTION)
        return [] if rows is None else self.before.text_of(rows, DESCRIPTION)


@dataclass(frozen=True, slots=True)
class LastTask:
    """The last stage and the output in one, where nothing but a choice of columns is between."""

    stage: StageTask
    output: OutputTask

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Descriptions alone."""
        rows = self.stage.before.gathered(batches, self.stage.lengths)
        yield self.run(rows, Shard(self.stage.place, shard_of_task()))

    def run(self, rows: Any, shard: Shard) -> Any:
        """The work on the rows of a shard."""
        found: dict[int, list[Any]] = {}
        for tag, narrow in self.stage.results(rows, shard):
            if narrow.num_rows:
                found.setdefault(tag, []).append(narrow)
        # Text of this stage has no shard, text that it was given has one.
        by_tag = {
            tag: pa.concat_tables(tables, promote_options="default")
            for tag, tables in found.items()
        }
        return self.output.written(by_tag, shard)


_SETTLING = 8
_tasks = count()


def shard_of_task() -> int:
    """The shard that this task is: the number of its partition."""
    from pyspark import TaskContext

    _settle()
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _settle() -> None:
    """Spares the collector of garbage what this process has loaded and keeps for good.

    Spark collects after every task, and the next one waits for it: with all modules in sight that
    takes longer than a small step's own work.
    """
    if next(_tasks) < _SETTLING:
        gc.freeze()


def _said(source: str, unused: Any) -> list[str]:
    """What is said about the unused rows of an admission, as a list in JSON each."""
    columns = (column.to_pylist() for column in texts(unused))
    return [json.dumps([source, *told]) for told in zip(*columns, strict=True)]


def _reasons(unused: Any) -> list[list[Any]]:
    """How many rows of each source are unused for each reason; those taken back count as -1."""
    counted = unused.group_by(["source", "reason"]).aggregate([(DIFF, "sum")])
    columns = (counted.column(name).to_pylist() for name in ("source", "reason", f"{DIFF}_sum"))
    return sorted(map(list, zip(*columns, strict=True)))


def _by_tag(rows: Any, shape: Shape) -> dict[int, Any]:
    tags = rows.column(TAG).to_numpy()
    found: dict[int, Any] = {}
    for tag in shape.tags:
        mask = tags == tag
        if mask.all() and len(tags):
            found[tag] = rows
        elif mask.any():
            found[tag] = rows.take(pa.array(np.flatnonzero(mask)))
    return found
