"""Replay-Minimal: of an answer, what can differ is derived again from what it comes from.

Law: the answer afterwards is that of Replay-All, and so is the state: nothing differs at instants
that the state still looks at.  What can differ are the keys and instants of the revised rows
(``compile.slices``); there the answer is derived from the archived rows with those keys that are
valid then, with no state before them, and what was said there is taken from it.

    revised                    |====|
    archived   |----)   |--------)  |-----)  |---)
    replayed            |--------)
    answer                     |~~~~|   derived again, less what was said; all else stands

Where a row changes the answer by itself, its own change is the difference: that is the direct way,
which reads nothing (section 2.1).
What was said is read, not derived: two sums of floats in another order may differ in the last bit.
It runs in the process of whoever drives the steps (paper 3, section 3.2.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.algebra.expression import Ref
from ebbtide.compile.physical import archive_name
from ebbtide.compile.slices import Leaf, Slice
from ebbtide.core.declaration import Declaration, Way
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.core.types import BIGINT
from ebbtide.dataflow.frontiers import times_of
from ebbtide.dataflow.in_process import deliver, no_rows, run_stages
from ebbtide.dataflow.key_spans import KeySpans
from ebbtide.dataflow.operations import GivenRows, TaskArchived, TaskOperation
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.plan import Dataflow, StepTimes
from ebbtide.dataflow.record import Descriptions
from ebbtide.dataflow.replay import StepEnd, as_arrived, restricted
from ebbtide.dataflow.routing import Entrance
from ebbtide.dataflow.shard import ScratchShard, Shard, StatePlace
from ebbtide.dataflow.tasks import RunningTask, StageTask
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.operators.input_archive import archive_layout
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import (
    FROM,
    TO,
    batch_schema,
    cancel,
    concat,
    key_hash,
    negated,
    net,
    row_types,
    where,
)
from ebbtide.state.columns import ints
from ebbtide.state.keep import times_of as times_in
from ebbtide.state.segment import Segment
from ebbtide.state.store import WriteScope, version_of
from ebbtide.state.types import arrow_type
from ebbtide.store.archive import Archive
from ebbtide.store.frontiers import restored
from ebbtide.store.history import History, HistoryPart
from ebbtide.store.manifest import Base
from ebbtide.store.readers import View


@dataclass(frozen=True)
class ArchiveReader:
    """The archive of a source after a step, as its tasks have described it."""

    place: StatePlace
    number: int
    declaration: Declaration
    shards: tuple[Any, ...]

    @property
    def schema(self) -> Any:
        """The columns of its changes."""
        return batch_schema([arrow_type(c.type) for c in self.declaration.row_schema])

    @cached_property
    def _areas(self) -> tuple[SweepArea, ...]:
        layout, scope = archive_layout(self.schema), WriteScope(self.place.store())
        return tuple(SweepArea.restore(layout, segments, scope) for (segments,) in self.shards)

    def segments(self, leaves: Sequence[Leaf], region: KeySpans) -> list[tuple[SweepArea, Segment]]:
        """The segments with rows that may be valid in a region."""
        return [
            (area, segment)
            for area in self._areas
            for segment in area.segments
            if any(self._meets(segment, leaf, region) for leaf in leaves)
        ]

    def _meets(self, segment: Segment, leaf: Leaf, region: KeySpans) -> bool:
        if not leaf.time:
            return True
        low, high = segment.zone(self.declaration.row_schema.position(leaf.time))
        return region.meets(low, high, leaf.most_us)

    def came(self, step: int) -> Any:
        """The changes that came in the last step, whose segments are new."""
        return self._read(
            [
                (area, segment)
                for area in self._areas
                for segment in area.segments
                if version_of(segment.name) == step
            ],
            lambda area, segment: area.stored(segment),
            lambda rows: ints(rows, f"c{len(row_types(self.schema))}") == step,
        )

    def valid(
        self, found: Sequence[tuple[SweepArea, Segment]], leaves: Sequence[Leaf], region: KeySpans
    ) -> Any:
        """The changes of some segments that may be valid in a region."""

        rows = self.declaration.row_schema
        places = {rows.position(leaf.time) if leaf.time else None for leaf in leaves}
        first = max(NEG_INF, region.first - max((leaf.most_us for leaf in leaves), default=0))

        def read(area: SweepArea, segment: Segment) -> Any:
            (place,) = places if len(places) == 1 else (None,)
            if place is None:
                return area.stored(segment)
            return area.timed(segment, place, first, region.last)

        def chosen(rows: Any) -> Any:
            mask = np.zeros(rows.num_rows, np.bool_)
            for leaf in leaves:
                if not leaf.time:
                    return ~mask
                place = self.declaration.row_schema.position(leaf.time)
                mask |= region.holds_times(times_in(rows, place), leaf.most_us)
            return mask

        return self._read(found, read, chosen)

    def _read(
        self,
        found: Sequence[tuple[SweepArea, Segment]],
        read: Callable[[SweepArea, Segment], Any],
        choose: Callable[[Any], Any],
    ) -> Any:
        """The rows of segments that are chosen, net."""
        width = len(row_types(self.schema))
        tables = []
        for area, segment in found:
            rows = read(area, segment)
            rows = where(rows, choose(rows))
            tables.append(rows.drop_columns([f"c{width}"]).cast(self.schema))
        return cancel(concat(tables, self.schema))


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Which changes of a source are valid when, behind a window, and by which keys."""

    places: Any
    hashes: Any
    starts: Any
    ends: Any

    @staticmethod
    def by(leaf: Leaf, declaration: Declaration, changes: Any) -> SeenRows:
        """The changes behind the window of a leaf."""
        rows = declaration.row_schema
        place = Column("place", BIGINT, False, "replay")
        given = Schema((*rows.columns, place))
        columns = (Ref(place), *leaf.keys)
        schema = Schema(tuple(Column(f"c{i}", e.type) for i, e in enumerate(columns)))
        pipe = TaskPipe.of(replace(leaf.pipe, schema=schema, columns=columns), given)
        numbered = changes.add_column(
            len(rows), f"c{len(rows)}", pa.array(np.arange(changes.num_rows))
        )
        seen = pipe(numbered)
        return SeenRows(
            ints(seen, "c0"),
            key_hash(seen, range(1, len(columns))),
            ints(seen, FROM),
            ints(seen, TO),
        )


