"""Arithmetic on values.

Law: the exact result, rounded to its type: half up for decimals and durations, to the nearest
for doubles.  A result that its type does not hold is an ``overflow``, a zero divisor a
``division-by-zero``, also for doubles.
"""

from __future__ import annotations

import math
from datetime import date, timedelta, tzinfo
from decimal import Decimal

from ebbtide.core.conversion import convert
from ebbtide.core.decimals import EXACT, WIDE, divide, fit, round_to
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


def calculate(
    op: str, left: Type, right: Type, result: Type, zone: tzinfo, a: Value, b: Value
) -> Value:
    """``a op b`` for values of the types ``left`` and ``right``."""
    if isinstance(left, DateType) or isinstance(right, DateType):
        return _with_day(op, left, right, zone, a, b)
    if op in ("/", "%", "DIV") and b == 0:
        raise EvaluationError("division-by-zero", "division by zero")
    if isinstance(result, IntervalType) and op in ("*", "/"):
        return checked(_scaled(op, a, b), result)
    if op == "DIV":
        return checked(_quotient(a, b), result)
    if isinstance(result, DoubleType):
        return real(op, float(a), float(b))
    if isinstance(result, DecimalType):
        return checked(exact(op, a, b), result)
    return checked(whole(op, a, b), result)


def checked(value: Value, type_: Type) -> Value:
    """The value, if its type holds it."""
    match type_:
        case DecimalType():
            fitted = fit(value, type_)
            if fitted is None:
                raise _overflow(type_)
            return fitted
        case IntegerType():
            least, greatest = type_.least, type_.greatest
        case DoubleType():
            return value
        case _:
            least, greatest = BIGINT.least, BIGINT.greatest
    if not least <= value <= greatest:
        raise _overflow(type_)
    return value


def negative(value: Value) -> Value:
    """The number with the other sign."""
    # The minus sign of Python rounds a decimal to 28 digits.
    return value.copy_negate() if isinstance(value, Decimal) else -value


def whole(op: str, a: int, b: int) -> int:
    """Integer arithmetic; a remainder has the sign of the dividend."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case _:
            return abs(a) % abs(b) * (-1 if a < 0 else 1)


def real(op: str, a: float, b: float) -> float:
    """Arithmetic of doubles, with infinities and NaN."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case _:
            return math.nan if math.isinf(a) or math.isnan(a) else math.fmod(a, b)


def exact(op: str, a: Decimal, b: Decimal) -> Decimal:
    """Arithmetic of decimals, before it is rounded to the scale of its type."""
    match op:
        case "+":
            return EXACT.add(a, b)
        case "-":
            return EXACT.subtract(a, b)
        case "*":
            return WIDE.multiply(a, b)
        case "/":
            return divide(a, b)
        case _:
            return EXACT.remainder(a, b)


def _quotient(a: Value, b: Value) -> int:
    if isinstance(a, Decimal):
        return int(EXACT.divide_int(a, b))
    size = int(abs(a)) // int(abs(b))
    return size if (a < 0) == (b < 0) else -size


def _scaled(op: str, a: Value, b: Value) -> int:
    """A duration times or divided by a number, rounded half up."""
    if isinstance(a, float) or isinstance(b, float):
        scaled = real(op, float(a), float(b))
        if not math.isfinite(scaled):
            raise _overflow(INTERVAL)
        return int(round_to(Decimal(scaled), 0))
    left, right = Decimal(a), Decimal(b)
    return int(round_to(EXACT.multiply(left, right) if op == "*" else divide(left, right), 0))


def _with_day(op: str, left: Type, right: Type, zone: tzinfo, a: Value, b: Value) -> Value:
    """Days with days, numbers of days, instants and durations."""
    if isinstance(a, date) and isinstance(b, date):
        return (a - b).days * DAY
    if isinstance(left, IntegerType) or isinstance(right, IntegerType):
        start, count = (a, b) if isinstance(a, date) else (b, a)
        return moved(start, count if op == "+" else -count)
    x, y = (convert(v, DATE, TIMESTAMP, zone) if isinstance(v, date) else v for v in (a, b))
    return checked(whole(op, x, y), TIMESTAMP)


def moved(start: date, days: int) -> date:
    """The day so many days later."""
    try:
        return start + timedelta(days=days)
    except OverflowError:
        raise _overflow(DATE) from None


def _overflow(type_: Type) -> EvaluationError:
    return EvaluationError("overflow", f"the result is out of the range of {type_}")
