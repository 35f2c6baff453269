"""Arithmetic on columns.

Law: the exact result, rounded to its type: half up for decimals and durations, to the nearest for
doubles.  A result that its type does not hold is an ``overflow``, a zero divisor a
``division-by-zero``, also for doubles.

Whole numbers are computed by Arrow's checked functions; only when one of those complains are the
rows that fail looked for, with integers of any size.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import tzinfo
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ebbtide.columnar.arrays import (
    column,
    each,
    is_scalar,
    nulls,
    numbers,
    present,
    reals,
)
from ebbtide.columnar.calendar import FIRST_DAY, LAST_DAY, starts_of_days
from ebbtide.columnar.vectors import Computed, Failures, Mask, failing
from ebbtide.core.decimals import EXACT, MAX_PRECISION, WIDE, divide, fit, round_to
from ebbtide.core.time import DAY
from ebbtide.core.types import (
    BIGINT,
    DATE,
    INTERVAL,
    TIMESTAMP,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    Type,
)
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError

_CHECKED: dict[str, Callable[[Any, Any], Any]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": np.fmod,
}


def calculated(
    op: str, left: Type, right: Type, result: Type, zone: tzinfo, a: Any, b: Any
) -> Computed:
    """``a op b`` for operands of the types ``left`` and ``right``."""
    if isinstance(left, DateType) or isinstance(right, DateType):
        return _with_days(op, left, right, zone, a, b)
    if isinstance(result, IntervalType) and op in ("*", "/"):
        return _scaled(op, left, right, a, b)
    if isinstance(left, DecimalType):
        assert isinstance(right, DecimalType)
        return _exact(op, left, right, result, a, b)
    if isinstance(result, DoubleType):
        return _real(op, a, b)
    if op in _CHECKED:
        return whole(op, result, a, b)
    return _divided(op, result, a, b)


def overflow(type_: Type) -> EvaluationError:
    """The error of a result that its type does not hold."""
    return EvaluationError("overflow", f"the result is out of the range of {type_}")


def by_zero() -> EvaluationError:
    """The error of a zero divisor."""
    return EvaluationError("division-by-zero", "division by zero")


def whole(op: str, result: Type, a: Any, b: Any) -> Computed:
    """A sum, difference or product of whole numbers."""
    try:
        return Computed(_CHECKED[op](a, b))
    except pa.ArrowInvalid:
        return in_range(_PLAIN[op](unbounded(a), unbounded(b)), result, a, b)


def unbounded(operand: Any) -> Any:
    """Whole numbers as Python's integers, which do not overflow."""
    found = numbers(operand)
    return int(found) if is_scalar(operand) else found.astype(object)


def in_range(values: NDArray[Any], result: Type, *given: Any) -> Computed:
    """Python's integers as a column; those that the type does not hold fail."""
    bounds = result if isinstance(result, IntegerType) else BIGINT
    beyond = np.asarray((values < bounds.least) | (values > bounds.greatest), dtype=np.bool_)
    failed = present(beyond, *given)
    kept = np.where(beyond, 0, values).astype(np.int64)
    return failing(column(kept, nulls(*given), result), Failures.where(failed, overflow(result)))


def negated(type_: Type, operand: Any) -> Computed:
    """``-operand``."""
    if isinstance(type_, DoubleType):
        return Computed(reals(-numbers(operand), nulls(operand)))
    if isinstance(type_, DecimalType):
        return Computed(pc.negate(operand))
    try:
        return Computed(pc.negate_checked(operand))
    except pa.ArrowInvalid:
        return in_range(-unbounded(operand), type_, operand)


def days_in_range(days: NDArray[np.int64], *given: Any) -> Computed:
    """Days since the epoch as a column; those outside of the calendar fail."""
    beyond = (days < FIRST_DAY) | (days > LAST_DAY)
    failures = None
    if beyond.any():
        failures = Failures.where(present(beyond, *given), overflow(DATE))
        days = np.where(beyond, 0, days)
    return failing(column(days, nulls(*given), DATE), failures)


def _with_days(op: str, left: Type, right: Type, zone: tzinfo, a: Any, b: Any) -> Computed:
    """Days with days, numbers of days, instants and durations."""
    if isinstance(left, DateType) and isinstance(right, DateType):
        apart = (numbers(a).astype(np.int64) - numbers(b).astype(np.int64)) * DAY
        return Computed(column(apart, nulls(a, b), INTERVAL))
    if isinstance(left, IntegerType) or isinstance(right, IntegerType):
        x, y = (numbers(side).astype(np.int64) for side in (a, b))
        return days_in_range(x + y if op == "+" else x - y, a, b)
    x, y = (
        _starts(side, zone) if isinstance(type_, DateType) else side
        for side, type_ in ((a, left), (b, right))
    )
    return whole(op, TIMESTAMP, x, y)


