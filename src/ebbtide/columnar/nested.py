"""Arrays and structs: making them, and what is inside of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.arrays import is_scalar, numbers, present, struct_of
from ebbtide.columnar.signature import Context, Implementation, by_value
from ebbtide.columnar.vectors import Computed, Failures, failing, repeated
from ebbtide.core.types import StructType
from ebbtide.core.values import Value, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.state.types import arrow_type


def _columns(operands: tuple[Any, ...]) -> list[Any]:
    """All operands as columns."""
    rows = next((len(operand) for operand in operands if not is_scalar(operand)), 1)
    return [
        repeated(operand, operand.type, rows) if is_scalar(operand) else operand
        for operand in operands
    ]


def _array(context: Context, *operands: Any) -> Any:
    columns = _columns(operands)
    if not columns:
        return pa.array([[]], arrow_type(context.type))
    rows, count = len(columns[0]), len(columns)
    order = np.arange(rows * count, dtype=np.int64).reshape(count, rows).T.reshape(-1)
    ends = pa.array(np.arange(rows + 1, dtype=np.int32) * count)
    return pa.ListArray.from_arrays(ends, pa.concat_arrays(columns).take(pa.array(order)))


def _struct(context: Context, *operands: Any) -> Any:
    assert isinstance(context.type, StructType)
    columns = _columns(operands)
    rows = len(columns[0]) if columns else 1
    return struct_of(columns, context.type, np.zeros(rows, np.bool_))


def field(place: int, operand: Any) -> Any:
    """A field of structs."""
    return pc.struct_field(operand, [place])


def item(operand: Any, index: Any) -> Computed:
    """The elements at positions from 0."""
    items, places = _lists(operand, index)
    return _picked(items, places, places, index)


def _element_at(context: Context, operand: Any, place: Any) -> Computed:
    items, given = _lists(operand, place)
    sizes = np.diff(items.offsets.to_numpy(zero_copy_only=False)).astype(np.int64)
    places = np.where(given > 0, given - 1, np.where(given < 0, sizes + given, -1))
    return _picked(items, places, given, place)


def _lists(operand: Any, index: Any) -> tuple[Any, Any]:
    """A column of arrays, and a place in each."""
    rows = len(index) if is_scalar(operand) else len(operand)
    items = repeated(operand, operand.type, rows) if is_scalar(operand) else operand
    places = np.broadcast_to(np.asarray(numbers(index), np.int64), (rows,))
    return items, places


def _picked(items: Any, places: Any, shown: Any, index: Any) -> Computed:
    starts = items.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    sizes = np.diff(starts)
    there = present(True, items, index)
    within = (places >= 0) & (places < sizes)
    found = there & within
    values = items.values.take(pa.array(starts[:-1] + places, mask=~found))
    failed = there & ~within
    if not failed.any():
        return Computed(values)
    return failing(values, _not_there(np.flatnonzero(failed), shown, sizes))


def _not_there(rows: Any, shown: Any, sizes: Any) -> Failures:
    """The failures of rows, each with its own place."""
    pairs, numbers_ = np.unique(np.stack((shown[rows], sizes[rows])), axis=1, return_inverse=True)
    which = np.zeros(len(sizes), np.int32)
    which[rows] = numbers_.reshape(-1) + 1
    said = (f"there is no item {place} of {size}" for place, size in pairs.T)
    return Failures(which, tuple(EvaluationError("out-of-bounds", text) for text in said))


def _array_contains(items: tuple[Value, ...], value: Value) -> bool | None:
    wanted = sort_key(value)
    if any(sort_key(item) == wanted for item in items):
        return True
    return None if None in items else False


NESTED: dict[str, Implementation] = {
    "ARRAY": _array,
    "STRUCT": _struct,
    "SIZE": lambda context, items: pc.list_value_length(items),
    "ARRAY_CONTAINS": by_value(_array_contains),
    "ELEMENT_AT": _element_at,
}
