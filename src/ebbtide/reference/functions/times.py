"""Functions of days and instants, on the calendar of the session's zone."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

from ebbtide.core.decimals import EXACT
from ebbtide.core.time import MILLISECOND, SECOND, day_of, from_datetime, to_datetime
from ebbtide.core.types import DATE, TIMESTAMP
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError
from ebbtide.reference.arithmetic import checked, moved
from ebbtide.reference.functions import calendar_text
from ebbtide.reference.functions.context import Context, Evaluation, bad_argument, plain

_EPOCH = date(1970, 1, 1)
_UNITS = {
    "YYYY": "YEAR",
    "YY": "YEAR",
    "MM": "MONTH",
    "MON": "MONTH",
    "DD": "DAY",
}
_BEGINNINGS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")


def _local(context: Context, t: int) -> datetime:
    try:
        return to_datetime(t, context.zone)
    except (OverflowError, ValueError):
        raise EvaluationError("overflow", "the time is outside of the years 1 to 9999") from None


def _day(context: Context, value: date | int) -> date:
    return value if isinstance(value, date) else _local(context, value).date()


def _of_day(part: Callable[[date], Value]) -> Evaluation:
    return lambda context, value: part(_day(context, value))


def _of_instant(part: Callable[[datetime], Value]) -> Evaluation:
    return lambda context, t: part(_local(context, t))


def _second_fraction(moment: datetime) -> Decimal:
    return Decimal(moment.second * SECOND + moment.microsecond).scaleb(-6, EXACT)


def _date_trunc(context: Context, unit: str, t: int) -> int | None:
    name = _unit(unit)
    if name == "MICROSECOND":
        return t
    if name == "MILLISECOND":
        return int(checked(t // MILLISECOND * MILLISECOND, TIMESTAMP))
    if name not in _BEGINNINGS:
        return None
    local = _local(context, t)
    first = _trunc(local.date(), unit)
    if first is not None:
        return from_datetime(datetime(first.year, first.month, first.day), context.zone)
    match name:
        case "DAY":
            return from_datetime(local.replace(hour=0, minute=0, second=0, microsecond=0))
        case "HOUR":
            return from_datetime(local.replace(minute=0, second=0, microsecond=0))
        case "MINUTE":
            return from_datetime(local.replace(second=0, microsecond=0))
        case _:
            return from_datetime(local.replace(microsecond=0))


def _trunc(day: date, unit: str) -> date | None:
    match _unit(unit):
        case "YEAR":
            return day.replace(month=1, day=1)
        case "QUARTER":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH":
            return day.replace(day=1)
        case "WEEK":
            return day - timedelta(days=day.weekday())
        case _:
            return None


def _unit(name: str) -> str:
    return _UNITS.get(name.upper(), name.upper())


def _add_months(context: Context, value: date | int, count: int) -> date:
    day = _day(context, value)
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        raise EvaluationError("overflow", f"the result is out of the range of {DATE}")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _last_day(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _to_timestamp(context: Context, text: str, pattern: str) -> int:
    return calendar_text.read(text, pattern, context.zone)


def _from_seconds(value: int | float | Decimal) -> int:
    if isinstance(value, float) and not math.isfinite(value):
        raise bad_argument(f"{value} seconds are no time")
    micros = (
        EXACT.multiply(value, Decimal(SECOND)) if isinstance(value, Decimal) else value * SECOND
    )
    if isinstance(micros, float) and math.isinf(micros):
        raise EvaluationError("overflow", f"{value} seconds are out of the range of {TIMESTAMP}")
    if isinstance(micros, Decimal) and micros != int(micros):
        raise bad_argument(f"{value} seconds are no whole number of microseconds")
    return int(checked(int(micros), TIMESTAMP))


def _make_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError) as error:
        raise bad_argument(f"there is no such day: {error}") from None


def _make_timestamp(
    context: Context, year: int, month: int, day: int, hour: int, minute: int, second: Decimal
) -> int:
    micros = int(EXACT.multiply(second, Decimal(SECOND)))
    if not 0 <= micros <= 60 * SECOND:
        raise bad_argument(f"there is no second {second}")
    try:
        start = datetime(year, month, day, hour, minute)
    except (ValueError, OverflowError) as error:
        raise bad_argument(f"there is no such time: {error}") from None
    return from_datetime(start, context.zone) + micros


TIMES: dict[str, Evaluation] = {
    "YEAR": _of_day(lambda day: day.year),
    "QUARTER": _of_day(lambda day: (day.month + 2) // 3),
    "MONTH": _of_day(lambda day: day.month),
    "WEEKOFYEAR": _of_day(lambda day: day.isocalendar().week),
    "YEAROFWEEK": _of_day(lambda day: day.isocalendar().year),
    "DAY": _of_day(lambda day: day.day),
    "DAYOFYEAR": _of_day(lambda day: day.timetuple().tm_yday),
    "DAYOFWEEK": _of_day(lambda day: day.isoweekday() % 7 + 1),
    "WEEKDAY": _of_day(lambda day: day.weekday()),
    "HOUR": _of_instant(lambda moment: moment.hour),
    "MINUTE": _of_instant(lambda moment: moment.minute),
    "SECOND": _of_instant(lambda moment: moment.second),
    "SECOND_FRACTION": _of_instant(_second_fraction),
    "DATE_TRUNC": _date_trunc,
    "TRUNC": plain(_trunc),
    "DATE_ADD": lambda context, day, count: moved(_day(context, day), count),
    "DATE_SUB": lambda context, day, count: moved(_day(context, day), -count),
    "DATEDIFF": lambda context, end, start: (_day(context, end) - _day(context, start)).days,
    "ADD_MONTHS": _add_months,
    "LAST_DAY": _of_day(_last_day),
    "DATE_FORMAT": lambda context, t, form: calendar_text.written(_local(context, t), form),
    "TO_DATE": lambda context, text, form: day_of(_to_timestamp(context, text, form), context.zone),
    "TO_TIMESTAMP": _to_timestamp,
    "UNIX_MICROS": plain(lambda t: t),
    "UNIX_MILLIS": plain(lambda t: t // MILLISECOND),
    "UNIX_SECONDS": plain(lambda t: t // SECOND),
    "UNIX_DATE": plain(lambda day: (day - _EPOCH).days),
    "TIMESTAMP_MICROS": plain(lambda x: x),
    "TIMESTAMP_MILLIS": plain(lambda x: checked(x * MILLISECOND, TIMESTAMP)),
    "TIMESTAMP_SECONDS": plain(_from_seconds),
    "MAKE_DATE": plain(_make_date),
    "MAKE_TIMESTAMP": _make_timestamp,
}
