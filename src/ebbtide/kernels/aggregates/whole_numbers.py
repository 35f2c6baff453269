"""Whole numbers of 192 bits, in three columns of words, as results.

Law: nothing is rounded but what the type of the result asks for, once, halves away from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ebbtide.errors import EvaluationError
from ebbtide.state.arrays import Mask

_EXACT = 2**53


def fits_one(words: list[Any]) -> Mask:
    """Where the number is one signed word."""
    sign = words[0].view(np.int64) >> 63
    fits: Mask = (words[1].view(np.int64) == sign) & (words[2].view(np.int64) == sign)
    return fits


def fits_two(words: list[Any]) -> Mask:
    """Where the number is two signed words."""
    fits: Mask = words[2].view(np.int64) == words[1].view(np.int64) >> 63
    return fits


def within(words: list[Any], precision: int) -> Mask:
    """Where a number of two words has at most that many decimal digits."""
    limit = 10**precision
    high = words[1].view(np.int64)
    negative = high < 0
    low = np.where(negative, ~words[0] + np.uint64(1), words[0])
    carry = (negative & (words[0] == 0)).astype(np.uint64)
    top = np.where(negative, ~words[1] + carry, words[1])
    limit_high, limit_low = np.uint64(limit >> 64), np.uint64(limit & (2**64 - 1))
    fits: Mask = (top < limit_high) | ((top == limit_high) & (low < limit_low))
    return fits


def python_ints(words: list[Any], place: int) -> int:
    """The number in a place."""
    value = int(words[0][place]) | int(words[1][place]) << 64 | int(words[2][place]) << 128
    return value - (1 << 192) if value >> 191 else value


def ratios(words: list[Any], divisor: Any) -> npt.NDArray[np.float64]:
    """The doubles next to the numbers divided by positive whole ones."""
    one = words[0].view(np.int64)
    small = fits_one(words) & (one < _EXACT) & (one > -_EXACT)
    result: npt.NDArray[np.float64] = np.where(small, one, 0) / divisor
    for i in np.flatnonzero(~small).tolist():
        result[i] = python_ints(words, i) / int(divisor[i])
    return result


def rounded(words: list[Any], divisor: Any, shift: int) -> list[int]:
    """The whole numbers next to the numbers times ``10^shift`` divided by positive ones."""
    factor = 10**shift
    return [
        _nearest(python_ints(words, i) * factor, int(d)) for i, d in enumerate(divisor.tolist())
    ]


def _nearest(top: int, bottom: int) -> int:
    size = (2 * abs(top) + bottom) // (2 * bottom)
    return size if top >= 0 else -size


def decimals(kind: Any, words: list[Any], absent: Mask) -> Any:
    """A column of decimals from the two low words of the unscaled numbers."""
    pairs = np.empty(2 * len(absent), np.uint64)
    pairs[0::2], pairs[1::2] = words[0], words[1]
    validity = None
    if absent.any():
        validity = pa.py_buffer(np.packbits(~absent, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(absent), [validity, pa.py_buffer(pairs)])


def decimals_of(kind: Any, numbers: list[int], absent: Mask, name: str) -> Any:
    """A column of decimals from unscaled numbers."""
    limit = 10**kind.precision
    if any(abs(number) >= limit for number in numbers):
        raise EvaluationError(
            "overflow", f"{name} does not fit into {kind}", hint="CAST to a wider type"
        )
    low = np.array([number & (2**64 - 1) for number in numbers], np.uint64)
    high = np.array([(number >> 64) & (2**64 - 1) for number in numbers], np.uint64)
    return decimals(kind, [low, high], absent)
