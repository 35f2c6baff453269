"""Values as text, and text as values: what CAST to and from STRING says.

Law: ``write`` gives the text that Spark SQL gives, and ``read(write(v)) == v`` for all scalar
types but BINARY (whose text need not be UTF-8) and DECIMAL (which ``read`` does not round).

Not read, although Spark does: a time without a day, words such as ``now`` and ``epoch``,
three-letter names of zones, hexadecimal floating point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

from ebbtide.core.time import DAY, HOUR, MINUTE, SECOND, from_datetime, to_datetime
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
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError, InternalError

BLANKS = "".join(map(chr, (*range(0x21), 0x7F)))
"""What stands around a value without being part of it."""

_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"(?i)([+-]?)inf(?:inity)?")
_DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"([+-]?[0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?(.*))?)?)?)?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2})|:([0-9]))?")
_INTERVAL = re.compile(
    r"(?i)(?:INTERVAL\s*([+-]?)\s*')?([+-]?)([0-9]+) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})"
    r"(?:\.([0-9]{1,9}))?(?:'\s*DAY\s+TO\s+SECOND)?"
)


def write(value: Value, type_: Type, zone: tzinfo = UTC) -> str:
    """A value of a type as text; NULL inside of an array or a struct is ``null``.

    >>> from ebbtide.core.types import DOUBLE
    >>> write(1e10, DOUBLE), write(0.25, DOUBLE)
    ('1.0E10', '0.25')
    """
    if value is None:
        return "null"
    match type_:
        case BooleanType():
            return "true" if value else "false"
        case DoubleType():
            return _write_double(value)
        case DecimalType():
            return f"{value:f}"
        case TimestampType():
            return write_timestamp(value, zone)
        case DateType():
            return str(value.isoformat())
        case IntervalType():
            return _write_interval(value)
        case BinaryType():
            return str(value.decode("utf-8", "replace"))
        case ArrayType():
            return f"[{', '.join(write(item, type_.element, zone) for item in value)}]"
        case StructType():
            inner = zip(value, type_.fields, strict=True)
            return f"{{{', '.join(write(item, of, zone) for item, (_, of) in inner)}}}"
        case _:
            return str(value)


def write_timestamp(value: int, zone: tzinfo = UTC) -> str:
    """An instant as text, its fraction without trailing zeros.

    >>> write_timestamp(1_500_000)
    '1970-01-01 00:00:01.5'
    """
    try:
        local = to_datetime(value, zone).replace(tzinfo=None)
    except (OverflowError, ValueError):
        raise EvaluationError(
            "overflow", f"{value} microseconds are outside of the years 1 to 9999"
        ) from None
    whole = local.replace(microsecond=0).isoformat(sep=" ")
    return whole + (f".{local.microsecond:06}".rstrip("0") if local.microsecond else "")


def _write_double(value: float) -> str:
    """The shortest digits that tell the number from others, in Java's form."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    minus = "-" if sign else ""
    body = "".join(map(str, digits))
    if value == 0:
        return f"{minus}0.0"
    point = len(body) + int(exponent)
    if -3 < point <= 7:
        padded = "0" * (1 - point) + body + "0" * (point - len(body))
        whole = max(point, 1)
        return f"{minus}{padded[:whole]}.{padded[whole:] or '0'}"
    return f"{minus}{body[0]}.{body[1:] or '0'}E{point - 1}"


def _write_interval(value: int) -> str:
    sign, rest = "-" if value < 0 else "", abs(value)
    days, rest = divmod(rest, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds, micros = divmod(rest, SECOND)
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    clock = f"{hours:02}:{minutes:02}:{seconds:02}{fraction}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"


def read(given: str, type_: Type, zone: tzinfo = UTC) -> Value | None:
    """The value of a type that a text says, or None if it says none.

    >>> from ebbtide.core.types import DATE
    >>> read(" 2020-1-2 ", DATE)
    datetime.date(2020, 1, 2)
    """
    stripped = given.strip(BLANKS)
    match type_:
        case StringType():
            return given
        case TimestampType():
            return _read_timestamp(stripped, zone)
        case _:
            reader = _READERS.get(type(type_))
            if reader is None:
                raise InternalError("no-such-cast", f"STRING does not convert to {type_}")
            found = reader(stripped)
            if isinstance(type_, IntegerType) and found is not None:
                return found if type_.least <= found <= type_.greatest else None
            return found


def _read_boolean(given: str) -> bool | None:
    word = given.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _read_whole(given: str) -> int | None:
    return int(given) if _WHOLE.fullmatch(given) and len(given) <= 40 else None


def _read_double(given: str) -> float | None:
    if match := _INFINITE.fullmatch(given):
        return -math.inf if match[1] == "-" else math.inf
    if given.lower() == "nan":
        return math.nan
    number = given[:-1] if given[-1:] in "dDfF" else given
    return float(number) if _NUMBER.fullmatch(number) else None


def _read_decimal(given: str) -> Decimal | None:
    return Decimal(given) if _NUMBER.fullmatch(given) else None


def _read_date(given: str) -> date | None:
    match = _DATE.fullmatch(given)
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)) if match else None
    except ValueError:
        return None


def _read_timestamp(given: str, zone: tzinfo) -> int | None:
    match = _TIMESTAMP.fullmatch(given)
    if not match:
        return None
    year, month, day, hour, minute, second, fraction, rest = match.groups()
    own = read_zone(rest.strip()) if rest and rest.strip() else zone
    if own is None:
        return None
    micros = int((fraction or "")[:6].ljust(6, "0"))
    try:
        moment = datetime(
            *(int(year), int(month or 1), int(day or 1)),
            *(int(hour or 0), int(minute or 0), int(second or 0), micros),
        )
    except ValueError:
        return None
    return from_datetime(moment, own)


def read_zone(given: str) -> tzinfo | None:
    """The zone that ``Z``, an offset or a region's name stands for."""
    if given in ("Z", "UTC", "GMT", "UT"):
        return UTC
    if match := _OFFSET.fullmatch(given):
        shift = timedelta(hours=int(match[2]), minutes=int(match[3] or match[4] or 0))
        if shift > timedelta(hours=18):
            return None
        return timezone(-shift if match[1] == "-" else shift)
    try:
        return ZoneInfo(given) if "/" in given else None
    except (OSError, ValueError, KeyError):
        return None


def _read_interval(given: str) -> int | None:
    match = _INTERVAL.fullmatch(given)
    if not match or given.upper().startswith("INTERVAL") != given.upper().endswith("SECOND"):
        return None
    days, hours, minutes, seconds = (int(match[i]) for i in range(3, 7))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    micros = int((match[7] or "")[:6].ljust(6, "0"))
    total = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + micros
    signed = -total if (match[1] == "-") != (match[2] == "-") else total
    return signed if BIGINT.least <= signed <= BIGINT.greatest else None


_READERS: dict[type[Type], Callable[[str], Value | None]] = {
    BooleanType: _read_boolean,
    IntegerType: _read_whole,
    DoubleType: _read_double,
    DecimalType: _read_decimal,
    DateType: _read_date,
    IntervalType: _read_interval,
}
