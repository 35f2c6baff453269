"""Values of one type as values of another: what CAST computes.

Law: a conversion gives the value of the target type that Spark SQL gives in ANSI mode, or an
``EvaluationError`` (``bad-cast`` where the value has no counterpart, ``overflow`` where that is
out of range).  A conversion never gives NULL for a value, and never wraps around.

Which pairs of types convert at all is not asked here; ``algebra.type_rules`` knows.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal

from ebbtide.core import text
from ebbtide.core.decimals import EXACT, fit, round_to
from ebbtide.core.time import SECOND, day_of, from_datetime
from ebbtide.core.types import (
    BIGINT,
    ArrayType,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.core.values import Value, normalise
from ebbtide.core.words import with_article
from ebbtide.errors import EvaluationError, InternalError


def convert(value: Value, source: Type, target: Type, zone: tzinfo = UTC) -> Value:
    """``value`` of type ``source`` as a value of type ``target``; NULL stays NULL.

    >>> from ebbtide.core.types import BIGINT, STRING
    >>> convert(" 12 ", STRING, BIGINT)
    12
    """
    if value is None or source == target:
        return value
    match target:
        case StringType():
            return text.write(value, source, zone)
        case ArrayType():
            element = source.element if isinstance(source, ArrayType) else source
            return tuple(convert(item, element, target.element, zone) for item in value)
        case StructType():
            sources = source.fields if isinstance(source, StructType) else ()
            return tuple(
                convert(item, old, new, zone)
                for item, (_, old), (_, new) in zip(value, sources, target.fields, strict=True)
            )
        case _ if isinstance(source, StringType):
            return _read(value, target, zone)
        case _:
            return _scalar(value, source, target, zone)


def _scalar(value: Value, source: Type, target: Type, zone: tzinfo) -> Value:
    match target:
        case BooleanType():
            return value != 0
        case IntegerType():
            return _integer(value, source, target)
        case DoubleType():
            return float(value) / SECOND if source == TimestampType() else normalise(float(value))
        case DecimalType():
            return _decimal(value, source, target)
        case DateType():
            return _day(value, zone)
        case TimestampType():
            return _timestamp(value, zone)
        case IntervalType():
            micros = int(round_to(EXACT.multiply(Decimal(value), Decimal(SECOND)), 0))
            return _ranged(micros, value, target)
        case _:
            raise InternalError("no-such-cast", f"{source} does not convert to {target}")


def _read(value: str, target: Type, zone: tzinfo) -> Value:
    """What a text says, as a value of the type."""
    if isinstance(target, BinaryType):
        return value.encode("utf-8", "surrogatepass")
    found = text.read(value, target, zone)
    if found is None:
        raise bad_cast(value, target)
    if isinstance(target, DecimalType):
        return _fit(found, target)
    return normalise(found)


def _integer(value: Value, source: Type, target: IntegerType) -> int:
    if isinstance(source, TimestampType):
        whole = int(value) // SECOND
    elif isinstance(source, IntervalType):
        whole = abs(int(value)) // SECOND * (-1 if value < 0 else 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise overflow(value, target)
    else:
        whole = int(value)
    if not target.least <= whole <= target.greatest:
        raise overflow(value, target)
    return whole


def _decimal(value: Value, source: Type, target: DecimalType) -> Decimal:
    if isinstance(source, TimestampType | IntervalType):
        return _fit(Decimal(value).scaleb(-6, EXACT), target)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise bad_cast(value, target)
        return _fit(Decimal(repr(value)), target)
    return _fit(Decimal(value), target)


def _fit(value: Decimal, target: DecimalType) -> Decimal:
    fitted = fit(value, target)
    if fitted is None:
        raise overflow(value, target)
    return fitted


def _day(value: int, zone: tzinfo) -> date:
    try:
        return day_of(value, zone)
    except (OverflowError, ValueError):
        raise EvaluationError("overflow", "the time is outside of the years 1 to 9999") from None


def _timestamp(value: Value, zone: tzinfo) -> int:
    target = TimestampType()
    if isinstance(value, date):
        return from_datetime(datetime(value.year, value.month, value.day), zone)
    if isinstance(value, Decimal):
        return _ranged(int(EXACT.multiply(value, Decimal(SECOND))), value, target)
    if isinstance(value, float) and not math.isfinite(value):
        raise bad_cast(value, target)
    micros = value * SECOND
    if not BIGINT.least <= micros <= BIGINT.greatest:
        raise overflow(value, target)
    return _ranged(int(micros), value, target)


def _ranged(micros: int, given: Value, target: Type) -> int:
    if not BIGINT.least <= micros <= BIGINT.greatest:
        raise overflow(given, target)
    return micros


def bad_cast(value: Value, target: Type) -> EvaluationError:
    """The error for a value that has no counterpart in the type."""
    return EvaluationError("bad-cast", f"{_shown(value)} is not {with_article(target)}")


def overflow(value: Value, target: Type) -> EvaluationError:
    """The error for a value that the type is too small for."""
    return EvaluationError("overflow", f"{_shown(value)} is out of the range of {target}")


def _shown(value: Value) -> str:
    return repr(value) if isinstance(value, str) else str(value)
