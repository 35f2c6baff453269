"""Replay-All: views run again from an earlier version, over all that has come since.

Law: after a replay, output and state are as if the rows that came too late had come in time.  For
the version that it begins from knew them to be possible: they are later than all that its operators
had forgotten, so by the law of a step it does not matter when they come.  What has come since is in
the archives, each row with its step.  What is emitted is the difference between what the views say
now and what they have said since that version; it is net, and takes the place of what the step
would have emitted without them.

    versions     base ──── step ──── step ──── this step
    archived          rows      rows      rows, and those that came too late
    replayed     base ═════════════════════════▶ the same step, from the base at once

A replay is part of its step: there is one manifest, and until it is there nothing has happened.
It runs in the process of whoever drives the steps (paper 3, section 3.2.1).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.physical import archive_name
from ebbtide.compile.replaying import Upstream, upstream
from ebbtide.core.change import Change
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.core.values import row_key
from ebbtide.dataflow.frontiers import times_of
from ebbtide.dataflow.in_process import deliver, no_rows, run_stages
from ebbtide.dataflow.operations import (
    ArchivedRows,
    GivenRows,
    Gone,
    TaskArchived,
    TaskCycle,
    TaskOperation,
)
from ebbtide.dataflow.plan import Dataflow, StepTimes
from ebbtide.dataflow.record import Descriptions
from ebbtide.dataflow.routing import Entrance
from ebbtide.dataflow.shard import Shard, StatePlace
from ebbtide.dataflow.tasks import RunningTask, StageTask
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    concat,
    from_changes,
    negated,
    net,
    row_types,
    to_changes,
    where,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.files import remove
from ebbtide.state.types import arrow_type
from ebbtide.store.archive import Archive
from ebbtide.store.frontiers import restored
from ebbtide.store.manifest import Base, Manifest, Manifests
from ebbtide.store.readers import View, live_name


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How far a step brings its program: the frontiers after it, and the clock if it counts."""

    after: tuple[InputFrontier, ...]
    reading: Instant | None
    clock: Instant | None
    collects: bool = True


