"""From columns to the values that accumulators add up, and from accumulators to results.

Law: a result is what exact arithmetic gives, rounded once; of doubles, what it gives within
``1e-12`` of the sum of their sizes.  Whole numbers and decimals that leave the type of the result
are an error, not a wrong number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ebbtide.errors import EvaluationError
from ebbtide.kernels.aggregates.accumulation import Kind, Lines, Moment, Values, places_of
from ebbtide.kernels.aggregates.arithmetic import quotients, variances
from ebbtide.kernels.aggregates.call import Call, is_true
from ebbtide.kernels.aggregates.whole_numbers import (
    decimals,
    decimals_of,
    fits_one,
    fits_two,
    python_ints,
    ratios,
    rounded,
    within,
)
from ebbtide.state.arrays import Mask
from ebbtide.state.columns import column, decimal_words, fixed, present

Doubles = npt.NDArray[np.float64]


def values_of(table: Any, moments: tuple[Moment, ...]) -> Values:
    """The values of all rows for each moment."""
    shape = (len(moments), table.num_rows)
    result = Values(
        np.ones(shape, np.bool_),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.float64),
    )
    for place, moment in enumerate(moments):
        for index in moment.arguments:
            valid = present(column(table, index))
            if valid is not None:
                result.present[place] &= valid
        if moment.filter is not None:
            result.present[place] &= is_true(column(table, moment.filter))
        if moment.kind is Kind.COUNT:
            continue
        array = column(table, moment.arguments[0])
        if moment.kind is Kind.REAL:
            result.real[place] = fixed(array)
        elif pa.types.is_decimal128(array.type):
            high, low = decimal_words(array)
            result.low[place], result.high[place] = low.view(np.uint64), high.view(np.uint64)
        else:
            numbers = fixed(array).astype(np.int64)
            result.low[place] = numbers.view(np.uint64)
            result.high[place] = (numbers >> 63).view(np.uint64)
    return result


def result_of(
    call: Call,
    moment: Moment,
    index: int,
    moments: tuple[Moment, ...],
    lines: Lines,
    scale: int,
) -> Any:
    """The column of a call's results, one for each mark; ``scale`` is that of its argument."""
    at, real_at = places_of(moments)[index]
    count = lines.whole[at].view(np.int64)
    if call.function == "COUNT":
        return pa.array(count)
    if moment.kind is Kind.REAL:
        return _of_reals(call, count, lines, at, real_at)
    sums = [lines.whole[at + k] for k in (1, 2, 3)]
    if call.function == "SUM":
        return _sum(call, sums, count)
    if call.function == "AVG":
        return _average(call, sums, count, scale)
    squares = [lines.whole[at + k] for k in (4, 5, 6)]
    return _variance_of_wholes(call, sums, squares, count, scale)


def _of_reals(call: Call, count: Any, lines: Lines, at: int, real_at: int) -> Any:
    special = lines.whole[at + 1]
    high, low = lines.real[real_at], lines.real[real_at + 1]
    divisor = _divisor(call, count)
    absent = (count == 0) | (divisor == 0)
    safe = np.maximum(divisor, 1).astype(np.float64)
    if call.function == "SUM":
        values = high + 0.0
    elif call.function == "AVG":
        values = quotients(high, low, safe)
    else:
        squares = lines.real[real_at + 2], lines.real[real_at + 3]
        values = variances(high, low, *squares, np.maximum(count, 1), safe)
        values = np.where(special > 0, np.nan, values)
        values = np.sqrt(values) if str(call.function).startswith("STDDEV") else values
        return pa.array(values + 0.0, mask=absent)
    if special.any():
        # Bit 1 is a NaN, 2 an infinity above, 4 one below; both infinities make a NaN.
        shown = np.array([0.0, np.nan, np.inf, np.nan, -np.inf, np.nan, np.nan, np.nan])
        values = np.where(special > 0, shown[special.astype(np.int64)], values)
    return pa.array(values + 0.0, mask=absent)


def _divisor(call: Call, count: Any) -> Any:
    return count - 1 if str(call.function).endswith("SAMP") else count


def _sum(call: Call, words: list[Any], count: Any) -> Any:
    if pa.types.is_decimal128(call.type):
        _check(call, fits_two(words) & within(words, call.type.precision))
        return decimals(call.type, words, count == 0)
    _check(call, fits_one(words))
    return pa.array(words[0].view(np.int64), mask=count == 0)


def _average(call: Call, words: list[Any], count: Any, scale: int) -> Any:
    absent = count == 0
    divisor = np.maximum(count, 1)
    if pa.types.is_float64(call.type):
        return pa.array(ratios(words, divisor), mask=absent)
    if pa.types.is_decimal128(call.type):
        numbers = rounded(words, divisor, call.type.scale - scale)
        return decimals_of(call.type, numbers, absent, call.name)
    numbers = rounded(words, divisor, 0)
    if any(not -(2**63) <= number < 2**63 for number in numbers):
        _check(call, np.zeros(1, np.bool_))
    return pa.array(np.array(numbers, np.int64), mask=absent)


def _variance_of_wholes(
    call: Call, sums: list[Any], squares: list[Any], count: Any, scale: int
) -> Any:
    divisor = _divisor(call, count)
    absent = (count == 0) | (divisor == 0)
    values = np.zeros(len(count), np.float64)
    unit = 10 ** (2 * scale)
    small = fits_one(sums) & fits_one(squares)
    one, two = sums[0].view(np.int64), squares[0].view(np.int64)
    small &= (np.abs(one) < 2**26) & (two.astype(np.float64) * count < 2.0**52)
    small &= count.astype(np.float64) * count * unit < 2.0**52
    top = np.where(small, two * count - one * one, 0)
    bottom = np.where(small & ~absent, count * divisor * unit, 1)
    values = top / bottom
    for i in np.flatnonzero(~small & ~absent).tolist():
        n, s, q = int(count[i]), python_ints(sums, i), python_ints(squares, i)
        values[i] = _true_quotient(n * q - s * s, n * int(divisor[i]) * unit)
    values = np.sqrt(values) if str(call.function).startswith("STDDEV") else values
    return pa.array(values, mask=absent)


def _true_quotient(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return float("inf")


def _check(call: Call, fits: Mask) -> None:
    if not fits.all():
        raise EvaluationError(
            "overflow", f"{call.name} leaves {call.type}", hint="CAST to a wider type"
        )
