"""Rows that are at hand in this process, fed or written in a query, as Arrow tables for Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ebbtide.compile.arrival import arrival_schema
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row
from ebbtide.spark.tagged_rows import Shape
from ebbtide.spark.types import arrow_type, border_type
from ebbtide.store.feed_log import FedRow


def fed_table(
    shape: Shape, source: int, declaration: Declaration, rows: Sequence[tuple[int, FedRow]]
) -> Any:
    """Rows that were fed by hand, with their places in the log, as an Arrow table."""
    columns: list[list[Any]] = [
        [row.values[i] for _, row in rows] for i in range(len(declaration.schema))
    ]
    columns.append([row.op for _, row in rows])
    columns.append([place for place, _ in rows])
    columns.append([row.malformed for _, row in rows])
    types = [arrow_type(column.type) for column in arrival_schema(declaration)]
    arrays = [
        pa.array(_plain(values, type_), type_) for values, type_ in zip(columns, types, strict=True)
    ]
    names = [f"c{i}" for i in range(len(arrays))]
    return shape.wide(source, pa.Table.from_arrays(arrays, names=names))


def given_table(schema: Schema, rows: Sequence[Row]) -> Any:
    """Rows that are written in a query, as an Arrow table that Spark takes.

    A query without FROM reads one row of no columns; a table of none would have no rows, either.
    """
    if not len(schema):
        return pa.table({"row": pa.array(range(len(rows)), pa.int64())})
    types = [border_type(column.type) for column in schema]
    arrays = [
        pa.array(_plain([row[i] for row in rows], type_), type_) for i, type_ in enumerate(types)
    ]
    return pa.Table.from_arrays(arrays, names=list(schema.names))


def _plain(values: list[Any], type_: Any) -> list[Any]:
    if pa.types.is_struct(type_):
        names = [type_.field(i).name for i in range(type_.num_fields)]
        return [None if v is None else dict(zip(names, v, strict=True)) for v in values]
    return [list(v) if isinstance(v, tuple) else v for v in values]