@dataclass(frozen=True)
class ReplayAll:
    """The replay of some outputs in a step, from a base; ``said`` is what its tasks have said."""

    flow: Dataflow
    root: str
    origin: Base
    outputs: frozenset[int]
    moment: StepEnd
    said: Descriptions

    def descriptions(self) -> Descriptions:
        """What the step has to say with its replay; all that it names is written."""
        emitted: dict[str, list[Any]] = {}
        texts = run_stages(self.flow, self._entered(), self._tasks(), _Collecting(emitted))
        views = {self.flow.lowered.physical.outputs[number].name for number in self._views}
        told = [json.loads(text) for text in texts]
        kept = [s for s in self.said.said if not self._is_replaced(s, views)]
        kept += [s for s in told if "operator" in s]
        for view in sorted(views):
            kept.append(self._counted(view))
            kept += self._written(view, emitted.get(view, []))
        return replace(self.said, said=kept)

    @cached_property
    def rows_to_read(self) -> int:
        """How many stored rows it has to look at: archived ones, and what was said."""
        outputs = (self.flow.lowered.physical.outputs[number] for number in self._views)
        parts = [
            part
            for o in outputs
            for part in View(self.root, o.name, o.schema).parts(self.base, self.said.version - 1)
        ]
        archived = sum(self._archived(source).rows for source in self._sources)
        return archived + sum(part.rows for part in parts)

    @property
    def base(self) -> int:
        """The version that it begins from."""
        return self.origin.version

    @cached_property
    def _sources(self) -> list[int]:
        return sorted({s for its in self._views.values() for s in its.sources})

    # --- what runs ----------------------------------------------------------------------------

    @cached_property
    def _views(self) -> Mapping[int, Upstream]:
        edges = self.flow.lowered.physical.edges
        return {number: upstream(edges, number) for number in sorted(self.outputs)}

    @cached_property
    def _operators(self) -> frozenset[int]:
        """The operators that run again; what admissions made is archived."""
        return frozenset(n for number in self._views for n in self.flow.operators_of(number))

    @cached_property
    def _admissions(self) -> dict[int, int]:
        """The sources of the admissions that would have to run again."""
        kernels = {n: self.flow.lowered.physical.operators[n].kernel for n in self._operators}
        return {n: k.source for n, k in kernels.items() if isinstance(k, Admission)}

    @cached_property
    def _names(self) -> AbstractSet[str]:
        """The names of what has another state after the replay."""
        operators = self.flow.lowered.physical.operators
        names = {operators[n].name for n in self._operators - self._admissions.keys()}
        written = {name for output, _, name in self.flow.written() if output in self._views}
        return names | written | set(map(live_name, written))

    @cached_property
    def _base(self) -> Manifest | None:
        if self.base < 0:
            return None
        return Manifests(self._place.store()).load(self.base)

    @property
    def _place(self) -> StatePlace:
        return StatePlace(self.root, self.said.version, self.base)

    @cached_property
    def _times(self) -> StepTimes:
        lowered, moment = self.flow.lowered, self.moment
        before = tuple(
            frontier.read(moment.reading)
            for frontier in restored(self._base, lowered.declarations, lowered.replayed)
        )
        known = {} if self._base is None else self._base.record.nows
        nows = {view: known.get(view, NEG_INF) for view in self.flow.views}
        times = times_of(lowered, before, moment.after, nows, moment.clock)
        if not moment.collects:
            times = {number: its.uncollected for number, its in times.items()}
        return StepTimes(before, moment.after, times)

    def _tasks(self) -> tuple[StageTask, ...]:
        return tuple(map(self._restricted, self.flow.tasks(self._place, self._times)))

    def _restricted(self, task: StageTask) -> StageTask:
        outputs = self.flow.lowered.physical.outputs
        views = {outputs[number].name for number in self._views}
        return restricted(task, views, self._operators, self._admissions, self._readmitted)

    def _readmitted(self, number: int) -> TaskOperation:
        """What an admission has made since the base."""
        source = self._admissions[number]
        rows = self.flow.lowered.declarations[source].row_schema
        more = len(self.flow.lowered.physical.operators[number].output) - len(rows)
        return TaskArchived(number, self._given[source], more)

    # --- what comes in ------------------------------------------------------------------------

    def _entered(self) -> Any:
        """The rows of sources without an admission, in the shards to which they go."""
        declarations = self.flow.lowered.declarations
        entrance = Entrance.of(self.flow, self.moment.after)
        shards = no_rows(self.flow)
        for source in self._sources:
            if source in self._admissions.values():
                continue
            for rows in self._given[source].shards:
                changes = as_arrived(declarations[source], rows)
                deliver(entrance.parcels(source, changes), shards)
        return shards

    @cached_property
    def _given(self) -> dict[int, GivenRows]:
        return {source: self._archived(source).given() for source in self._sources}

    def _archived(self, source: int) -> ArchivedRows:
        declaration = self.flow.lowered.declarations[source]
        types = [arrow_type(column.type) for column in declaration.row_schema]
        areas = self.said.areas()[archive_name(declaration.name)]
        # What is older than the base had kept was replayed without it since.
        lines = tuple(
            (attribute, declaration.row_schema.position(attribute), instant)
            for attribute, instant in self.origin.forgotten.get(declaration.name, {}).items()
        )
        gone = Gone(declaration.name, lines)
        return ArchivedRows(self._place.store(), batch_schema(types), areas, self.base, gone)

    # --- what goes out ------------------------------------------------------------------------

    def _since(self, changes: Any, view: str) -> Any:
        """Of what was said since the base, what its state has a part in."""
        settled = self.origin.settled.get(view, NEG_INF)
        if settled == NEG_INF:
            return changes
        starts = np.maximum(ints(changes, FROM), settled)
        changes = with_times(changes, starts, ints(changes, TO), ints(changes, DIFF))
        return where(changes, ints(changes, FROM) < ints(changes, TO))

    def _counted(self, view: str) -> dict[str, Any]:
        """How much was read and replayed for a view."""
        (number,) = (n for n in self._views if self._name(n) == view)
        sources = self._views[number].sources
        replayed = sum(self._given[source].rows for source in sources)
        read = sum(self._archived(source).rows for source in sources)
        return {"replayed": view, "way": "ALL", "rows_read": read, "rows_replayed": replayed}

    def _name(self, output: int) -> str:
        return self.flow.lowered.physical.outputs[output].name

    def _is_replaced(self, said: Mapping[str, Any], views: AbstractSet[str]) -> bool:
        return said.get("operator") in self._names or said.get("output") in views

    def _written(self, name: str, emitted: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """The difference that a view emits, in a file in the place of others."""
        (output,) = (o for o in self.flow.lowered.physical.outputs if o.name == name)
        view = View(self.root, name, output.schema, output.marked)
        files = [s["file"] for s in self.said.said if s.get("output") == name and s["file"]]
        before = self._since(view.between(self.base, self.said.version - 1), name)
        changes = concat([*emitted, negated(before)], view.layout)
        if view.marked:
            alone = [change for f in files for change in to_changes(Archive(self.root).table(f))]
            changes = _marked(changes, alone, view.layout)
        else:
            changes = _begun(net(changes), self.flow.nows(self._times)[name], view.layout)
        for file in files:
            remove(self.root, file)
        if name in self.flow.unwritten or not changes.num_rows:
            return
        file = Archive(self.root).write(f"output/{name}", 0, self.said.version, changes)
        yield {"output": name, "file": file, "rows": changes.num_rows}


@dataclass(frozen=True, slots=True)
class _Collecting:
    """Runs tasks, and takes what views emit instead of having it written."""

    emitted: dict[str, list[Any]]

    def __call__(
        self, task: StageTask, here: Mapping[int, Any], shard: Shard
    ) -> tuple[Mapping[int, Any], list[str]]:
        running = RunningTask(task, here, shard)
        sent, said = running.run()
        for view, changes in running.emitted.items():
            self.emitted.setdefault(view, []).extend(changes)
        return sent, said


def restricted(
    task: StageTask,
    views: AbstractSet[str],
    operators: AbstractSet[int],
    admissions: AbstractSet[int] | Mapping[int, int],
    readmitted: Callable[[int], TaskOperation],
) -> StageTask:
    """A task without all that does not run again; in the place of admissions is what they made."""

    def operations() -> Iterator[TaskOperation]:
        for operation in task.operations:
            if isinstance(operation, TaskCycle):
                assert operation.recursion.number not in operators
                continue
            if operation.number in admissions:
                yield readmitted(operation.number)
            elif operation.number in operators:
                yield operation

    return StageTask(
        task.place,
        tuple(operations()),
        tuple(replace(e, writes=False) for e in task.emissions if e.view in views),
        tuple(send for send in task.sends if send.operator in operators),
    )


def as_arrived(declaration: Any, changes: Any) -> Any:
    """Archived changes of a source, in the columns in which its rows arrive."""
    rows, given = declaration.row_schema, arrival_schema(declaration)
    places = {column.identity: i for i, column in enumerate(rows)}
    types = [arrow_type(column.type) for column in given]
    columns = [
        changes.column(places[column.identity])
        if column.identity in places
        else pa.nulls(changes.num_rows, type_)
        for column, type_ in zip(given, types, strict=True)
    ]
    times = [changes.column(name) for name in (FROM, TO, DIFF)]
    return pa.Table.from_arrays([*columns, *times], schema=batch_schema(types))


def _begun(changes: Any, now: Instant, schema: Any) -> Any:
    """Net changes, none of which begins after ``now``.

    Where rows overlap, their net is cut at the end of each.  What goes on after ``now`` has begun
    before it, so it begins there:

        now          |                          |
        +2 |-----------)              +1 |-------------)
        +1             |----)    ->   +1 |------------------)
    """
    if not (ints(changes, FROM) > now).any():
        return changes
    by_row: dict[Any, list[Change]] = {}
    for change in to_changes(changes):
        by_row.setdefault(row_key(change.row), []).append(change)
    found = [
        c for its in by_row.values() for c in _joined(sorted(its, key=lambda c: c.valid_from), now)
    ]
    return from_changes(found, schema)


def _joined(pieces: Sequence[Change], now: Instant) -> Iterator[Change]:
    """The pieces of a row, in order; those after ``now`` as parts of the ones that lead to them."""
    later: list[Change] = []
    for piece in reversed(pieces):
        level, start = sum(change.diff for change in later), piece.valid_from
        if later and piece.valid_to == later[0].valid_from and _contains(piece.diff, level):
            later = [replace(change, valid_from=start) for change in later]
            piece = replace(piece, diff=piece.diff - level)
        else:
            yield from later
            later = []
        later += [piece] if piece.diff else []
        if start <= now:
            yield from later
            later = []
    yield from later


def _contains(level: int, part: int) -> bool:
    return level * part > 0 and abs(level) >= abs(part)


def _marked(changes: Any, alone: Sequence[Change], schema: Any) -> Any:
    """Net changes with their marks: what the step emits without a replay has its own, all else
    corrects what was final."""
    width = len(row_types(schema)) - 1
    plain = batch_schema(row_types(schema)[:width])
    columns = [*(changes.column(i) for i in range(width)), *(changes.column(n) for n in _ENDS)]
    found = to_changes(net(pa.Table.from_arrays(columns, schema=plain)))
    known = Counter(replace(c, row=c.row[:width]) for c in alone if c.row[width:] == (False,))
    marked = [replace(c, row=(*c.row, c not in known)) for c in found]
    return from_changes(marked, schema)


_ENDS = (FROM, TO, DIFF)
