"""Places of percentiles among so many rows, and the values between two neighbours.

Law: a place is ``share * (size - 1)``, the share being the exact value of its double; a value is
``low + (high - low) * weight`` in exact arithmetic, rounded once to a double.  That is what
``ebbtide.algebra.aggregates.bags`` says in fractions.

The work is done in pairs of doubles, in which most results are exact and the others are known to
some 100 bits.  A value of which these do not tell to which side it is rounded, or that leaves the
range in which pairs can be trusted, is computed in fractions; so is one next to an infinity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from ebbtide.core.values import normalise
from ebbtide.kernels.aggregates.arithmetic import add_pair, two_product, two_sum
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.columns import decimal_words, double_bits, fixed

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_HALF, _SHIFT, _WORD = np.uint64(0xFFFF_FFFF), np.uint64(32), np.uint64(64)
_MOST_BITS = 116
"""Of the product of a double's digits and a number of rows."""

_EXACT_POWER = 22
"""The greatest power of ten that is a double."""

_WHOLE = 2**62
_LEAST, _MOST = 2.0**-800, 2.0**900
_ERROR = 2.0**-90


class Places(NamedTuple):
    """For each size the place from 0, or -1, and how far it is to the next one, as a pair.

    ``exact`` says where the pair is all of the weight.
    """

    low: Ints
    weight: npt.NDArray[np.float64]
    rest: npt.NDArray[np.float64]
    exact: Mask


def places(share: Fraction, sizes: Ints) -> Places:
    """The places of a share among so many rows each; there is none among 0."""
    bits = _bits(share)
    if bits > _MOST_BITS:
        # So small a share is below the second row, however many there are.
        low = np.where(sizes > 0, np.int64(0), np.int64(-1))
        unknown = np.where(sizes > 1, np.nan, 0.0)
        return Places(low, unknown, np.zeros(len(sizes)), sizes <= 1)
    return Places(*_places(np.uint64(share.numerator), bits, sizes))


def places_of_values(share: Fraction, sizes: Ints) -> Ints:
    """The places of the first rows that so large a share is not above."""
    bits = _bits(share)
    if bits > _MOST_BITS:
        return np.where(sizes > 0, np.int64(0), np.int64(-1))
    found = Places(*_places(np.uint64(share.numerator), bits, sizes + 1))
    # ``ceil(share * size) - 1``: one place back where it is whole.
    low = found.low - (found.weight == 0.0)
    return np.where(sizes > 0, np.maximum(low, 0), -1)


def _bits(share: Fraction) -> int:
    """The share of a double is a whole number over two to this power."""
    return share.denominator.bit_length() - 1


@njit(cache=True)
def _places(share: Any, bits: int, sizes: Ints) -> Any:
    n = len(sizes)
    low = np.full(n, -1, np.int64)
    weight, rest = np.zeros(n), np.zeros(n)
    exact = np.ones(n, np.bool_)
    for i in range(n):
        if sizes[i] <= 0:
            continue
        below, above = _product(share, np.uint64(sizes[i] - 1))
        if bits >= 64:
            place = above >> np.uint64(bits - 64)
            above &= (_ONE << np.uint64(bits - 64)) - _ONE
        elif bits > 0:
            place = (above << np.uint64(64 - bits)) | (below >> np.uint64(bits))
            above = _ZERO
            below &= (_ONE << np.uint64(bits)) - _ONE
        else:
            place, below, above = below, _ZERO, _ZERO
        low[i] = np.int64(place)
        scale = 2.0**-bits
        first, lost = two_sum(
            np.float64(above) * 2.0**64 * scale, np.float64(below >> _SHIFT) * 2.0**32 * scale
        )
        second, left = two_sum(lost, np.float64(below & _HALF) * scale)
        weight[i], rest[i] = two_sum(first, second)
        exact[i] = left == 0.0
    return low, weight, rest, exact


@njit(cache=True, inline="always")
def _product(a: Any, b: Any) -> Any:
    """The low and the high word of a product."""
    a_low, a_high, b_low, b_high = a & _HALF, a >> _SHIFT, b & _HALF, b >> _SHIFT
    low = a_low * b_low
    middle = a_high * b_low + (low >> _SHIFT)
    other = a_low * b_high + (middle & _HALF)
    return (other << _SHIFT) | (low & _HALF), a_high * b_high + (middle >> _SHIFT) + (
        other >> _SHIFT
    )


class _Pairs(NamedTuple):
    """Numbers as pairs of doubles, and which of them are exactly that."""

    high: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    exact: Mask


