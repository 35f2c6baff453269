"""The aggregates that are made of sums: what each needs, and its results.

Law: a result is what exact arithmetic gives, rounded once; of doubles, what it gives within
``1e-12`` of the sum of their sizes.  Whole numbers and decimals that leave the type of the result
are an error, or NULL under TRY_, not a wrong number.

`SUMS` has an entry for each, by name: how its column comes of sums in words, of sums as pairs of
doubles, and its value of exact sums, for where the doubles cannot be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ebbtide.core.folds import Fold
from ebbtide.errors import EvaluationError
from ebbtide.kernels.aggregates.accumulation import Kind, Lines, Moment, places_of
from ebbtide.kernels.aggregates.arithmetic import quotients, variances
from ebbtide.kernels.aggregates.call import Call
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

Doubles = npt.NDArray[np.float64]


class Wholes(NamedTuple):
    """How many rows, and sums and squares in words; ``scale`` is that of the values."""

    rows: Any
    sums: list[Any]
    squares: list[Any]
    scale: int


class Reals(NamedTuple):
    """How many rows, and sums and squares as pairs of doubles."""

    rows: Any
    high: Doubles
    low: Doubles
    squares: tuple[Doubles, Doubles] | None
    special: Any
    """Bit 1 is a NaN, 2 an infinity above, 4 one below."""


class Exact(NamedTuple):
    """The number of rows, at least 1, and exact sums of finite values."""

    rows: int
    total: Fraction
    squares: Fraction


@dataclass(frozen=True, slots=True)
class SumFunction:
    """An aggregate of sums: its column of words, of pairs, and its value of exact sums."""

    of_wholes: Callable[[Call, Wholes], Any]
    of_reals: Callable[[Reals], Any]
    of_exact: Callable[[Exact], float | None]
    squares: bool = False


def moment_of(call: Call, schema: Any) -> Moment | None:
    """What a call sums, if sums are all that it needs."""
    if call.fold not in (Fold.NUMBERS, Fold.ACCUMULATOR):
        return None
    if call.function == "COUNT":
        return Moment(call.arguments, call.filter, Kind.COUNT)
    kind = schema.field(call.arguments[0]).type
    real = pa.types.is_float64(kind)
    squares = SUMS[call.name].squares
    return Moment(call.arguments, call.filter, Kind.REAL if real else Kind.WHOLE, squares)


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
    if moment.kind is Kind.COUNT:
        return pa.array(count)
    if moment.kind is Kind.REAL:
        high, low, *squares = lines.real[real_at : real_at + (4 if moment.squares else 2)]
        pair = (squares[0], squares[1]) if squares else None
        return SUMS[call.name].of_reals(Reals(count, high, low, pair, lines.whole[at + 1]))
    sums = [lines.whole[at + k] for k in (1, 2, 3)]
    words = [lines.whole[at + k] for k in (4, 5, 6)] if moment.squares else []
    return SUMS[call.name].of_wholes(call, Wholes(count, sums, words, scale))


# --- SUM and AVG, and with TRY_ NULL for what does not fit --------------------------------------


def _sum(call: Call, sums: Wholes) -> Any:
    _check(call, _sum_fits(call, sums))
    return _sum_column(call, sums, sums.rows == 0)


def _try_sum(call: Call, sums: Wholes) -> Any:
    return _sum_column(call, sums, (sums.rows == 0) | ~_sum_fits(call, sums))


def _sum_fits(call: Call, sums: Wholes) -> Mask:
    if pa.types.is_decimal128(call.type):
        return fits_two(sums.sums) & within(sums.sums, call.type.precision)
    return fits_one(sums.sums)


def _sum_column(call: Call, sums: Wholes, absent: Mask) -> Any:
    if pa.types.is_decimal128(call.type):
        return decimals(call.type, sums.sums, absent)
    return pa.array(sums.sums[0].view(np.int64), mask=absent)


def _sum_of_reals(sums: Reals) -> Any:
    return _with_special(sums, sums.high + 0.0)


def _average(call: Call, sums: Wholes) -> Any:
    if pa.types.is_float64(call.type):
        return _ratio(sums)
    numbers, fitting = _means(call, sums)
    _check(call, np.array([number in fitting for number in numbers], np.bool_))
    return _mean_column(call, numbers, sums.rows == 0)


def _try_average(call: Call, sums: Wholes) -> Any:
    if pa.types.is_float64(call.type):
        return _ratio(sums)
    numbers, fitting = _means(call, sums)
    fits = np.array([number in fitting for number in numbers], np.bool_)
    shown = [number if fit else 0 for number, fit in zip(numbers, fits.tolist(), strict=True)]
    return _mean_column(call, shown, (sums.rows == 0) | ~fits)


def _ratio(sums: Wholes) -> Any:
    return pa.array(ratios(sums.sums, np.maximum(sums.rows, 1)), mask=sums.rows == 0)


def _means(call: Call, sums: Wholes) -> tuple[list[int], range]:
    """The means as whole numbers, of the last digit of a decimal, and which of them fit."""
    divisor = np.maximum(sums.rows, 1)
    if not pa.types.is_decimal128(call.type):
        return rounded(sums.sums, divisor, 0), range(-(2**63), 2**63)
    numbers = rounded(sums.sums, divisor, call.type.scale - sums.scale)
    limit = 10**call.type.precision
    return numbers, range(1 - limit, limit)


def _mean_column(call: Call, numbers: list[int], absent: Mask) -> Any:
    if pa.types.is_decimal128(call.type):
        return decimals_of(call.type, numbers, absent, call.name)
    return pa.array(np.array(numbers, np.int64), mask=absent)


def _average_of_reals(sums: Reals) -> Any:
    divisor = np.maximum(sums.rows, 1).astype(np.float64)
    return _with_special(sums, quotients(sums.high, sums.low, divisor))


def _exact_mean(sums: Exact) -> float:
    return to_double(sums.total / sums.rows)


def _with_special(sums: Reals, values: Any) -> Any:
    if sums.special.any():
        # Both infinities make a NaN.
        shown = np.array([0.0, np.nan, np.inf, np.nan, -np.inf, np.nan, np.nan, np.nan])
        values = np.where(sums.special > 0, shown[sums.special.astype(np.int64)], values)
    return pa.array(values + 0.0, mask=sums.rows == 0)


# --- variances ---------------------------------------------------------------------------------


def _variance(sample: bool, root: bool) -> SumFunction:
    """The variance of all rows or of a sample, or its root."""

    def of_wholes(call: Call, sums: Wholes) -> Any:
        count = sums.rows
        divisor = count - sample
        absent = (count == 0) | (divisor == 0)
        unit = 10 ** (2 * sums.scale)
        small = fits_one(sums.sums) & fits_one(sums.squares)
        one, two = sums.sums[0].view(np.int64), sums.squares[0].view(np.int64)
        small &= (np.abs(one) < 2**26) & (two.astype(np.float64) * count < 2.0**52)
        small &= count.astype(np.float64) * count * unit < 2.0**52
        top = np.where(small, two * count - one * one, 0)
        bottom = np.where(small & ~absent, count * divisor * unit, 1)
        values = top / bottom
        for i in np.flatnonzero(~small & ~absent).tolist():
            n, s, q = int(count[i]), python_ints(sums.sums, i), python_ints(sums.squares, i)
            values[i] = _true_quotient(n * q - s * s, n * int(divisor[i]) * unit)
        return pa.array(np.sqrt(values) if root else values, mask=absent)

    def of_reals(sums: Reals) -> Any:
        divisor = sums.rows - sample
        absent = (sums.rows == 0) | (divisor == 0)
        safe = np.maximum(divisor, 1).astype(np.float64)
        assert sums.squares is not None
        counts = np.maximum(sums.rows, 1)
        values = variances(sums.high, sums.low, *sums.squares, counts, safe)
        values = np.where(sums.special > 0, np.nan, values)
        return pa.array((np.sqrt(values) if root else values) + 0.0, mask=absent)

    def of_exact(sums: Exact) -> float | None:
        divisor = sums.rows - sample
        if divisor == 0:
            return None
        exact = (sums.squares - sums.total**2 / sums.rows) / divisor
        return _root(exact) if root else to_double(exact)

    return SumFunction(of_wholes, of_reals, of_exact, squares=True)


def _true_quotient(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return float("inf")


def _check(call: Call, fits: Mask) -> None:
    if not fits.all():
        raise EvaluationError(
            "overflow", f"{call.name} does not fit into {call.type}", hint="CAST to a wider type"
        )


def to_double(exact: Fraction) -> float:
    """The double next to a fraction, or an infinity."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _root(exact: Fraction) -> float:
    if exact <= 0:
        return 0.0
    half = (exact.numerator.bit_length() - exact.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(exact / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf


SUMS: dict[str, SumFunction] = {
    "SUM": SumFunction(_sum, _sum_of_reals, lambda sums: to_double(sums.total)),
    "TRY_SUM": SumFunction(_try_sum, _sum_of_reals, lambda sums: to_double(sums.total)),
    "AVG": SumFunction(_average, _average_of_reals, _exact_mean),
    "TRY_AVG": SumFunction(_try_average, _average_of_reals, _exact_mean),
    "VAR_SAMP": _variance(sample=True, root=False),
    "VAR_POP": _variance(sample=False, root=False),
    "STDDEV_SAMP": _variance(sample=True, root=True),
    "STDDEV_POP": _variance(sample=False, root=True),
}
