"""Rows on their way into the first exchange: judged, observed, and packed for their shards.

Law: what ``ebbtide.dataflow.routing`` does with the rows of a source, in Spark's workers and in one
pass.  What was observed travels beside the parcels, and Spark adds it up over all tasks, each
counted once however often it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from ebbtide.compile.arrival import OFFSET, arrival_schema
from ebbtide.compile.lowering import Lowered
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.types import OF_ANY_SIZE
from ebbtide.dataflow.observation import Observed, Seen
from ebbtide.dataflow.routing import Entrance, Parcel
from ebbtide.dataflow.tags import UNUSED
from ebbtide.spark.arrivals import arrow_arrivals
from ebbtide.spark.batch_shares import BatchShares
from ebbtide.spark.exchange import BODY, COLUMNS, SHARD, batches_of, packed
from ebbtide.spark.files_in_tasks import FilesOfTask
from ebbtide.spark.shelf import Shelf
from ebbtide.spark.tagged_rows import FILE, TAG, Shape
from ebbtide.store.record import Came

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEEN = "seen"
_OBSERVED = "arrivals"

_ROWS, _BYTES = 1 << 18, 1 << 26
"""About so much is worked on at once: little enough to fit, enough to be worth it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The sources of a program, and how their rows enter."""

    lowered: Lowered

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        """The sources, by their numbers."""
        return self.lowered.declarations

    @property
    def shape(self) -> Shape:
        """The table of what arrives; a row's tag is the number of its source."""
        return Shape.of({i: arrival_schema(d) for i, d in enumerate(self.declarations)})

    @property
    def has_fixed_rows(self) -> bool:
        """Whether all rows have about the same size, so that many of them are never too much."""
        types = (column.type for declared in self.declarations for column in declared.schema)
        return not any(isinstance(type_, OF_ANY_SIZE) for type_ in types)

    def placed(self, rows: DataFrame, last: Mapping[str, int]) -> DataFrame:
        """Rows of streams with their places in their sources, after those of the steps before.

        A source's rows are counted in the order in which Spark reads them in a step, which is the
        same when the step is repeated.
        """
        keyed = [i for i, declaration in enumerate(self.declarations) if declaration.key]
        if not keyed:
            return rows
        by_slot: dict[str, str] = {}
        for source in keyed:
            name = self.declarations[source].name
            slot = slot_of_places(self.shape, source)
            branch = f"WHEN {source} THEN {_number(last.get(name, -1) + 1, source)} + place"
            by_slot[slot] = f"{by_slot.get(slot, '')} {branch}"
        columns = [
            f"CASE {TAG}{by_slot[name]} ELSE {name} END AS {name}" if name in by_slot else name
            for name in rows.columns
        ]
        return rows.selectExpr("*", "monotonically_increasing_id() AS place").selectExpr(*columns)

    def wide(self, spark: SparkSession, files: BatchShares) -> DataFrame:
        """Files as rows of what arrives, beside which others may stand."""
        empty = self.shape.arrow.empty_table()
        rows = [
            {TAG: file.source, FILE: {"path": file.place, "how": file.how}} for file in files.files
        ]
        named = pa.Table.from_pylist(rows, schema=empty.schema)
        last = {
            declaration.name: place
            for declaration, place in zip(self.declarations, files.last, strict=True)
            if place is not None
        }
        return self.placed(arrow_arrivals(spark, self.shape, [named]), last)

    def packed(
        self,
        spark: SparkSession,
        arrived: DataFrame | BatchShares,
        entrance: Entrance,
        shelf: Shelf | None,
    ) -> DataFrame:
        """The parcels of what arrived, observed as they pass, or noted on the shelf."""
        if not isinstance(arrived, BatchShares):
            rows = RowsOfTask(self.declarations, self.shape)
            return _observed(arrived, EntryTask(entrance, rows, shelf))
        share = ShareOfTask(self.declarations, arrived)
        tasks = spark.range(0, len(arrived.shares), 1, len(arrived.shares))
        if shelf is None:
            return _observed(tasks, EntryTask(entrance, share, shelf))
        return tasks.mapInArrow(EntryTask(entrance, share, shelf, notes=True), COLUMNS)

    def seen(
        self,
        arrived: DataFrame | BatchShares,
        before: tuple[InputFrontier, ...],
        metrics: Any,
        shelf: Shelf | None,
    ) -> Seen:
        """What was observed, source by source."""
        if shelf is not None and isinstance(arrived, BatchShares):
            read = iter(_summed(_sums(before), shelf.notes(len(arrived.shares))))
        else:
            read = _read(metrics.get(_OBSERVED).get())
        refused = next(read)
        sources = []
        for frontier in before:
            count, late, oldest, place = (next(read) for _ in range(4))
            times = tuple(next(read) for _ in frontier.lines)
            sources.append(Observed(Came(count or 0, late or 0, oldest), times, place))
        return Seen(tuple(sources), bool(refused))


def _observed(rows: DataFrame, task: EntryTask) -> DataFrame:
    """What a task makes of rows, while Spark adds up what is observed."""
    from pyspark.sql import functions as F

    entered = rows.mapInArrow(task, f"{COLUMNS}, {SEEN} ARRAY<BIGINT>")
    metrics = [
        F.expr(f"{how}({SEEN}[{i}]) AS m{i}") for i, how in enumerate(_sums(task.entrance.before))
    ]
    observed = entered.observe(_OBSERVED, *metrics)
    return observed.where(f"{BODY} IS NOT NULL").select(TAG, SHARD, BODY)


def _read(values: Any) -> Iterator[int | None]:
    return (None if values.isNullAt(i) else values.getLong(i) for i in range(values.length()))


