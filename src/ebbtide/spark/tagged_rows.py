"""The table of what arrives: rows of all sources in one DataFrame.

Law: a row's tag is the number of its source, and the shape says in which slots that source's
columns are.  Or it stands for all rows of a file: then it says where the file is and how it is
read, and its slots are empty but for the place of its first row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.core.schema import Schema
from ebbtide.spark.slots import SlotLayout, lay_out, slot_name
from ebbtide.spark.types import arrow_type, border_type

TAG = "tag"
FILE = "file"
"""The column for files that tasks open."""
FILE_TYPE = pa.struct([("path", pa.string()), ("how", pa.string())])


@dataclass(frozen=True, slots=True)
class Shape:
    """The schemas of the tags, and where their columns are."""

    tags: tuple[int, ...]
    schemas: tuple[Schema, ...]
    layout: SlotLayout

    @staticmethod
    def of(schemas: Mapping[int, Schema]) -> Shape:
        """The shape of a table with rows of these sources."""
        return Shape(tuple(schemas), tuple(schemas.values()), lay_out(tuple(schemas.values())))

    def schema(self, tag: int) -> Schema:
        """The schema of a tag's rows."""
        return self.schemas[self.tags.index(tag)]

    def slots(self, tag: int) -> tuple[str, ...]:
        """The slots of a tag's columns, in order."""
        return tuple(slot_name(slot) for slot in self.layout.places[self.tags.index(tag)])

    @property
    def arrow(self) -> Any:
        """The columns as Spark hands them over."""
        slots = zip(self.layout.names, self.layout.slots, strict=True)
        columns = ((name, border_type(type_)) for name, type_ in slots)
        return pa.schema([(TAG, pa.int32()), *columns, (FILE, FILE_TYPE)])

    def rows(self, table: Any, tag: int) -> Any:
        """Rows of a tag with the columns of their source, in the types of kernels."""
        types = [arrow_type(column.type) for column in self.schema(tag)]
        arrays = [
            _as(table.column(name), type_)
            for name, type_ in zip(self.slots(tag), types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])

    def wide(self, tag: int, rows: Any) -> Any:
        """Rows of a source, in the types of kernels, with all columns of this shape."""
        given = dict(zip(self.slots(tag), rows.columns, strict=True))
        count = rows.num_rows
        arrays = []
        for field in self.arrow:
            if field.name == TAG:
                arrays.append(pa.repeat(pa.scalar(tag, pa.int32()), count))
            elif field.name in given:
                arrays.append(_as(given[field.name], field.type))
            else:
                arrays.append(pa.nulls(count, field.type))
        return pa.Table.from_arrays(arrays, schema=self.arrow)


def _as(column: Any, type_: Any) -> Any:
    if column.type == type_:
        return column
    if pa.types.is_null(type_) or pa.types.is_null(column.type):
        return pa.nulls(len(column), type_)
    if pa.types.is_duration(column.type) and pa.types.is_int64(type_):
        return column.cast(pa.duration("us")).cast(type_)
    return column.cast(type_)
