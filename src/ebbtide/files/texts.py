"""Texts as values of a type: how numbers, times and the like are written in files.

Law: a text is read by itself, and gives NULL if it is no value of the type or not exactly one.
Spaces around numbers and times do not count.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import partial
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.time import FIRST_TIME, LAST_TIME, instant, is_in_calendar
from ebbtide.core.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)
from ebbtide.errors import QueryError
from ebbtide.state.types import AnyType, arrow_type

WRITTEN = (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    StringType,
    TimestampType,
)
"""The types that have a way to be written."""

_INTEGER = r"^[+-]?[0-9]+$"
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$"
_ENDLESS = r"(?i)^[+-]?inf(inity)?$"
_NO_NUMBER = r"(?i)^[+-]?nan$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?)?$"
_ZONED = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
)
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_NUMBER = re.compile(_DECIMAL)
_ONLY_OURS = re.compile(r"us\s*$")


def from_texts(texts: Any, type_: Type, zone: str) -> Any:
    """Texts as values of a type that can be written; times without a zone are in ``zone``."""
    known = cast(AnyType, type_)
    match known:
        case StringType():
            return texts
        case BooleanType():
            return _booleans(_trimmed(texts))
        case IntegerType():
            return _whole(_trimmed(texts), arrow_type(type_))
        case DoubleType():
            return _doubles(_trimmed(texts))
        case DecimalType():
            return _decimals(_trimmed(texts), arrow_type(type_))
        case DateType():
            return _read(_like(_trimmed(texts), _DATE), pa.date32(), date.fromisoformat)
        case TimestampType():
            return _times(_trimmed(texts), zone)
        case _:
            raise AssertionError(f"{type_} is not written as text")


def in_range(times: Any) -> Any:
    """Times in microseconds, but for those that no calendar has."""
    fits = pc.and_(pc.greater_equal(times, FIRST_TIME), pc.less_equal(times, LAST_TIME))
    return pc.if_else(fits, times, pa.scalar(None, pa.int64()))


def local_times(times: Any, zone: str) -> Any:
    """Times of a calendar in ``zone``, as microseconds since the epoch.

    Of two instants it is the first; what clocks skip is as long after the change as it says.
    """
    if zone == "UTC":
        return in_range(times.cast(pa.int64()))
    try:
        return in_range(pc.assume_timezone(times, zone, ambiguous="earliest").cast(pa.int64()))
    except pa.ArrowInvalid:
        return in_range(_with_skipped(times, zone))


def _with_skipped(times: Any, zone: str) -> Any:
    """The same where clocks skip some of the times: those count by the offset before."""
    turned = pc.assume_timezone(times, zone, ambiguous="earliest", nonexistent="latest")
    instants = turned.cast(pa.int64())
    before = pc.subtract(instants, 1)
    clocks = pc.local_timestamp(before.cast(pa.timestamp("us", zone))).cast(pa.int64())
    by_offset = pc.subtract(times.cast(pa.int64()), pc.subtract(clocks, before))
    return pc.if_else(pc.equal(pc.local_timestamp(turned), times), instants, by_offset)


def _trimmed(texts: Any) -> Any:
    return pc.utf8_trim_whitespace(texts)


def _like(texts: Any, pattern: str) -> Any:
    """The texts that match, and NULL for the others."""
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar(None, pa.string()))


def _booleans(texts: Any) -> Any:
    lower = pc.utf8_lower(texts)
    known = pc.is_in(lower, value_set=pa.array(["true", "false"]))
    return pc.if_else(known, pc.equal(lower, "true"), pa.scalar(None, pa.bool_()))


def _whole(texts: Any, target: Any) -> Any:
    digits = pc.utf8_ltrim(_like(texts, _INTEGER), "+")
    return _read(digits, target, lambda text: _checked(int(text), target))


def _doubles(texts: Any) -> Any:
    endless = pc.match_substring_regex(texts, _ENDLESS)
    plain = pc.or_(endless, pc.match_substring_regex(texts, f"{_DECIMAL}|{_NO_NUMBER}"))
    numbers = pc.cast(pc.if_else(plain, texts, pa.scalar(None, pa.string())), pa.float64())
    # A number too large for the type is no number of it.
    lost = pc.and_(pc.is_inf(numbers), pc.invert(endless))
    return pc.if_else(lost, pa.scalar(None, pa.float64()), numbers)


def _decimals(texts: Any, target: Any) -> Any:
    exact = partial(exact_decimal, precision=target.precision, scale=target.scale)
    return _read(_like(texts, _DECIMAL), target, exact)


def exact_decimal(text: str, precision: int, scale: int) -> Decimal:
    """A decimal whose digits behind the scale are zeros at most; ValueError if there is none."""
    context = Context(prec=precision, traps=[Inexact, InvalidOperation])
    if not _NUMBER.match(text.strip()):
        raise ValueError(text)
    try:
        return Decimal(text).quantize(Decimal(1).scaleb(-scale), context=context)
    except (Inexact, InvalidOperation):
        raise ValueError(text) from None


def _times(texts: Any, zone: str) -> Any:
    local = _read(_like(texts, _TIME), pa.timestamp("us"), _no_value)
    found = local_times(local, zone)
    if found.null_count == texts.null_count:
        return found
    zoned = _read(_like(texts, _ZONED), pa.timestamp("us", "UTC"), _no_value)
    found = pc.coalesce(found, in_range(zoned.cast(pa.int64())))
    if found.null_count == texts.null_count:
        return found
    left = np.flatnonzero(np.asarray(pc.and_(found.is_null(), texts.is_valid())))
    values = found.to_pylist()
    for row in left.tolist():
        values[row] = instant_of(texts[row].as_py(), zone)
    return pa.array(values, pa.int64())


def instant_of(text: str, zone: str) -> int | None:
    """A time that is written in any way that is known; None if it is none.

    Microseconds since the epoch, which we write where a time has no other text, are none in a file.
    """
    if _ONLY_OURS.search(text):
        return None
    try:
        read = instant(text, ZoneInfo(zone))
    except (QueryError, OverflowError):
        return None
    return read if is_in_calendar(read) else None


def _no_value(text: str) -> None:
    return None


def _checked(value: int, target: Any) -> int:
    bits = target.bit_width - 1
    if not -(1 << bits) <= value < 1 << bits:
        raise ValueError(value)
    return value


def _read(texts: Any, target: Any, read: Any) -> Any:
    """All at once if Arrow can, else one by one: NULL for what is no value."""
    try:
        return pc.cast(texts, target)
    except pa.ArrowInvalid:
        return pa.array([_one(text, target, read) for text in texts.to_pylist()], target)


def _one(text: str | None, target: Any, read: Any) -> Any:
    if text is None:
        return None
    try:
        return pc.cast(pa.scalar(text), target).as_py()
    except OverflowError:
        return None  # a time that no calendar has
    except pa.ArrowInvalid:
        pass
    try:
        return read(text)
    except ValueError:
        return None
