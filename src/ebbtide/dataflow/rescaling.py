"""The state of a program, cut into another number of shards.

Law: every stored row goes to the shard to which its key would take it if it came now, so a program
goes on as if it had been cut like this from its first step on.  By which columns of a store rows
find their shard follows from the plan; before a row is moved it is seen to be where they say, so
that a mistake in this is an error and moves nothing.

What waits at the end of a view has no key of its own: it stays in the shard of the operator that
made it.  If the view shows the columns by which that operator is sharded, they tell.  If not, rows
that wait for their beginning, and those of the answer, may lie in any shard, for they only add up;
but a fact that waits to be final has to meet what takes it back, so such a state is refused.
(Segments that wait have been brought together by all their columns, which tell.)

Segments are cut one by one, so that memory follows the largest of them and not the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from ebbtide.algebra.expression import Ref
from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import FromOperator, FromSource, Operator, PlanEdge
from ebbtide.core.schema import Schema
from ebbtide.core.time import NEG_INF
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.routing import parcels
from ebbtide.dataflow.shard import StatePlace
from ebbtide.errors import InternalError, UnsupportedError
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.live import Live
from ebbtide.kernels.operators.triggered import Triggered
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, row_types
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import Segment
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import live_name

Areas: TypeAlias = Mapping[str, tuple[tuple[Any, ...], ...]]


@dataclass(frozen=True, slots=True)
class SharedStore:
    """A store in all shards: what it holds, and the columns that choose the shard of a row.

    None if the row does not tell.  Then, where rows have to ``meet`` others of their key, they
    cannot be moved.
    """

    layout: Layout
    columns: tuple[int, ...] | None
    meet: bool = False


def rescaled(flow: Dataflow, root: str, latest: Manifest, shards: int) -> Manifest:
    """The version after another, with the same state in so many shards; its segments are durable,
    and it is there once it is committed."""
    check_rescalable(flow, latest)
    place = StatePlace(root, latest.version + 1)
    known, written = stores_of(flow), place.store()
    areas = {
        name: _Cut(name, known[name], written, place.version, shards).cut(described)
        for name, described in latest.areas.items()
    }
    written.sync_names()
    # Earlier versions are cut otherwise: nothing can be replayed from them any more.
    return latest.quiet_successor(shards=shards, areas=areas, bases=())


def refuse_recursion(lowered: Lowered) -> None:
    """Refuses a program whose streams are fed by queries that read them.

    Rows that meet those of a cycle are in several shards, and its parts stand on each other.
    """
    for cycle in lowered.physical.cycles:
        raise UnsupportedError(
            "recursion-frozen",
            f'the state of "{cycle.name}", which is fed by queries that read it, cannot be changed',
            hint="start the program under another name",
        )


def refuse_triggered(lowered: Lowered) -> None:
    """Refuses a program in which shards go by what comes to them: each has a time of its own."""
    for operator in lowered.physical.operators:
        if isinstance(operator.kernel, Triggered):
            raise UnsupportedError(
                "shards-matter",
                f'"{operator.name}" runs under expiry input, where the number of shards is part '
                "of the result",
                hint="start the program under another name",
            )


def check_rescalable(flow: Dataflow, manifest: Manifest) -> None:
    """Refuses a state of which some rows do not tell where they belong."""
    refuse_recursion(flow.lowered)
    refuse_triggered(flow.lowered)
    known = stores_of(flow)
    for name, described in manifest.areas.items():
        if name not in known:
            raise InternalError("unknown-store", f'the plan has no operator "{name}"')
        for index, store in enumerate(known[name]):
            if store.columns is None and store.meet and any(shard[index] for shard in described):
                raise UnsupportedError(
                    "shard-unknown",
                    f'rows of "{name.partition(".")[2]}" wait to be final, and do not show the '
                    "keys by which they are grouped or joined",
                    hint="rescale when none waits, or select these keys, too",
                )


def stores_of(flow: Dataflow) -> dict[str, tuple[SharedStore, ...]]:
    """The stores of everything that may have state, by its name in a manifest."""
    physical, found = flow.lowered.physical, {}
    for number, operator in enumerate(physical.operators):
        by = flow.lowered.stages.sharded_by[number]
        layouts = operator.kernel.areas(tuple(map(_batches, operator.inputs)))
        if isinstance(operator.kernel, InputArchive | WaitingRows):
            # Their rows are found by other columns than those that choose the shard.
            edge = next(e for e in physical.edges if e.consumer == number)
            places = tuple(edge.pipe.columns.index(edge.keys[key]) for key in by)
            found[operator.name] = tuple(SharedStore(layout, places) for layout in layouts)
            continue
        found[operator.name] = tuple(
            SharedStore(layout, tuple(layout.keys[key] for key in by)) for layout in layouts
        )
    for number, stage, name in flow.written():
        output = physical.outputs[number]
        columns = _shown(flow, number, stage)
        waiting = output.kernel.areas((_batches(output.given),))
        found[name] = tuple(
            SharedStore(layout, columns, meet=layout.name == "final") for layout in waiting
        )
        (live,) = Live().areas((_batches(output.schema),))
        width = len(row_types(live.schema))
        told = columns is not None and all(column < width for column in columns)
        found[live_name(name)] = (SharedStore(live, columns if told else None),)
    return found


def _shown(flow: Dataflow, output: int, stage: int) -> tuple[int, ...] | None:
    """The columns of an output by which its rows have come to their shards, if they tell."""
    physical, stages = flow.lowered.physical, flow.lowered.stages
    found = {
        _carried(flow, edge)
        for number, edge in enumerate(physical.edges)
        if edge.consumer == ~output and stages.of_edge[number] == stage
    }
    return found.pop() if len(found) == 1 else None


def _carried(flow: Dataflow, edge: PlanEdge) -> tuple[int, ...] | None:
    columns = edge.pipe.columns
    match edge.producer:
        case FromSource():
            return tuple(columns.index(key) for key in edge.keys)
        case FromOperator(number):
            operator: Operator = flow.lowered.physical.operators[number]
            found: list[int] = []
            for key in flow.lowered.stages.sharded_by[number]:
                held = () if operator.carries is None else operator.carries[key]
                places = [columns.index(r) for r in _refs(operator, held) if r in columns]
                if not places:
                    return None
                found.append(places[0])
            return tuple(found)


def _refs(operator: Operator, places: Sequence[int]) -> Iterator[Ref]:
    return (Ref(operator.output[place]) for place in places)


def _batches(schema: Schema) -> Any:
    return batch_schema([arrow_type(column.type) for column in schema])


@dataclass(frozen=True, slots=True)
class _Cut:
    """The stores of one operator, or at the end of one view, being cut anew."""

    name: str
    stores: tuple[SharedStore, ...]
    written: DirectoryStore
    version: int
    shards: int

    def cut(self, described: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
        """The descriptions of its areas in each of the new shards."""
        found: list[list[list[Any]]] = [[[] for _ in self.stores] for _ in range(self.shards)]
        for shard, areas in enumerate(described):
            for index, store in enumerate(self.stores):
                for to, segments in self._moved(store, shard, len(described), areas[index]):
                    found[to][index].extend(segments)
        return tuple(tuple(shard) for shard in found)

    def _moved(
        self, store: SharedStore, shard: int, before: int, described: Any
    ) -> Iterator[tuple[int, list[Any]]]:
        """The segments that those of an area become, each with its shard."""
        area = SweepArea.restore(store.layout, described, self._scope(shard))
        for segment, rows in area.contents():
            if store.columns is not None:
                self._check(store.columns, rows, shard, before)
            every = tuple(range(len(row_types(rows.schema))))
            columns = every if store.columns is None else store.columns
            for parcel in parcels(0, rows, columns, self.shards):
                part = SweepArea(store.layout, self._scope(parcel.shard))
                yield parcel.shard, part.insert(parcel.rows, keep=_zoned(segment)).describe()
            self.written.forget(segment.name)

    def _check(self, columns: tuple[int, ...], rows: Any, shard: int, before: int) -> None:
        """Holds that rows are in the shard to which their key takes them."""
        if {parcel.shard for parcel in parcels(0, rows, columns, before)} != {shard}:
            raise InternalError(
                "wrong-shard", f'rows of "{self.name}" are not in shard {shard} by their keys'
            )

    def _scope(self, shard: int) -> WriteScope:
        return WriteScope(self.written, self.name, shard, self.version)


def _zoned(segment: Segment) -> Keep:
    """A rule that keeps everything, and names the times that the segment's rule names."""
    return Keep(tuple((After(column, NEG_INF),) for column, _, _ in segment.zones) or ((),))


