"""Sums of doubles that round nothing, of all rows that never end.

Law: a total is exactly the sum of ``diff * value``, or of ``diff * value^2``, over all changes of
its group that reach to the end of time, whether they are still stored or not.  So at an instant
that is not below the horizon, the exact sum over a group's valid rows is

    total - what begins later and never ends + what is valid then and ends

for all that begins later is stored, and all that ends after it.  Changes that cancel each other
leave this sum as it is.

A total is a whole number of a fixed width, in units of the smallest double or of its square, with
room for 2^63 rows; negative ones are in two's complement.  A double is added where its exponent
says, which takes three words and the carry.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import INF
from ebbtide.kernels.aggregates.accumulation import Moment, Values
from ebbtide.kernels.aggregates.arithmetic import square
from ebbtide.kernels.sweeps.spans import Spans
from ebbtide.state.arrays import Hashes

BYTES = pa.large_binary()
_UNIT = 1074
_WORDS, _WORDS_OF_SQUARES = 34, 67
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_MANTISSA = np.uint64(2**52 - 1)
_HIDDEN = np.uint64(2**52)
_EXPONENT = np.uint64(0x7FF)


def width(moment: Moment) -> int:
    """How many words the totals of a moment of doubles take."""
    return _WORDS + (_WORDS_OF_SQUARES if moment.squares else 0)


def add_endless(words: Hashes, moment: Moment, place: int, values: Values, spans: Spans) -> None:
    """Adds the spans that reach to the end of time to the totals of their groups."""
    endless = spans.chosen((spans.ends == INF) & values.present[place][spans.rows])
    numbers = values.real[place][endless.rows]
    _add_all(words, endless.groups, numbers, endless.diff, moment.squares)


def sums(words: Hashes, group: int, moment: Moment) -> tuple[Fraction, Fraction]:
    """The exact sum of a group and that of its squares."""
    squares = Fraction(0)
    if moment.squares:
        squares = Fraction(_number(words[group, _WORDS:]), 1 << (2 * _UNIT))
    return Fraction(_number(words[group, :_WORDS]), 1 << _UNIT), squares


def to_column(words: Hashes) -> Any:
    """Totals as a column of bytes."""
    count, size = words.shape[0], 8 * words.shape[1]
    offsets = np.arange(count + 1, dtype=np.int64) * size
    data = np.ascontiguousarray(words)
    return pa.Array.from_buffers(BYTES, count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def from_column(array: Any, words: int) -> Hashes:
    """Totals from a column of bytes."""
    if not len(array):
        return np.zeros((0, words), np.uint64)
    _, offsets, data = array.buffers()
    first = int(np.frombuffer(offsets, np.int64)[array.offset])
    flat = np.frombuffer(data, np.uint8)[first : first + 8 * words * len(array)]
    return flat.copy().view(np.uint64).reshape(len(array), words)


def _number(words: Any) -> int:
    return int.from_bytes(np.ascontiguousarray(words).tobytes(), "little", signed=True)


@njit(cache=True)
def _add_all(words: Any, groups: Any, values: Any, diff: Any, squares: bool) -> None:
    bits = values.view(np.uint64)
    for i in range(len(values)):
        if not np.isfinite(values[i]) or values[i] == 0.0:
            continue
        exponent = np.int64((bits[i] >> np.uint64(52)) & _EXPONENT)
        mantissa = bits[i] & _MANTISSA
        if exponent > 0:
            mantissa |= _HIDDEN
            exponent -= 1
        line = words[groups[i]]
        less = (values[i] < 0.0) != (diff[i] < 0)
        _add_times(line[:_WORDS], mantissa, _ZERO, exponent, abs(diff[i]), less)
        if squares:
            low, high = square(mantissa)
            _add_times(line[_WORDS:], low, high, 2 * exponent, abs(diff[i]), diff[i] < 0)


@njit(cache=True)
def _add_times(words: Any, low: Any, high: Any, shift: Any, times: Any, less: bool) -> None:
    """Adds ``times`` times a number of two words, shifted to the left; or takes it away."""
    while times > 0:
        if times & 1:
            _add_shifted(words, low, high, shift, less)
        shift += 1
        times >>= 1


@njit(cache=True)
def _add_shifted(words: Any, low: Any, high: Any, shift: Any, less: bool) -> None:
    at, rest = shift >> 6, np.uint64(shift & 63)
    first, second, third = low, high, _ZERO
    if rest != _ZERO:
        back = np.uint64(64) - rest
        first, second, third = low << rest, (high << rest) | (low >> back), high >> back
    carry = _ZERO
    k = 0
    while at + k < len(words) and (k < 3 or carry != _ZERO):
        part = first if k == 0 else (second if k == 1 else (third if k == 2 else _ZERO))
        old = words[at + k]
        if less:
            new = old - part - carry
            carry = _ONE if (old < part or (old == part and carry != _ZERO)) else _ZERO
        else:
            new = old + part + carry
            carry = _ONE if (new < old or (new == old and carry != _ZERO)) else _ZERO
        words[at + k] = new
        k += 1
