"""The shape of a batch of changes: a table of rows by position, their interval and their diff.

| column | type | holds |
|---|---|---|
| ``c0`` .. ``cn`` | any | the row |
| ``valid_from``, ``valid_to`` | int64, never NULL | when the change counts |
| ``diff`` | int64, never NULL | by how much |

Names are given by position, so that a batch means the same to every operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.change import Change
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import normalise
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.columns import plain

FROM, TO, DIFF = "valid_from", "valid_to", "diff"
TIMES = (
    pa.field(FROM, pa.int64(), nullable=False),
    pa.field(TO, pa.int64(), nullable=False),
    pa.field(DIFF, pa.int64(), nullable=False),
)


_FEW = 8
"""So many changes are left out by looking past them."""


def batch_schema(types: Iterable[Any]) -> Any:
    """The schema of batches whose rows have these types."""
    columns = [pa.field(f"c{i}", type_) for i, type_ in enumerate(types)]
    return pa.schema([*columns, *TIMES])


def row_types(schema: Any) -> list[Any]:
    """The types of the row's columns, of a batch's schema."""
    return [field.type for field in schema][: -len(TIMES)]


def width(table: Any) -> int:
    """How many columns the rows of a batch have."""
    return len(table.schema) - len(TIMES)


def payload(table: Any) -> range:
    """The positions of the row's columns."""
    return range(width(table))


def empty(schema: Any) -> Any:
    """A batch without changes."""
    return schema.empty_table()


def concat(tables: Iterable[Any], schema: Any) -> Any:
    """All changes of several batches in one."""
    full = [table for table in tables if table.num_rows]
    if not full:
        return empty(schema)
    return full[0] if len(full) == 1 else pa.concat_tables(full).combine_chunks()


def with_times(table: Any, valid_from: Ints, valid_to: Ints, diff: Ints) -> Any:
    """The rows of a batch with other intervals and diffs."""
    rows = [table.column(i) for i in payload(table)]
    times = [pa.array(values) for values in (valid_from, valid_to, diff)]
    return pa.Table.from_arrays([*rows, *times], schema=table.schema)


def where(table: Any, mask: Mask) -> Any:
    """The changes for which the mask holds."""
    dropped = np.flatnonzero(~mask)
    if len(dropped) == 0:
        return table
    if len(dropped) > _FEW:
        return table.filter(pa.array(mask))
    starts, ends = [0, *(dropped + 1)], [*dropped, len(mask)]
    # Slices are no copies.
    slices = [table.slice(start, end - start) for start, end in zip(starts, ends, strict=True)]
    return pa.concat_tables(slices)


def last_end(horizon: Instant) -> Instant:
    """The last instant at which a change may end to be untouched by all that begins after.

    Before anything is promised, later changes may begin at ``-inf``, and nothing has ended.
    """
    return NEG_INF if horizon <= NEG_INF else min(horizon, INF - 1) + 1


def from_changes(changes: Iterable[Change], schema: Any) -> Any:
    """A batch of the model's changes."""
    listed = list(changes)
    columns = [
        pa.array([change.row[i] for change in listed], type_)
        for i, type_ in enumerate(row_types(schema))
    ]
    times = [
        pa.array([getattr(change, name) for change in listed], pa.int64())
        for name in (FROM, TO, DIFF)
    ]
    return pa.Table.from_arrays([*columns, *times], schema=schema)


def to_changes(table: Any) -> tuple[Change, ...]:
    """The changes of a batch, as the model's values."""
    columns = [table.column(i).to_pylist() for i in range(table.num_columns)]
    rows, times = columns[: width(table)], columns[width(table) :]
    return tuple(
        Change(tuple(normalise(plain(value)) for value in values[:-3]), *values[-3:])
        for values in zip(*rows, *times, strict=True)
    )