def _starts(days: Any, zone: tzinfo) -> Any:
    if is_scalar(days):
        return pa.scalar(int(starts_of_days(numbers(days).reshape(1), zone)[0]), pa.int64())
    return column(starts_of_days(numbers(days), zone), nulls(days), TIMESTAMP)


def _real(op: str, a: Any, b: Any) -> Computed:
    """Arithmetic of doubles, with infinities and NaN; of integers for ``/``."""
    x, y = (np.asarray(numbers(side), np.float64) for side in (a, b))
    zero: Mask | None = None
    if op in ("/", "%"):
        zero = y == 0
        if zero.any():
            y = np.where(zero, 1.0, y)
        else:
            zero = None
    with np.errstate(all="ignore"):
        values = np.asarray(_PLAIN[op](x, y))
    found = reals(values, nulls(a, b))
    failures = None if zero is None else Failures.where(present(zero, a, b), by_zero())
    return failing(found, failures)


def _divided(op: str, result: Type, a: Any, b: Any) -> Computed:
    """The whole quotient, cut towards zero, or the remainder, with the sign of the dividend."""
    if op == "DIV" and is_scalar(b) and b.as_py() not in (None, 0, -1):
        return Computed(pc.divide(a.cast(pa.int64()), b.cast(pa.int64())))
    x, y = numbers(a), numbers(b)
    if op == "DIV":
        x, y = x.astype(np.int64), y.astype(np.int64)
    zero = y == 0
    failures = Failures.where(present(zero, a, b), by_zero()) if np.any(zero) else None
    # Processors trap the least integer divided by -1.
    minus = y == -1
    safe = np.where(zero | minus, np.ones_like(y), y)
    if op == "%":
        values = np.where(minus, np.zeros_like(x), np.fmod(x, safe))
        return failing(column(values, nulls(a, b), result), failures)
    with np.errstate(over="ignore"):
        floor = x // safe
        values = np.where(minus, -x, floor + ((floor * safe != x) & ((x < 0) != (safe < 0))))
    least = np.iinfo(np.int64).min
    beyond = minus & (x == least)
    past = Failures.where(present(beyond, a, b), overflow(result)) if np.any(beyond) else None
    return failing(column(values, nulls(a, b), result), failures, past)


def _exact(
    op: str, left: DecimalType, right: DecimalType, result: Type, a: Any, b: Any
) -> Computed:
    """Arithmetic of decimals: by Arrow where the result needs no rounding, else one by one."""
    if op in _CHECKED and _digits(op, left, right) <= MAX_PRECISION:
        return Computed(_CHECKED[op](a, b))

    def compute(x: Decimal, y: Decimal) -> Value:
        if op in ("/", "%", "DIV") and y == 0:
            raise by_zero()
        return held(_decimal(op, x, y), result)

    return each(compute, (left, right), result, a, b)


def _digits(op: str, left: DecimalType, right: DecimalType) -> int:
    """How many digits an exact result can have."""
    if op == "*":
        return left.precision + right.precision + 1
    ahead = max(left.precision - left.scale, right.precision - right.scale)
    return ahead + max(left.scale, right.scale) + 1


def _decimal(op: str, x: Decimal, y: Decimal) -> Value:
    match op:
        case "+":
            return EXACT.add(x, y)
        case "-":
            return EXACT.subtract(x, y)
        case "*":
            return WIDE.multiply(x, y)
        case "/":
            return divide(x, y)
        case "%":
            return EXACT.remainder(x, y)
        case _:
            return int(EXACT.divide_int(x, y))


def held(value: Value, type_: Type) -> Value:
    """A number, if its type holds it."""
    if isinstance(type_, DecimalType):
        fitted = fit(value, type_)
        if fitted is None:
            raise overflow(type_)
        return fitted
    bounds = type_ if isinstance(type_, IntegerType) else BIGINT
    if not bounds.least <= value <= bounds.greatest:
        raise overflow(type_)
    return value


def _scaled(op: str, left: Type, right: Type, a: Any, b: Any) -> Computed:
    """A duration times or divided by a number, rounded half up."""
    if op == "*" and not {type(left), type(right)} & {DoubleType, DecimalType}:
        return whole(op, INTERVAL, *(pc.cast(side, pa.int64()) for side in (a, b)))
    real = isinstance(left, DoubleType) or isinstance(right, DoubleType)

    def compute(x: Value, y: Value) -> Value:
        if op == "/" and y == 0:
            raise by_zero()
        return held(_rounded_real(op, x, y) if real else _rounded(op, x, y), INTERVAL)

    return each(compute, (left, right), INTERVAL, a, b)


def _rounded_real(op: str, x: Value, y: Value) -> int:
    scaled = float(x) * float(y) if op == "*" else float(x) / float(y)
    if not math.isfinite(scaled):
        raise overflow(INTERVAL)
    return int(round_to(Decimal(scaled), 0))


def _rounded(op: str, x: Value, y: Value) -> int:
    left, right = Decimal(x), Decimal(y)
    return int(round_to(EXACT.multiply(left, right) if op == "*" else divide(left, right), 0))