@dataclass(frozen=True)
class MinimalReplay:
    """The minimal replay of an output in a step; ``sources`` have rows that are to be replayed."""

    flow: Dataflow
    root: str
    output: int
    slice: Slice
    sources: frozenset[int]
    moment: StepTimes
    end: StepEnd
    said: Descriptions
    directly: bool = False
    """Whether the revised rows alone say what differs."""

    @property
    def name(self) -> str:
        """The name of the output."""
        return self.flow.lowered.physical.outputs[self.output].name

    # --- whether it can be done ---------------------------------------------------------------

    def hindrance(self, base: Base, settled: Instant) -> str | None:
        """Why it cannot be done this time; ``base`` is the first, and the state of the view does
        not look at what is before ``settled``."""
        if self.region.last > settled:
            return "rows are revised that the state still holds"
        if self.directly:
            return None
        for leaf in self.slice.leaves:
            if leaf.time and self.region.first - leaf.most_us < self._floor(leaf, base):
                return "the archive does not reach back to all that they meet"
        history = History.read(self.root).view(self.name)
        if history.unkept >= 0 or (
            history.base is not None and self.region.first < history.base.until
        ):
            return "not all is kept that was said of their time"
        return None

    def _floor(self, leaf: Leaf, base: Base) -> Instant:
        """The last instant of which the archive of a leaf's source may lack rows."""
        declaration = self.flow.lowered.declarations[leaf.source]
        place = declaration.row_schema.position(leaf.time)
        keep = self.flow.archive_keep(leaf.source, self.moment)
        values = (p.value for case in keep.cases for p in case if p.column == place)
        kept = min(values, default=NEG_INF)
        return max(kept, base.may_lack(declaration.name, leaf.time))

    @cached_property
    def region(self) -> KeySpans:
        """The keys and instants at which the answer may differ."""
        seen = [
            SeenRows.by(leaf, self._archives[source].declaration, rows)
            for source, rows in self._revised.items()
            for leaf in self._leaves(source)
        ]
        return KeySpans.of((each.hashes, each.starts, each.ends) for each in seen)

    @cached_property
    def _revised(self) -> dict[int, Any]:
        """The changes of rows that operators have forgotten."""
        found = {}
        for source in sorted(self.sources & self._archives.keys()):
            gone = self.flow.gone(source, self.moment)
            assert gone is not None
            came = self._archives[source].came(self.said.version)
            found[source] = where(came, gone.mask(came))
        return found

    @cached_property
    def rows_to_read(self) -> int:
        """How many stored rows it has to look at: archived ones, and what was said."""
        if self.directly:
            return 0
        archived = sum(s.rows for found in self._segments.values() for _, s in found)
        return archived + sum(part.rows for part in self._parts)

    # --- what comes of it ---------------------------------------------------------------------

    def descriptions(self) -> Iterator[dict[str, Any]]:
        """What the step says besides, with the difference that it emits, written."""
        changes, replayed = self._difference()
        yield {
            "replayed": self.name,
            "way": (Way.DIRECT if self.directly else Way.MINIMAL).value,
            "rows_read": self.rows_to_read,
            "rows_replayed": replayed,
        }
        if self.name in self.flow.unwritten or not changes.num_rows:
            return
        file = Archive(self.root).write(f"output/{self.name}", 0, self.said.version, changes)
        yield {"output": self.name, "file": file, "rows": changes.num_rows}

    def _difference(self) -> tuple[Any, int]:
        view = self._view
        if self.region.is_empty:
            return view.layout.empty_table(), 0
        if self.directly:
            made = self._run(dict.fromkeys(self._archives, None) | self._revised)
            revised = sum(rows.num_rows for rows in self._revised.values())
            return net(concat(made, view.layout)), revised
        chosen = {source: self._chosen(source) for source in self._archives}
        made = concat(self._run(chosen), view.layout)
        places = self.slice.places
        said = self.region.within(self._said(), places)
        made = self.region.within(made, places)
        replayed = sum(rows.num_rows for rows in chosen.values())
        return net(concat([made, negated(said)], view.layout)), replayed

    def _chosen(self, source: int) -> Any:
        """The archived rows of a source that are valid in the region, with its keys."""
        archive, leaves = self._archives[source], self._leaves(source)
        rows = archive.valid(self._segments[source], leaves, self.region)
        mask = np.zeros(rows.num_rows, np.bool_)
        for leaf in leaves:
            seen = SeenRows.by(leaf, archive.declaration, rows)
            found, _ = self.region.pairs(seen.hashes, seen.starts, seen.ends)
            mask[seen.places[found]] = True
        return where(rows, mask)

    def _run(self, chosen: Mapping[int, Any]) -> list[Any]:
        """What the view makes of some rows alone; of a source that has None, there are none."""
        chosen = {
            source: self._archives[source].schema.empty_table() if rows is None else rows
            for source, rows in chosen.items()
        }
        flow = replace(self.flow, shards=1)
        lowered = flow.lowered
        entrance, shards = Entrance.of(flow, self.end.after), no_rows(flow)
        admissions = {
            n: k.source
            for n in self._operators
            if isinstance(k := lowered.physical.operators[n].kernel, Admission)
        }
        for source, rows in chosen.items():
            if source not in admissions.values():
                arrived = as_arrived(lowered.declarations[source], rows)
                deliver(entrance.parcels(source, arrived), shards)
        before = tuple(
            frontier.read(self.end.reading) for frontier in restored(None, lowered.declarations)
        )
        nows = dict.fromkeys(flow.views, NEG_INF)
        times = times_of(lowered, before, self.end.after, nows, self.end.clock)
        times = {number: its.uncollected for number, its in times.items()}
        place = StatePlace(self.root, self.said.version, -1)
        tasks = flow.tasks(place, StepTimes(before, self.end.after, times))

        def archived(number: int) -> TaskOperation:
            source = admissions[number]
            rows = lowered.declarations[source].row_schema
            more = len(lowered.physical.operators[number].output) - len(rows)
            return TaskArchived(number, GivenRows((chosen[source],)), more)

        reduced = [
            restricted(task, {self.name}, self._operators, admissions, archived) for task in tasks
        ]
        scratch = _Scratch({})
        run_stages(flow, shards, reduced, scratch)
        return scratch.emitted.get(self.name, [])

    def _said(self) -> Any:
        """What was said, up to this step, of the instants of the region."""
        spans = self.region.times
        bounds = zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)
        valid: Any = [[(FROM, "<", end), (TO, ">", start)] for start, end in bounds]
        if len(valid) > _MOST_SPANS:
            valid = [[(FROM, "<", self.region.last), (TO, ">", self.region.first)]]
        archive, view = Archive(self.root), self._view
        tables = [
            archive.table(part.file, valid).select(view.layout.names).cast(view.layout)
            for part in self._parts
        ]
        return concat(tables, view.layout)

    @cached_property
    def _parts(self) -> list[HistoryPart]:
        """The files of what was said, with this step's own, that have instants of the region."""
        version = self.said.version
        found = self._view.parts(None, version - 1)
        found += [
            HistoryPart(s["file"], version, version, rows=s["rows"])
            for s in self.said.said
            if s.get("output") == self.name and s["file"]
        ]
        first, last = self.region.first, self.region.last
        return [part for part in found if part.begins < last and part.ends > first]

    @cached_property
    def _archives(self) -> dict[int, ArchiveReader]:
        areas, lowered = self.said.areas(), self.flow.lowered
        place = StatePlace(self.root, self.said.version)
        return {
            source: ArchiveReader(
                place,
                source,
                lowered.declarations[source],
                areas[archive_name(lowered.declarations[source].name)],
            )
            for source in sorted({leaf.source for leaf in self.slice.leaves})
        }

    @cached_property
    def _segments(self) -> dict[int, list[tuple[SweepArea, Segment]]]:
        return {
            source: archive.segments(self._leaves(source), self.region)
            for source, archive in self._archives.items()
        }

    @cached_property
    def _operators(self) -> frozenset[int]:
        return self.flow.operators_of(self.output)

    @cached_property
    def _view(self) -> View:
        output = self.flow.lowered.physical.outputs[self.output]
        return View(self.root, output.name, output.schema, output.marked)

    def _leaves(self, source: int) -> list[Leaf]:
        return [leaf for leaf in self.slice.leaves if leaf.source == source]


_MOST_SPANS = 32
"""So many spans are asked for one by one; more are read from the first to the last."""


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Runs tasks on no state, in memory, and takes what views emit."""

    emitted: dict[str, list[Any]]

    def __call__(
        self, task: StageTask, here: Mapping[int, Any], shard: Shard
    ) -> tuple[Mapping[int, Any], list[str]]:
        scratch = ScratchShard(task.place, shard.number)
        emissions = tuple(replace(e, live=None, writes=False) for e in task.emissions)
        running = RunningTask(replace(task, emissions=emissions), here, scratch)
        sent, _ = running.run()
        for view, changes in running.emitted.items():
            self.emitted.setdefault(view, []).extend(changes)
        return sent, []
