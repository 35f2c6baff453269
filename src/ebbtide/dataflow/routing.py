"""Where rows go: those of sources, once they are judged, and those that tasks send on.

Law: rows with equal keys of a route go to one shard, which is the same in every step and on every
transport; what a row becomes on its way is what the route's pipe makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.columnar import Columnar
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.physical import SourceRows
from ebbtide.compile.stages import Route
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.dataflow.judging import Judged, judge
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.plan import Dataflow, entering_sources
from ebbtide.dataflow.shard import at_work
from ebbtide.dataflow.tags import UNUSED
from ebbtide.dataflow.tasks import unused_rows
from ebbtide.state.arrays import Hashes
from ebbtide.state.batch import batch_schema, key_hash, net, where
from ebbtide.state.types import arrow_type


@dataclass(frozen=True, slots=True)
class Parcel:
    """Rows of a route for one shard."""

    tag: int
    shard: int
    rows: Any


def parcels(
    tag: int, changes: Any, keys: Sequence[int], shards: int, everywhere: bool = False
) -> Iterator[Parcel]:
    """Changes by the shards of the columns that are their keys; without keys, for the first.

    Some go to every shard.
    """
    if not changes.num_rows:
        return
    if everywhere:
        yield from (Parcel(tag, shard, changes) for shard in range(shards))
        return
    if not keys or shards == 1:
        yield Parcel(tag, 0, changes)
        return
    yield from _parted(tag, changes, _shards(key_hash(changes, keys), shards), shards)


def sent(route: Route, changes: Any, shards: int) -> Iterator[Parcel]:
    """What an operator made, on its way to a later stage."""
    keys = [route.pipe.columns.index(key) for key in route.keys]
    return parcels(route.tag, changes, keys, shards, route.everywhere)


@dataclass(frozen=True, slots=True)
class Entrance:
    """The door of a step: it judges the rows of sources, and takes them to their shards."""

    declarations: tuple[Declaration, ...]
    before: tuple[InputFrontier, ...]
    ways: tuple[tuple[_Way, ...], ...]
    """The ways that the rows of each source take."""
    shards: int

    @staticmethod
    def of(dataflow: Dataflow, before: tuple[InputFrontier, ...]) -> Entrance:
        """The entrance of a program's step, by the frontiers before it."""
        lowered = dataflow.lowered
        routes, declarations = lowered.stages.routes, lowered.declarations
        ways = tuple(
            tuple(_Way.of(routes[tag], arrival_schema(declarations[source])) for tag in tags)
            for source, tags in sorted(entering_sources(lowered).items())
        )
        return Entrance(declarations, before, ways, dataflow.shards)

    def enter(self, source: int, rows: Any) -> tuple[Judged, list[Parcel]]:
        """Rows that arrived of a source: what is said of them, and where they go."""
        judged = judge(self.declarations[source], self.before[source], rows)
        changes = facts(judged.accepted)
        fresh, old = changes, changes.slice(0, 0)
        if judged.old is not None:
            fresh, old = where(changes, ~judged.old), where(changes, judged.old)
        several = {SourceRows.ALL: changes, SourceRows.FRESH: fresh, SourceRows.OLD: old}
        found: list[Parcel] = []
        with at_work(f"entry of {self.declarations[source].name}"):
            for way in self.ways[source]:
                found += way.parcels(several[way.rows], self.shards)
        if judged.refused:
            ones = pa.array(np.ones(len(judged.refused), np.int64))
            found.append(Parcel(UNUSED, 0, unused_rows(judged.refused, ones)))
        return judged, found

    def parcels(self, source: int, changes: Any) -> Iterator[Parcel]:
        """Where changes of a source go that were accepted before."""
        for way in self.ways[source]:
            if way.rows is SourceRows.FRESH:
                yield from way.parcels(changes, self.shards)

    def empty(self, source: int) -> Any:
        """No rows of a source."""
        types = [arrow_type(column.type) for column in arrival_schema(self.declarations[source])]
        return batch_schema(types).empty_table().select(range(len(types)))


@dataclass(frozen=True, slots=True)
class _Way:
    """A route of a source's rows, ready to run.

    ``places`` are the keys among the route's own columns; keys that it does not carry are looked
    at before its pipe.
    """

    tag: int
    pipe: TaskPipe
    places: tuple[int, ...] | None
    keys: tuple[Columnar, ...]
    repeats: bool
    everywhere: bool = False
    rows: SourceRows = SourceRows.FRESH

    @staticmethod
    def of(route: Route, given: Schema) -> _Way:
        columns = route.pipe.columns
        carried = all(key in columns for key in route.keys)
        return _Way(
            route.tag,
            TaskPipe.of(route.pipe, given),
            tuple(columns.index(key) for key in route.keys) if carried else None,
            () if carried else tuple(Columnar(key, given) for key in route.keys),
            route.repeats,
            route.everywhere,
            route.rows,
        )

    def parcels(self, changes: Any, shards: int) -> Iterator[Parcel]:
        if self.places is not None:
            made = self._made(changes)
            yield from parcels(self.tag, made, self.places, shards, self.everywhere)
            return
        keys = [key(changes) for key in self.keys]
        table = pa.Table.from_arrays(keys, names=[f"k{i}" for i in range(len(keys))])
        hashes = key_hash(table, range(len(keys)))
        for parcel in _parted(self.tag, changes, _shards(hashes, shards), shards):
            made = self._made(parcel.rows)
            if made.num_rows:
                yield Parcel(self.tag, parcel.shard, made)

    def _made(self, changes: Any) -> Any:
        made = self.pipe(changes)
        # Equal changes travel as one, where many of them are equal.
        return net(made) if self.repeats and made.num_rows else made


def _shards(hashes: Hashes, shards: int) -> Any:
    return (hashes % np.uint64(shards)).astype(np.uint16)


def _parted(tag: int, changes: Any, goes: Any, shards: int) -> Iterator[Parcel]:
    ordered = changes.take(pa.array(np.argsort(goes, kind="stable")))
    ends = np.cumsum(np.bincount(goes, minlength=shards)).tolist()
    for shard, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        if start < end:
            yield Parcel(tag, shard, ordered.slice(start, end - start))


def facts(rows: Any) -> Any:
    """Rows as they arrive: there once, at all times."""
    schema = batch_schema(rows.schema.types)
    times = [pa.repeat(pa.scalar(t, pa.int64()), rows.num_rows) for t in (NEG_INF, INF, 1)]
    return pa.Table.from_arrays([*rows.columns, *times], schema=schema)
