"""Columns of results as whole numbers, and back.

Law: ``decode(encode(column)) = column``, and words are equal iff SQL does not tell the values
apart.  What has no fixed width is numbered, over the new and the emitted column together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.state.arrays import Ints, Words
from ebbtide.state.columns import decimal_words, double_bits, fixed, present, words

_PLAIN = (pa.types.is_integer, pa.types.is_date32)


@dataclass(frozen=True, slots=True)
class Encoded:
    """The words of a column in two batches, and what is needed to go back."""

    kind: Any
    nullable: bool
    left: Words
    right: Words
    choices: Any = None

    @property
    def width(self) -> int:
        """How many words a value has."""
        return len(self.left)


def encode(left: Any, right: Any) -> Encoded:
    """One column of two batches."""
    kind = left.type
    nullable = bool(left.null_count or right.null_count)
    if _is_fixed(kind):
        return Encoded(kind, nullable, _words(left, nullable), _words(right, nullable))
    both = pa.concat_arrays([left, right])
    codes = np.zeros(len(both), np.int64)
    for word in words(both):
        codes = np.unique(np.stack([codes, word]), axis=1, return_inverse=True)[1].ravel()
    first = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    choices = both.take(pa.array(first))
    return Encoded(kind, False, [codes[: len(left)]], [codes[len(left) :]], choices)


def decode(column: Encoded, chosen: Words) -> Any:
    """The column of the given words."""
    if column.choices is not None:
        return column.choices.take(pa.array(chosen[0]))
    valid = chosen[0] != 0 if column.nullable else None
    values = chosen[1:] if column.nullable else chosen
    mask = None if valid is None else ~valid
    if pa.types.is_float64(column.kind):
        return pa.array(values[0].view(np.float64), mask=mask)
    if pa.types.is_boolean(column.kind):
        return pa.array(values[0] != 0, mask=mask)
    if pa.types.is_decimal128(column.kind):
        pairs = np.empty(2 * len(values[0]), np.int64)
        pairs[1::2], pairs[0::2] = values
        bits = None
        if valid is not None:
            bits = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
        return pa.Array.from_buffers(column.kind, len(values[0]), [bits, pa.py_buffer(pairs)])
    return pa.array(values[0], mask=mask).cast(_storage(column.kind)).cast(column.kind)


def _is_fixed(kind: Any) -> bool:
    types = pa.types
    return bool(
        any(test(kind) for test in _PLAIN)
        or types.is_float64(kind)
        or types.is_boolean(kind)
        or types.is_decimal128(kind)
    )


def _words(array: Any, nullable: bool) -> Words:
    if pa.types.is_float64(array.type):
        values = [double_bits(array)]
    elif pa.types.is_decimal128(array.type):
        values = list(decimal_words(array))
    elif pa.types.is_boolean(array.type):
        filled = array.fill_null(False) if array.null_count else array
        values = [np.asarray(filled.to_numpy(zero_copy_only=False)).astype(np.int64)]
    else:
        values = [fixed(array).astype(np.int64, copy=False)]
    if not nullable:
        return values
    valid = present(array)
    flags = np.ones(len(array), np.int64) if valid is None else valid.astype(np.int64)
    return [flags, *(value * flags for value in values)]


def _storage(kind: Any) -> Any:
    return pa.int32() if pa.types.is_date32(kind) else kind


def stacked(columns: list[Words], count: int) -> Ints:
    """The words of several columns, a line per row."""
    flat = [word for column in columns for word in column]
    if not flat:
        return np.zeros((count, 0), np.int64)
    return np.ascontiguousarray(np.stack(flat, axis=1))
