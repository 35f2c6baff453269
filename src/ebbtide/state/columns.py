"""Columns as whole numbers: images that are equal just where SQL groups values together.

Law: two values of a column are the same (NULL with NULL, NaN with NaN, 0.0 with -0.0) iff their
``words`` are equal, and ``ranks`` order them as ``core.values.sort_key`` does: NULL first, NaN
last.  Both mean something only within one call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.values import sort_key
from ebbtide.errors import InternalError
from ebbtide.state.arrays import Ints, Mask, Words, sortable, unsigned_order

_FIXED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def column(table: Any, index: int) -> Any:
    """A column of a table or record batch as one array."""
    found = table.column(index)
    return single(found) if isinstance(found, pa.ChunkedArray) else found


def single(chunked: Any) -> Any:
    """The values of a chunked array as one array, without a copy where there is one chunk."""
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def ints(table: Any, name: str) -> Ints:
    """An int64 column without NULLs, over Arrow's own memory where that is one piece."""
    found = table.column(name)
    array = single(found) if isinstance(found, pa.ChunkedArray) else found
    return fixed(array)


def fixed(array: Any) -> npt.NDArray[Any]:
    """The stored values of a column of fixed width, whatever stands where NULL is."""
    dtype = np.float64 if pa.types.is_float64(array.type) else _FIXED[array.type.bit_width]
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype)[array.offset : array.offset + len(array)]


def present(array: Any) -> Mask | None:
    """Where a column is not NULL; None if that is everywhere."""
    if array.null_count == 0:
        return None
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def words(array: Any) -> Words:
    """Whole numbers that are equal where the values are the same."""
    valid = present(array)
    values = _values(array)
    if valid is None:
        return values
    return [valid.astype(np.int64), *(np.where(valid, word, 0) for word in values)]


def ranks(array: Any) -> Words:
    """Whole numbers in the order of the values, the most significant first."""
    valid = present(array)
    kind = array.type
    if pa.types.is_float64(kind):
        values = [sortable(double_bits(array))]
    elif pa.types.is_decimal128(kind):
        high, low = _values(array)
        values = [high, unsigned_order(low)]
    elif is_text(kind):
        values = [_ranks_of_text(array)]
    elif pa.types.is_struct(kind) or is_list(kind):
        return [_python_ranks(array)]
    else:
        values = _values(array)
    if valid is None:
        return values
    return [valid.astype(np.int64), *(np.where(valid, value, 0) for value in values)]


def all_words(table: Any, columns: Iterable[int]) -> Words:
    """The words of several columns, one after the other."""
    return [word for index in columns for word in words(column(table, index))]


def all_ranks(table: Any, columns: Iterable[int]) -> Words:
    """The ranks of several columns, one after the other."""
    return [rank for index in columns for rank in ranks(column(table, index))]


def double_bits(array: Any) -> Ints:
    """The bits of doubles, one pattern for all that SQL does not tell apart."""
    values = fixed(array) + 0.0
    bits = values.view(np.int64)
    bits[np.isnan(values)] = np.float64(np.nan).view(np.int64)
    return bits


def decimal_words(array: Any) -> tuple[Ints, Ints]:
    """The high and the low word of the unscaled numbers."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.int64)
    pairs = np.frombuffer(data, np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
    return pairs[1::2], pairs[0::2]


def is_list(kind: Any) -> bool:
    """Whether the type is a sequence."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_text(kind: Any) -> bool:
    """Whether the type is text or bytes."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_binary(kind)
        or types.is_large_string(kind)
        or types.is_large_binary(kind)
    )


def _values(array: Any) -> Words:
    kind = array.type
    if pa.types.is_float64(kind):
        return [double_bits(array)]
    if pa.types.is_boolean(kind):
        filled = array.fill_null(False) if array.null_count else array
        return [np.asarray(filled.to_numpy(zero_copy_only=False)).astype(np.int64)]
    if pa.types.is_decimal128(kind):
        return list(decimal_words(array))
    if is_text(kind):
        return [_codes_of_text(array)]
    if pa.types.is_null(kind):
        return [np.zeros(len(array), np.int64)]
    if pa.types.is_struct(kind):
        return [word for field in array.flatten() for word in words(field)]
    if is_list(kind):
        return [_codes_of_lists(array)]
    try:
        return [fixed(array).astype(np.int64, copy=False)]
    except (KeyError, ValueError) as error:
        raise InternalError("unknown-type", f"state has no place for columns of {kind}") from error


def _codes_of_text(array: Any) -> Ints:
    indices = array.dictionary_encode().indices
    if indices.null_count:
        indices = indices.fill_null(0)
    return np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _ranks_of_text(array: Any) -> Ints:
    """Texts that are there several times are compared once."""
    encoded = array.dictionary_encode()
    if not len(encoded.dictionary):
        return np.zeros(len(array), np.int64)
    rank = pc.rank(encoded.dictionary, tiebreaker="dense").to_numpy().astype(np.int64)
    indices = encoded.indices.fill_null(0) if array.null_count else encoded.indices
    found: Ints = rank[indices.to_numpy(zero_copy_only=False)]
    return found


def _codes_of_lists(array: Any) -> Ints:
    bounds = np.asarray(array.offsets.to_numpy(zero_copy_only=False)).astype(np.int64)
    items = array.values
    table = np.column_stack(words(items)) if len(items) else np.zeros((0, 1), np.int64)
    seen: dict[bytes, int] = {}
    spans = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    codes = (seen.setdefault(table[start:end].tobytes(), len(seen)) for start, end in spans)
    return np.fromiter(codes, np.int64, len(array))


def _python_ranks(array: Any) -> Ints:
    keys = [sort_key(plain(value)) for value in array.to_pylist()]
    dense = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.fromiter((dense[key] for key in keys), np.int64, len(keys))


def plain(value: Any) -> Any:
    """A value from Arrow as the model's value: lists and structs are tuples."""
    if isinstance(value, list):
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return tuple(plain(item) for item in value.values())
    return value