def between(kind: Any, share: Fraction, sizes: Ints, found: Places, low: Any, high: Any) -> Any:
    """The values at the places, from the columns of those below and above, as doubles."""
    left, right = _pairs(low), _pairs(high)
    scale = low.type.scale if pa.types.is_decimal128(low.type) else 0
    weights = found.weight, found.rest, found.exact
    divisor = float(10 ** min(scale, _EXACT_POWER))
    result, doubtful = _between(*left, *right, *weights, divisor)
    absent = found.low < 0
    doubtful |= scale > _EXACT_POWER
    rows = np.flatnonzero(doubtful & ~absent)
    if len(rows):
        pairs = zip(low.take(rows).to_pylist(), high.take(rows).to_pylist(), strict=True)
        chosen = zip(pairs, (sizes[rows] - 1).tolist(), strict=True)
        result[rows] = [_exactly(a, b, share * last % 1) for (a, b), last in chosen]
    return pa.array(result, mask=absent, from_pandas=False).cast(kind)


def _pairs(values: Any) -> _Pairs:
    kind = values.type
    if pa.types.is_float64(kind):
        reals = double_bits(values).view(np.float64)
        return _Pairs(reals, np.zeros(len(reals)), np.ones(len(reals), np.bool_))
    if pa.types.is_decimal128(kind):
        above, whole = decimal_words(values)
        narrow = above == whole >> 63
    else:
        whole = fixed(values).astype(np.int64)
        narrow = np.ones(len(whole), np.bool_)
    narrow = narrow & (whole > -_WHOLE) & (whole < _WHOLE)
    whole = np.where(narrow, whole, 0)
    high = whole.astype(np.float64)
    return _Pairs(high, (whole - high.astype(np.int64)).astype(np.float64), narrow)


@njit(cache=True)
def _between(
    below: Any,
    below_rest: Any,
    below_exact: Any,
    above: Any,
    above_rest: Any,
    above_exact: Any,
    weight: Any,
    weight_rest: Any,
    weight_exact: Any,
    divisor: float,
) -> Any:
    n = len(below)
    result, doubtful = np.empty(n), np.zeros(n, np.bool_)
    for i in range(n):
        a, a_rest, b, b_rest = below[i], below_rest[i], above[i], above_rest[i]
        w, w_rest = weight[i], weight_rest[i]
        if not (below_exact[i] and above_exact[i]):
            doubtful[i] = True
            continue
        if (w == 0.0 and weight_exact[i]) or (a == b and a_rest == b_rest):
            high, low, exact = a, a_rest, True
        elif np.isnan(a) and np.isnan(b):
            high, low, exact = a, 0.0, True
        else:
            gap, gap_rest = two_sum(b, -a)
            if not (_usual(a) and _usual(b) and _usual(gap)):
                doubtful[i] = True
                continue
            exact = weight_exact[i] and w_rest == 0.0 and a_rest == 0.0 and b_rest == 0.0
            if not exact:
                gap, gap_rest = add_pair(b, b_rest, -a, -a_rest)
            part, lost = two_product(gap, w)
            if exact:
                more, missed = two_product(gap_rest, w)
                rest, left = two_sum(lost, more)
                exact = missed == 0.0 and left == 0.0
                rest += left + missed
            else:
                rest = lost + (gap * w_rest + gap_rest * w)
            total, lost = two_sum(a, part)
            rest, left = two_sum(lost, rest)
            exact = exact and left == 0.0
            high, low = two_sum(total, rest)
            low += a_rest
            high, low = two_sum(high, low)
        error = 0.0 if exact else _ERROR * (abs(a) + abs(b))
        if divisor != 1.0:
            quotient = high / divisor
            if exact and low == 0.0:
                result[i] = quotient
                continue
            product, lost = two_product(quotient, divisor)
            rest = ((high - product) - lost) + low
            error = error / divisor + _ERROR * abs(quotient)
            high, low = two_sum(quotient, rest / divisor)
        result[i] = high + 0.0
        doubtful[i] = error != 0.0 and (
            high + (low - error) != high or high + (low + error) != high
        )
    return result, doubtful


@njit(cache=True, inline="always")
def _usual(value: float) -> bool:
    return value == 0.0 or _LEAST < abs(value) < _MOST


def _exactly(below: Any, above: Any, weight: Fraction) -> float:
    if weight == 0 or below == above:
        return normalise(float(below))  # type: ignore[no-any-return]
    if not (math.isfinite(below) and math.isfinite(above)):
        part = float(weight)
        return normalise(below * (1 - part) + above * part)  # type: ignore[no-any-return]
    exact = Fraction(below) + (Fraction(above) - Fraction(below)) * weight
    try:
        return normalise(float(exact))  # type: ignore[no-any-return]
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