def _summed(sums: list[str], observed: Iterable[Sequence[int | None]]) -> list[int | None]:
    """What Spark would add up.

    >>> _summed(["sum", "min", "max"], [[1, None, 5], [2, 7, None]])
    [3, 7, 5]
    """
    adding: dict[str, Callable[[list[int]], int]] = {"sum": sum, "min": min, "max": max}
    columns = ([v for v in column if v is not None] for column in zip(*observed, strict=True))
    return [adding[how](found) if found else None for how, found in zip(sums, columns, strict=True)]


def _sums(before: tuple[InputFrontier, ...]) -> list[str]:
    """How what is observed adds up: as ``_numbers`` has it."""
    each = [["sum", "sum", "min", "max", *("max" for _ in frontier.lines)] for frontier in before]
    return ["sum", *(how for source in each for how in source)]


def _numbers(refused: int, observed: Iterable[Observed]) -> list[int | None]:
    """What is observed, in a row: the refused, and of each source what ``Entry.seen`` reads."""
    found: list[int | None] = [refused]
    for seen in observed:
        found += [seen.came.rows, seen.came.late, seen.came.oldest, seen.place, *seen.times]
    return found


Arrived: TypeAlias = Iterator[tuple[int, Any]]
"""Rows as they arrive, some at a time, each time of one source."""


@dataclass(frozen=True, slots=True)
class EntryTask:
    """Judges and packs the rows of a partition, some at a time.

    What it observed of them stands beside the parcels, or is noted on the shelf in the end.
    """

    entrance: Entrance
    arrivals: RowsOfTask | ShareOfTask
    shelf: Shelf | None
    notes: bool = False

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Parcels, and what was observed of the rows that are in them."""
        observed = [_numbers(0, (Observed.nothing(f) for f in self.entrance.before))]
        for rows in _gathered(self.arrivals(batches)):
            parcels, numbers = self._entered(rows)
            packets = batches_of(packed(parcels, self.shelf))
            if self.notes:
                yield from packets
                observed.append(numbers)
                continue
            for batch in packets:
                yield _with_seen(batch, None)
            (nothing,) = batches_of([(UNUSED, 0, None)])
            yield _with_seen(nothing, numbers)
        if self.notes and self.shelf is not None:
            self.shelf.note(number_of_task(), _summed(_sums(self.entrance.before), observed))

    def _entered(self, rows: Mapping[int, Any]) -> tuple[list[Parcel], list[int | None]]:
        parcels: list[Parcel] = []
        observed: list[Observed] = []
        refused = 0
        for source in range(len(self.entrance.declarations)):
            mine = rows[source] if source in rows else self.entrance.empty(source)
            judged, found = self.entrance.enter(source, mine)
            parcels += found
            observed.append(judged.observed)
            refused += len(judged.refused)
        return parcels, _numbers(refused, observed)


@dataclass(frozen=True, slots=True)
class RowsOfTask:
    """The rows that Spark hands over, and those of files that it names."""

    declarations: tuple[Declaration, ...]
    shape: Shape

    def __call__(self, batches: Iterable[Any]) -> Arrived:
        """The rows of sources, also of those whose files are named."""
        files = FilesOfTask(self.declarations)
        for batch in batches:
            tags, named = batch.column(TAG).to_numpy(), batch.column(FILE)
            is_row = np.asarray(named.is_null())
            for source in np.unique(tags).tolist():
                mask = (tags == source) & is_row
                if mask.any():
                    mine = batch if mask.all() else batch.filter(pa.array(mask))
                    yield source, self.shape.rows(mine, source)
            for row in np.flatnonzero(~is_row).tolist():
                source, file = int(tags[row]), named[row].as_py()
                first = batch.column(slot_of_places(self.shape, source))[row].as_py()
                for rows in files.rows(source, file["path"], file["how"], first):
                    yield source, rows


@dataclass(frozen=True, slots=True)
class ShareOfTask:
    """The rows of the files that a task has as its share, whatever Spark hands over."""

    declarations: tuple[Declaration, ...]
    batch: BatchShares

    def __call__(self, batches: Iterable[Any]) -> Arrived:
        """The rows of sources."""
        for _ in batches:
            pass
        files, task = FilesOfTask(self.declarations), number_of_task()
        for file in self.batch.shares[task]:
            first = self.batch.first_place(file.source, task)
            for rows in files.rows(file.source, file.place, file.how, first):
                yield file.source, rows


def number_of_task() -> int:
    """The number of the partition that this task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def slot_of_places(shape: Shape, source: int) -> str:
    """Where the place of a source's row stands."""
    return shape.slots(source)[shape.schema(source).index(OFFSET)]


def _gathered(arrived: Iterable[tuple[int, Any]]) -> Iterator[dict[int, Any]]:
    """The rows that arrive, many at once: tables of a good size, by their sources."""
    found: dict[int, list[Any]] = {}
    rows = size = 0
    for source, table in arrived:
        found.setdefault(source, []).append(table)
        rows, size = rows + table.num_rows, size + table.nbytes
        if rows >= _ROWS or size >= _BYTES:
            yield _joined(found)
            found, rows, size = {}, 0, 0
    if rows:
        yield _joined(found)


def _joined(found: Mapping[int, list[Any]]) -> dict[int, Any]:
    return {source: pa.concat_tables(t).combine_chunks() for source, t in found.items()}


def _with_seen(batch: Any, numbers: list[int | None] | None) -> Any:
    return batch.append_column(SEEN, pa.array([numbers], pa.list_(pa.int64())))


def _number(value: int, source: int) -> str:
    """A number that differs from step to step, in what is said about rows of one source.

    Spark writes numbers into the code that it makes, and other code is compiled and warmed up
    anew.  What it looks up in an array, by something of the row, it does not write there; of rows
    of the source the tag is its number.
    """
    return f"get(array({value}L), {TAG} - {source})"
