"""What a task does: the kernels of one stage on one shard, and what they emit, written or sent on.

Law: the result is a function of the multiset of the rows that come in, the version of the state
and the frontiers; a repeated task writes the same files and sends the same rows.  So files are
written in an order of their own wherever their names travel on, for rows come in any order.  For
every operator and every output of the stage a task gives exactly one description.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.compile.physical import FromOperator
from ebbtide.compile.stages import FromRoute
from ebbtide.core.admission import UNUSED_COLUMNS, UnusedRow
from ebbtide.core.time import NEG_INF, Instant, is_finite
from ebbtide.dataflow.cycle import Rounds
from ebbtide.dataflow.operations import (
    Gone,
    Input,
    Take,
    TaskArchived,
    TaskCycle,
    TaskOperation,
)
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.shard import Job, Shard, StatePlace
from ebbtide.dataflow.tags import UNUSED
from ebbtide.kernels.admission.kernel import Admission, split, texts
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.state.batch import DIFF, FROM, TO, cancel, concat, key_hash, payload, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import times_of
from ebbtide.store.archive import Archive


@dataclass(frozen=True, slots=True)
class Emission:
    """A view's output: what has begun is written, what begins after ``now`` is held.

    Unless someone wants the rows, they are only counted.  What is said behind the last stage
    travels no further, so only before it are they ``ordered``.  ``live`` is the job that keeps the
    answer as it is now, of the first ``width`` columns.
    """

    view: str
    job: Job
    input: Input
    writes: bool = True
    ordered: bool = True
    live: Job | None = None
    width: int = 0


@dataclass(frozen=True, slots=True)
class Send:
    """Rows of an operator that travel on to a later stage, by the tag of their route."""

    tag: int
    operator: int
    pipe: TaskPipe | None


@dataclass(frozen=True, slots=True)
class StageTask:
    """The work of one stage, for any shard."""

    place: StatePlace
    operations: tuple[TaskOperation, ...]
    emissions: tuple[Emission, ...]
    sends: tuple[Send, ...]

    def run(self, arrived: Mapping[int, Any], shard: Shard) -> tuple[dict[int, Any], list[str]]:
        """The work on the rows of a shard, by their tags: what travels on, and what is said."""
        return RunningTask(self, arrived, shard).run()


class RunningTask:
    """A task at work: what has arrived and what its operators have made so far."""

    def __init__(self, task: StageTask, arrived: Mapping[int, Any], shard: Shard) -> None:
        self.task = task
        self.arrived = arrived
        self.shard = shard
        self.made: dict[int, Any] = {}
        self.admitted: dict[int, Any] = {}
        self.emitted: dict[str, list[Any]] = defaultdict(list)
        self.unused = [arrived[UNUSED]] if UNUSED in arrived else []

    def run(self) -> tuple[dict[int, Any], list[str]]:
        said: list[str] = []
        for operation in self.task.operations:
            said += self._operate(operation)
        for emission in self.task.emissions:
            said += self._emit(emission)
        said += self._leave_unused()
        self.shard.finish()
        sent = {send.tag: _piped(send.pipe, self.made[send.operator]) for send in self.task.sends}
        return sent, said

    def _operate(self, operation: TaskOperation) -> list[str]:
        if isinstance(operation, TaskArchived):
            self.made[operation.number] = operation.made(self.shard.number)
            return []
        if isinstance(operation, TaskCycle):
            made, said = Rounds(operation, self.shard, self._taken).run()
            self.made |= made
            return said
        gone, archives = operation.gone, isinstance(operation.job.kernel, InputArchive)
        inputs = tuple(self._input(taken, archives) for taken in operation.inputs)
        changes, description = self.shard.step(operation.job, inputs)
        if isinstance(operation.job.kernel, Admission):
            changes, unused = split(changes)
            self.unused.append(_said(unused))
            if gone is not None:
                # What operators have forgotten is for the archive; they meet it in a replay.
                self.admitted[operation.number] = changes
                changes = where(changes, ~gone.mask(changes))
        if isinstance(operation.job.kernel, WaitingRows) and changes.num_rows:
            changes, late = operation.job.kernel.judged(changes)
            said = operation.job.kernel.texts(late)
            self.unused.append(unused_rows(said, pa.array(np.ones(len(said), np.int64))))
            self.made[operation.number] = changes
            return [description, *_released(operation.job.kernel, changes)]
        self.made[operation.number] = changes
        if gone is not None and archives:
            return [description, *_revised(gone, inputs[0])]
        return [description]

    def _emit(self, emission: Emission) -> Iterator[str]:
        emitted, description = self.shard.step(emission.job, (self._input(emission.input),))
        yield description
        self.emitted[emission.view].append(emitted)
        if emission.live is not None:
            shown = emitted.select([*range(emission.width), FROM, TO, DIFF])
            yield self.shard.step(emission.live, (shown,))[1]
        rows = emitted.num_rows
        if rows:
            yield json.dumps({"delays": emission.view, **_delays(emitted, emission.job.times.now)})
        if emission.writes and rows:
            archive, version = Archive(self.task.place.root), self.task.place.version
            kind = f"output/{emission.view}"
            changes = in_order(emitted) if emission.ordered else emitted
            file = archive.write(kind, self.shard.number, version, changes)
            yield json.dumps({"output": emission.view, "file": file, "rows": rows})
        elif rows:
            yield json.dumps({"output": emission.view, "file": None, "rows": rows})

    def _leave_unused(self) -> Iterator[str]:
        rows = [table for table in self.unused if table.num_rows]
        if rows:
            told = pa.concat_tables(rows).sort_by([("text", "ascending"), (DIFF, "ascending")])
            named = _unused_table(told)
            place = self.task.place
            file = Archive(place.root).write("unused", self.shard.number, place.version, named)
            yield json.dumps({"unused": file, "rows": named.num_rows, "reasons": _reasons(named)})

    def _input(self, taken: Input, whole: bool = False) -> Any:
        takes = taken.takes
        batches = [batch for take in takes if (batch := self._taken(take, whole)) is not None]
        changes = concat(batches, taken.schema)
        return changes if taken.net else cancel(changes)

    def _taken(self, take: Take, whole: bool = False) -> Any:
        match take.origin:
            case FromRoute(tag):
                found = self.arrived.get(tag)
            case FromOperator(operator):
                admitted = self.admitted.get(operator) if whole else None
                found = self.made[operator] if admitted is None else admitted
        return None if found is None else take.piped(found)


def _delays(changes: Any, now: Instant) -> dict[str, int]:
    """How long ago the changes that have a beginning began."""
    starts = ints(changes, FROM)
    late = now - starts[(starts > NEG_INF) & (starts <= now) & is_finite(now)]
    # In two parts, for the sum of many long delays is longer than a number of 64 bits.
    total = (int((late >> 20).sum()) << 20) + int((late & ((1 << 20) - 1)).sum())
    return {"effects": len(late), "total_us": total, "longest_us": int(late.max(initial=0))}


def _released(kernel: WaitingRows, changes: Any) -> Iterator[str]:
    """What is said of rows that have waited and are accepted: how many, and their first time."""
    if changes.num_rows:
        declaration = kernel.declaration
        place = declaration.schema.position(declaration.promises[0].attribute)
        first, rows = int(times_of(changes, place).min()), int(ints(changes, DIFF).sum())
        yield json.dumps({"released": declaration.name, "rows": rows, "first": first})


def _revised(gone: Gone, changes: Any) -> Iterator[str]:
    """What is said of rows that are to be replayed: how many there are, and their first times."""
    old = where(changes, gone.mask(changes))
    if old.num_rows:
        first = {name: int(times_of(old, column).min()) for name, column, _ in gone.lines}
        yield json.dumps({"revised": gone.source, "rows": old.num_rows, "first": first})


def in_order(changes: Any) -> Any:
    """Changes in an order that depends on nothing but what they are."""
    hashes = key_hash(changes, payload(changes))
    times = (ints(changes, DIFF), ints(changes, TO), ints(changes, FROM))
    return changes.take(pa.array(np.lexsort((*times, hashes))))


def _piped(pipe: TaskPipe | None, changes: Any) -> Any:
    return changes if pipe is None else pipe(changes)


def _said(unused: Any) -> Any:
    """The unused rows of an admission, each as a list in JSON, with how often it is there."""
    columns = (column.to_pylist() for column in texts(unused))
    said = [UnusedRow(*told).json for told in zip(*columns, strict=True)]
    return unused_rows(said, unused.column(DIFF))


def unused_rows(said: Sequence[str], diff: Any) -> Any:
    """Unused rows as they travel: what is said about each, and how often it is there."""
    return pa.Table.from_arrays([pa.array(said, pa.string()), diff], names=["text", DIFF])


def _unused_table(rows: Any) -> Any:
    said = zip(*map(json.loads, rows.column("text").to_pylist()), strict=True)
    columns = [pa.array(values, pa.string()) for values in said]
    return pa.Table.from_arrays([*columns, rows.column(DIFF)], names=[*UNUSED_COLUMNS, DIFF])


def _reasons(unused: Any) -> list[list[Any]]:
    """How many rows of each source are unused for each reason; those taken back count as -1."""
    counted = unused.group_by(["source", "reason"]).aggregate([(DIFF, "sum")])
    columns = (counted.column(name).to_pylist() for name in ("source", "reason", f"{DIFF}_sum"))
    return sorted(map(list, zip(*columns, strict=True)))
