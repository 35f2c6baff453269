"""Sums that lose nothing: whole numbers of 192 bits, and pairs of doubles.

Law: ``add_whole`` is exact modulo 2^192, which no sum of int64 or decimals leaves.  ``add_real``
keeps a sum as ``high + low``, with an error below ``2^-104`` of the sum's size per addition
(Knuth's two-sum; Dekker's product for squares), so that what is added and taken away again leaves
the least of traces.

Words are uint64 throughout: Numba turns mixtures of signed and unsigned into doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HALF = np.uint64(0xFFFF_FFFF)
_SHIFT = np.uint64(32)
_SIGN = np.uint64(63)
_SPLIT = 134217729.0


@njit(cache=True, inline="always")
def _add_three(words: Any, at: int, low: Any, middle: Any, high: Any) -> None:
    total = words[at] + low
    carry = _ONE if total < low else _ZERO
    words[at] = total
    total = words[at + 1] + middle
    over = _ONE if total < middle else _ZERO
    total += carry
    if total < carry:
        over += _ONE
    words[at + 1] = total
    words[at + 2] += high + over


@njit(cache=True)
def add_whole(words: Any, at: int, low: Any, high: Any, times: int) -> None:
    """Adds ``times`` times the signed number of two words to the three words at ``at``."""
    top = ~_ZERO if high >> _SIGN else _ZERO
    if times < 0:
        low, high, top = ~low, ~high, ~top
        low += _ONE
        if low == _ZERO:
            high += _ONE
            if high == _ZERO:
                top += _ONE
        times = -times
    while times > 0:
        if times & 1:
            _add_three(words, at, low, high, top)
        top = (top << _ONE) | (high >> _SIGN)
        high = (high << _ONE) | (low >> _SIGN)
        low = low << _ONE
        times >>= 1


@njit(cache=True)
def square(value: Any) -> Any:
    """The square of a signed number of one word, as its low and high word."""
    size = ~value + _ONE if value >> _SIGN else value
    low, high = size & _HALF, size >> _SHIFT
    cross = low * high
    result = low * low
    above = high * high + ((cross >> _SHIFT) << _ONE)
    part = (cross & _HALF) << np.uint64(33)
    above += (cross & _HALF) >> np.uint64(31)
    total = result + part
    if total < part:
        above += _ONE
    return total, above


@njit(cache=True, inline="always")
def two_sum(a: float, b: float) -> Any:
    """``a + b`` rounded, and what the rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit(cache=True, inline="always")
def two_product(a: float, b: float) -> Any:
    """``a * b`` rounded, and what the rounding lost."""
    product = a * b
    big = _SPLIT * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = _SPLIT * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, inline="always")
def add_pair(high: float, low: float, x: float, y: float) -> Any:
    """``(high + low) + (x + y)`` as a pair."""
    total, lost = two_sum(high, x)
    low_total, low_lost = two_sum(low, y)
    total, lost = two_sum(total, lost + low_total)
    return two_sum(total, lost + low_lost)


@njit(cache=True, inline="always")
def add_one(reals: Any, line: int, at: int, x: float) -> None:
    """Adds ``x`` to the pair at ``at`` of a line."""
    total, lost = two_sum(reals[line, at], x)
    reals[line, at], reals[line, at + 1] = two_sum(total, lost + reals[line, at + 1])


@njit(cache=True)
def add_real(reals: Any, line: int, at: int, x: float, y: float, times: int) -> None:
    """Adds ``times`` times ``x + y`` to the pair at ``at`` of a line."""
    if times < 0:
        x, y, times = -x, -y, -times
    high, low = reals[line, at], reals[line, at + 1]
    while times > 0:
        if times & 1:
            high, low = add_pair(high, low, x, y)
        x, y = 2.0 * x, 2.0 * y
        times >>= 1
    reals[line, at], reals[line, at + 1] = high, low


@njit(cache=True)
def quotients(high: Any, low: Any, divisor: Any) -> npt.NDArray[np.float64]:
    """The doubles next to ``(high + low) / divisor``."""
    result = np.empty(len(high), np.float64)
    for i in range(len(high)):
        first = high[i] / divisor[i]
        if low[i] != 0.0 and np.isfinite(first):
            product, lost = two_product(first, divisor[i])
            rest = ((high[i] - product) - lost) + low[i]
            if np.isfinite(rest):
                first += rest / divisor[i]
        result[i] = first
    return result


@njit(cache=True)
def variances(
    high: Any, low: Any, square_high: Any, square_low: Any, count: Any, divisor: Any
) -> npt.NDArray[np.float64]:
    """``(count * squares - sum^2) / (count * divisor)`` of sums kept as pairs."""
    result = np.empty(len(high), np.float64)
    for i in range(len(high)):
        n = float(count[i])
        a, b = two_product(square_high[i], n)
        c, d = two_product(square_low[i], n)
        a, b = add_pair(a, b, c, d)
        c, d = two_product(high[i], high[i])
        c, d = add_pair(c, d, 2.0 * high[i] * low[i], low[i] * low[i])
        a, b = add_pair(a, b, -c, -d)
        scale = n * float(divisor[i])
        first = a / scale
        if b != 0.0 and np.isfinite(first):
            product, lost = two_product(first, scale)
            first += (((a - product) - lost) + b) / scale
        result[i] = max(first, 0.0)
    return result
