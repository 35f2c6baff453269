"""Tables of tagged changes: rows of many edges in one DataFrame or Arrow table.

Law: a row's tag says which edge it belongs to, and the shape says in which slots that edge's
columns are.  Rows with the tag ``DESCRIPTION`` carry text about a task in the first text slot,
those with the tag ``UNUSED`` a row that counts for nothing, as a list in JSON: every column more
would be paid for by all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, INT, STRING
from ebbtide.dataflow.tags import DESCRIPTION, UNUSED
from ebbtide.spark.slots import SlotLayout, lay_out, slot_name
from ebbtide.spark.types import arrow_type, border_type, spark_type
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema

TAG, SHARD = "tag", "shard"

_TEXT = Schema((Column("text", STRING),))
_NONE: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)
class Shape:
    """The schemas of the tags, and where their columns are."""

    tags: tuple[int, ...]
    schemas: tuple[Schema, ...]
    layout: SlotLayout

    @staticmethod
    def of(schemas: Mapping[int, Schema]) -> Shape:
        """The shape of a table with rows of these edges, descriptions and unused rows."""
        known = {**schemas, DESCRIPTION: _TEXT, UNUSED: _TEXT}
        return Shape(tuple(known), tuple(known.values()), lay_out(tuple(known.values())))

    def schema(self, tag: int) -> Schema:
        """The schema of a tag's rows."""
        return self.schemas[self.tags.index(tag)]

    def slots(self, tag: int) -> tuple[str, ...]:
        """The slots of a tag's columns, in order."""
        return tuple(slot_name(slot) for slot in self.layout.places[self.tags.index(tag)])

    @property
    def ddl(self) -> str:
        """The columns as Spark declares them."""
        slots = zip(self.layout.names, self.layout.slots, strict=True)
        columns = [(TAG, INT), (SHARD, INT), *slots, (FROM, BIGINT), (TO, BIGINT)]
        return ", ".join(f"{n} {spark_type(t)}" for n, t in [*columns, (DIFF, BIGINT)])

    @property
    def arrow(self) -> Any:
        """The columns as Spark hands them over."""
        slots = zip(self.layout.names, self.layout.slots, strict=True)
        times = [(name, pa.int64()) for name in (FROM, TO, DIFF)]
        return pa.schema(
            [
                (TAG, pa.int32()),
                (SHARD, pa.int32()),
                *((name, border_type(type_)) for name, type_ in slots),
                *times,
            ]
        )

    def gathered(self, batches: Iterable[Any], lengths: Mapping[int, int] = _NONE) -> Any:
        """The batches that Spark hands over, as one table.

        Of columns that are not there the tag is the first, diff is 1, the end is after the length
        of the tag's changes, and the others are NULL.
        """
        found = list(batches)
        if not found:
            return self.arrow.empty_table()
        table = pa.Table.from_batches(found)
        given = dict(zip(table.schema.names, table.columns, strict=True))
        if TO not in given:
            given[TO] = _ends(given[FROM], given.get(TAG), lengths)
        otherwise = {TAG: self.tags[0], DIFF: 1}
        arrays = [
            given[field.name]
            if field.name in given
            else pa.repeat(pa.scalar(otherwise.get(field.name), field.type), table.num_rows)
            for field in self.arrow
        ]
        return pa.Table.from_arrays(arrays, schema=self.arrow)

    def changes(self, table: Any, tag: int) -> Any:
        """The rows of a tag as a batch of changes, times as int64."""
        types = [arrow_type(column.type) for column in self.schema(tag)]
        target = batch_schema(types)
        names = [*self.slots(tag), FROM, TO, DIFF]
        arrays = [
            _as(table.column(name), field.type) for name, field in zip(names, target, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=target)

    def narrow(self, tag: int, changes: Any) -> Any:
        """A batch of changes with the names of the tag's slots, and no other columns."""
        return changes.rename_columns([*self.slots(tag), FROM, TO, DIFF])

    def wide(self, tag: int, narrow: Any) -> Any:
        """Rows of a tag with all columns of this shape."""
        given = dict(zip(narrow.column_names, narrow.columns, strict=True))
        count = narrow.num_rows
        arrays = []
        for field in self.arrow:
            if field.name == TAG:
                arrays.append(pa.repeat(pa.scalar(tag, pa.int32()), count))
            elif field.name in given:
                arrays.append(_as(given[field.name], field.type))
            else:
                arrays.append(pa.nulls(count, field.type))
        return pa.Table.from_arrays(arrays, schema=self.arrow)

    def rows(self, tag: int, changes: Any) -> Any:
        """A batch of changes as rows of a tag."""
        return self.wide(tag, self.narrow(tag, changes))

    def texts(self, tag: int, texts: Sequence[str], diff: Sequence[int] | None = None) -> Any:
        """Narrow rows of text of a tag; no times belong to them."""
        zeros, ones = ([value] * len(texts) for value in (0, 1))
        columns = [pa.array(values, pa.int64()) for values in (zeros, zeros, diff or ones)]
        arrays = [pa.array(texts, pa.string()), *columns]
        table = pa.Table.from_arrays(arrays, schema=batch_schema([pa.string()]))
        return self.narrow(tag, table)

    def text_of(self, table: Any, tag: int) -> list[str]:
        """The texts of a tag's rows."""
        texts: list[str] = table.column(self.slots(tag)[0]).to_pylist()
        return texts


def _ends(begins: Any, tags: Any, lengths: Mapping[int, int]) -> Any:
    """The ends of changes that last as long as their tag says; text lasts for no time."""
    if tags is None:
        (length,) = lengths.values()
        return pa.array(begins.to_numpy() + length)
    known = sorted({**lengths, DESCRIPTION: 0, UNUSED: 0}.items())
    places = np.searchsorted([tag for tag, _ in known], tags.to_numpy())
    return pa.array(begins.to_numpy() + np.array([length for _, length in known])[places])


def _as(column: Any, type_: Any) -> Any:
    if column.type == type_:
        return column
    if pa.types.is_null(type_) or pa.types.is_null(column.type):
        return pa.nulls(len(column), type_)
    if pa.types.is_duration(column.type) and pa.types.is_int64(type_):
        return column.cast(pa.duration("us")).cast(type_)
    return column.cast(type_)
