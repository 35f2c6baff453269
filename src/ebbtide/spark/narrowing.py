"""Columns of whole numbers and times, in as few bytes as their spread needs.

Law: ``widened(narrowed(rows))`` is ``rows``, value for value, with the same schema.

Most of what travels between stages are numbers of 64 bits that differ little: times of one batch,
keys, a ``diff`` that is 1 in every row, an end that is as far from its beginning as all others.
Of a column that holds one number, only that number travels; of others the distance from the least
one, if it fits into fewer bytes.  The schema of what is sent says what was left out.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.state.table import FROM, TO

_ENOUGH = 4096
"""Of fewer rows, a schema is larger than what could be left out."""

_WHOLE, _LEFT_OUT = b"schema", b"left out"

_Way: TypeAlias = tuple[str, int] | None
"""How a column travels: as it is, or as a distance from a number or from the beginning."""

_ONE, _LEAST, _BEGINNING = "one", "least", "beginning"


def narrowed(rows: Any) -> Any:
    """Rows with narrower columns, and in their schema what makes them whole again."""
    if rows.num_rows < _ENOUGH:
        return rows
    names, columns, ways = [], [], []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        values, way = _as_distance(rows) if name == TO else (None, None)
        if way is None:
            values, way = _narrow(column)
        ways.append(way)
        if values is not None:
            names.append(name)
            columns.append(values)
    if not any(ways):
        return rows
    told = {_WHOLE: rows.schema.serialize().to_pybytes(), _LEFT_OUT: json.dumps(ways).encode()}
    # A column without a width still counts its rows.
    columns.append(pa.nulls(rows.num_rows))
    return pa.Table.from_arrays(columns, names=[*names, ""]).replace_schema_metadata(told)


def widened(rows: Any) -> Any:
    """The rows that were narrowed."""
    told = rows.schema.metadata or {}
    if _LEFT_OUT not in told:
        return rows
    schema = pa.ipc.read_schema(pa.py_buffer(told[_WHOLE]))
    sent = iter(rows.columns)
    columns: list[Any] = []
    for field, way in zip(schema, json.loads(told[_LEFT_OUT]), strict=True):
        if way is None:
            columns.append(next(sent))
            continue
        kind, number = way
        if kind == _ONE:
            values = pa.repeat(pa.scalar(number, pa.int64()), rows.num_rows)
        else:
            base = columns[schema.get_field_index(FROM)] if kind == _BEGINNING else next(sent)
            values = pc.add(base.cast(pa.int64()), number)
        columns.append(values if field.type == pa.int64() else values.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _narrow(column: Any) -> tuple[Any, _Way]:
    """A column as it travels, if it does."""
    if not _is_wide(column.type):
        return column, None
    numbers = column if column.type == pa.int64() else column.cast(pa.int64())
    low, high = pc.min_max(numbers).as_py().values()
    if low is None:
        return column, None
    if low == high and not column.null_count:
        return None, (_ONE, low)
    for bits, type_ in ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32())):
        if high - low < 1 << bits:
            return pc.subtract(numbers, low).cast(type_, safe=False), (_LEAST, low)
    return column, None


def _is_wide(type_: Any) -> bool:
    return bool(pa.types.is_int64(type_) or pa.types.is_timestamp(type_))


def _as_distance(rows: Any) -> tuple[None, _Way]:
    """The ends of changes, if all are equally far from their beginnings."""
    begin, end = (np.asarray(rows.column(name)) for name in (FROM, TO))
    # A sum that wraps around comes back the way that it went.
    distance = end - begin
    far = int(distance[0])
    return (None, (_BEGINNING, far)) if (distance == far).all() else (None, None)
