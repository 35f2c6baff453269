"""Functions of numbers.

Roots are computed as columns.  Powers and logarithms go through the C library, one value at a
time: what numpy's own versions give depends on the processor in the last digit, and a row must
have the same value when it comes and when it is taken back.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.arithmetic import (
    by_zero,
    held,
    in_range,
    overflow,
    unbounded,
)
from ebbtide.columnar.arrays import column, constant_of, each, nulls, numbers, present, reals
from ebbtide.columnar.casts import whole_reals
from ebbtide.columnar.signature import Context, Implementation, by_value
from ebbtide.columnar.vectors import Failures, failing
from ebbtide.core.decimals import EXACT, MAX_PRECISION, round_to
from ebbtide.core.types import BIGINT, DecimalType, DoubleType, IntegerType
from ebbtide.core.values import Value
from ebbtide.state.types import arrow_type


def _abs(context: Context, operand: Any) -> Any:
    if isinstance(context.type, DoubleType | DecimalType):
        return pc.abs(operand)
    try:
        return pc.abs_checked(operand)
    except pa.ArrowInvalid:
        return in_range(abs(unbounded(operand)), context.type, operand)


def _sign(context: Context, operand: Any) -> Any:
    return reals(np.sign(numbers(operand)).astype(np.float64), nulls(operand))


def _round(context: Context, operand: Any, digits: Any = None) -> Any:
    places = 0 if digits is None else constant_of(digits)
    if isinstance(context.type, IntegerType) and places is not None and places >= 0:
        return operand

    def compute(value: Value, count: int = 0) -> Value:
        if isinstance(value, float):
            return float(round_to(Decimal(repr(value)), count)) if math.isfinite(value) else value
        rounded = round_to(Decimal(value), count)
        return held(rounded if isinstance(value, Decimal) else int(rounded), context.type)

    given = (operand,) if digits is None else (operand, digits)
    return each(compute, context.types, context.type, *given)


def _floor(context: Context, operand: Any) -> Any:
    return _to_whole(context, operand, np.floor, pc.floor, ROUND_FLOOR)


def _ceil(context: Context, operand: Any) -> Any:
    return _to_whole(context, operand, np.ceil, pc.ceil, ROUND_CEILING)


def _to_whole(context: Context, operand: Any, real: Any, exact: Any, rounding: str) -> Any:
    (type_,) = context.types
    if isinstance(type_, IntegerType):
        return operand
    if isinstance(type_, DoubleType):
        return whole_reals(real(numbers(operand)), BIGINT, overflow(BIGINT), operand)
    assert isinstance(type_, DecimalType)
    if type_.precision < MAX_PRECISION:
        # Arrow does not notice when the next whole number has a digit more.
        wider = pc.cast(operand, pa.decimal128(type_.precision + 1, type_.scale))
        return pc.cast(exact(wider), arrow_type(context.type))

    def compute(value: Decimal) -> Value:
        return held(value.to_integral_value(rounding), context.type)

    return each(compute, context.types, context.type, operand)


def _sqrt(context: Context, operand: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return reals(np.sqrt(numbers(operand)), nulls(operand))


def _power(x: float, y: float) -> float:
    # Java knows neither 1 to the power of anything nor -1 to the power of infinity.
    if math.isnan(y) or (abs(x) == 1 and math.isinf(y)):
        return math.nan
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and math.fmod(y, 2) in (1, -1) else math.inf
    except ValueError:
        return math.inf if x == 0 else math.nan


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(base: float, x: float) -> float | None:
    if base <= 0 or x <= 0:
        return None
    high, low = math.log(x), math.log(base)
    if low != 0:
        return high / low
    return math.nan if high == 0 or math.isnan(high) else math.copysign(math.inf, high)


def _pmod(context: Context, a: Any, b: Any) -> Any:
    if isinstance(context.types[0], DecimalType):
        return each(
            lambda x, y: held(_positive(x, y), context.type), context.types, context.type, a, b
        )
    x, y = numbers(a), numbers(b)
    zero = y == 0
    # The remainder by -1 is 0, but processors trap it for the least integer.
    safe = np.where(zero | (y == -1), np.ones_like(y), y)
    real = isinstance(context.type, DoubleType)
    with np.errstate(all="ignore"):
        rest = np.fmod(x, np.where(zero, np.ones_like(y), y) if real else safe)
        if real:
            rest = np.where(rest < 0, np.fmod(rest + y, np.where(zero, 1.0, y)), rest)
            values = reals(np.asarray(rest), nulls(a, b))
        else:
            rest = np.where((rest < 0) & (y > 0), rest + y, rest)
            values = column(rest, nulls(a, b), context.type)
    failures = Failures.where(present(zero, a, b), by_zero()) if np.any(zero) else None
    return failing(values, failures)


def _positive(x: Decimal, y: Decimal) -> Decimal:
    if y == 0:
        raise by_zero()
    rest = EXACT.remainder(x, y)
    return EXACT.remainder(EXACT.add(rest, y), y) if rest < 0 else rest


NUMBERS: dict[str, Implementation] = {
    "ABS": _abs,
    "SIGN": _sign,
    "ROUND": _round,
    "FLOOR": _floor,
    "CEIL": _ceil,
    "SQRT": _sqrt,
    "POWER": by_value(_power),
    "EXP": by_value(_exp),
    "LN": by_value(lambda x: None if x <= 0 else math.log(x)),
    "LOG10": by_value(lambda x: None if x <= 0 else math.log10(x)),
    "LOG2": by_value(lambda x: None if x <= 0 else math.log2(x)),
    "LOG": by_value(_log),
    "PMOD": _pmod,
    "BIT_AND": lambda context, a, b: pc.bit_wise_and(a, b),
    "BIT_OR": lambda context, a, b: pc.bit_wise_or(a, b),
    "BIT_XOR": lambda context, a, b: pc.bit_wise_xor(a, b),
    "BIT_NOT": lambda context, a: pc.bit_wise_not(a),
}