def moved_areas(
    flow: Dataflow, areas: Areas, found_in: str, root: str, version: int
) -> dict[str, tuple[Any, ...]]:
    """Areas of another directory, written for a version of this one, in the same shards."""
    known, written = stores_of(flow), StatePlace(root, version).store()
    found = {
        name: _rewritten(
            WriteScope(written, name, 0, version),
            tuple(store.layout for store in known[name]),
            DirectoryStore(found_in),
            described,
        )
        for name, described in areas.items()
    }
    written.sync_names()
    return found


def widened_areas(
    old: Lowered, new: Lowered, operators: Mapping[str, str], latest: Manifest, root: str
) -> dict[str, tuple[Any, ...]]:
    """The areas of operators that are carried over, by their names now, with those before.

    What is kept of a source that has got more columns has NULLs in them.
    """
    before = {operator.name: operator for operator in old.physical.operators}
    written = StatePlace(root, latest.version + 1).store()
    found: dict[str, tuple[Any, ...]] = {}
    for operator in new.physical.operators:
        name = operators.get(operator.name)
        if name is None or name not in latest.areas:
            continue
        found[operator.name] = latest.areas[name]
        (width, wider) = len(before[name].inputs[0]), len(operator.inputs[0])
        if isinstance(operator.kernel, Admission) and width != wider:
            scope = WriteScope(written, operator.name, 0, latest.version + 1)
            layouts = operator.kernel.areas(tuple(map(_batches, operator.inputs)))
            declared = len(operator.kernel.declaration.schema) - (wider - width)
            widen = partial(_widened, schema=layouts[0].schema, at=declared, by=wider - width)
            found[operator.name] = _rewritten(scope, layouts, written, latest.areas[name], widen)
    written.sync_names()
    return found


def _rewritten(
    scope: WriteScope,
    layouts: tuple[Layout, ...],
    read: DirectoryStore,
    described: Sequence[Sequence[Any]],
    change: Callable[[Any], Any] = lambda rows: rows,
) -> tuple[tuple[Any, ...], ...]:
    """Areas in all shards, written anew in the same ones."""
    found = []
    for shard, areas in enumerate(described):
        there = replace(scope, shard=shard)
        described_anew = []
        for layout, segments in zip(layouts, areas, strict=True):
            area = SweepArea.restore(layout, segments, replace(there, store=read))
            parts = (
                SweepArea(layout, there).insert(change(rows), keep=_zoned(segment)).describe()
                for segment, rows in area.contents()
            )
            described_anew.append([segment for part in parts for segment in part])
        found.append(tuple(described_anew))
    return tuple(found)


def _widened(rows: Any, schema: Any, at: int, by: int) -> Any:
    """Rows with columns of NULLs among theirs."""
    nulls = [pa.nulls(rows.num_rows, schema.field(at + i).type) for i in range(by)]
    columns = rows.columns
    return pa.Table.from_arrays([*columns[:at], *nulls, *columns[at:]], schema=schema)
