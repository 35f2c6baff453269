"""Functions of days and instants, on the calendar of the session's zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.arithmetic import days_in_range, in_range, unbounded, whole
from ebbtide.columnar.arrays import column, each, is_scalar, nulls, numbers, present
from ebbtide.columnar.calendar import (
    Longs,
    first_days,
    instants_of,
    local_days,
    local_times,
    months,
    offsets,
    years,
)
from ebbtide.columnar.casts import cast
from ebbtide.columnar.signature import (
    Context,
    Implementation,
    bad_argument,
    by_value,
    by_value_in_context,
)
from ebbtide.columnar.time_patterns import read_day, read_instant, written
from ebbtide.columnar.vectors import Computed, Failures, earliest, failing
from ebbtide.core.decimals import EXACT
from ebbtide.core.time import (
    DAY,
    HOUR,
    INF,
    MILLISECOND,
    MINUTE,
    NEG_INF,
    SECOND,
    from_datetime,
    to_datetime,
)
from ebbtide.core.types import (
    BIGINT,
    INT,
    TIMESTAMP,
    DateType,
    DecimalType,
    DoubleType,
    Type,
)
from ebbtide.errors import EvaluationError

_UNITS = {"YYYY": "YEAR", "YY": "YEAR", "MM": "MONTH", "MON": "MONTH", "DD": "DAY"}
_CLOCK = {"DAY": DAY, "HOUR": HOUR, "MINUTE": MINUTE, "SECOND": SECOND}


def on_grid(grid: int, up: bool, operand: Any) -> Computed:
    """The last multiple of a grid not after an instant, or the first not before it if ``up``."""
    given = numbers(operand)
    near_end = bool(np.any((given < NEG_INF + grid) | (given > INF - grid)))
    if near_end:
        exact = unbounded(operand)
        floored = -(-exact // grid) * grid if up else exact // grid * grid
        endless = (given == NEG_INF) | (given == INF)
        return in_range(np.where(endless, exact, floored), TIMESTAMP, operand)
    floored = -(-given // grid) * grid if up else given // grid * grid
    return Computed(column(floored, nulls(operand), TIMESTAMP))


def _days(type_: Type, zone: tzinfo, operand: Any) -> tuple[Longs, Failures | None]:
    """The days since the epoch of a column of days or instants."""
    if isinstance(type_, DateType):
        return np.asarray(numbers(operand)).astype(np.int64).reshape(-1), None
    return local_days(operand, zone)


def _of_day(part: Callable[[Longs], Longs]) -> Implementation:
    """A number that a day has."""

    def compute(context: Context, operand: Any) -> Computed:
        days, failures = _days(context.types[0], context.zone, operand)
        return failing(column(part(days), nulls(operand), context.type), failures)

    return compute


def _of_clock(part: Callable[[Longs], Longs]) -> Implementation:
    """A number that the wall clock shows."""

    def compute(context: Context, operand: Any) -> Computed:
        local, failures = local_times(operand, context.zone)
        return failing(column(part(local), nulls(operand), INT), failures)

    return compute


def _day_of_month(days: Longs) -> Longs:
    return days - first_days(months(days)) + 1


def _new_years(years_: Longs) -> Longs:
    return first_days((years_ - 1970) * 12)


def _weekday(days: Longs) -> Longs:
    """The day of the week, 0 for Monday: the epoch was a Thursday."""
    return (days + 3) % 7


def _thursday(days: Longs) -> Longs:
    """The Thursday of the week, which says to which year the week belongs."""
    return days - _weekday(days) + 3


def _week(days: Longs) -> Longs:
    thursday = _thursday(days)
    return (thursday - _new_years(years(thursday))) // 7 + 1


def _second_fraction(context: Context, operand: Any) -> Computed:
    local, failures = local_times(operand, context.zone)
    micros = column(local % MINUTE, nulls(operand), BIGINT)
    outcome = cast(TIMESTAMP, context.type, UTC, micros)
    return failing(outcome.values, failures)


def _by_unit(truncate: Callable[[Context, str, Any], Computed]) -> Callable[..., Computed]:
    """A function of a unit: once for each unit that occurs."""

    def compute(context: Context, unit: Any, operand: Any) -> Computed:
        if is_scalar(unit):
            return truncate(context, _unit(unit.as_py()), operand)
        given = pa.repeat(operand, len(unit)) if is_scalar(operand) else operand
        values = pa.nulls(len(unit), given.type)
        failures = None
        for name in unit.unique().drop_null().to_pylist():
            rows = pc.fill_null(pc.equal(unit, name), False)
            found = truncate(context, _unit(name), given)
            values = pc.if_else(rows, found.values, values)
            if found.failures is not None:
                mask = rows.to_numpy(zero_copy_only=False)
                failures = earliest(failures, found.failures.only(mask))
        return Computed(values, failures)

    return compute


def _unit(name: str) -> str:
    return _UNITS.get(name.upper(), name.upper())


def _date_trunc(context: Context, unit: str, operand: Any) -> Computed:
    if unit == "MICROSECOND":
        return Computed(operand)
    if unit == "MILLISECOND":
        return _floored(MILLISECOND, operand)
    if unit in _CLOCK:
        local, failures = local_times(operand, context.zone)
        found = _resolved(local // _CLOCK[unit] * _CLOCK[unit], operand, context.zone)
        return failing(column(found, nulls(operand), TIMESTAMP), failures)
    days, failures = local_days(operand, context.zone)
    first = _first_of(unit, days)
    if first is None:
        return Computed(pa.nulls(len(operand), pa.int64()))
    found = instants_of(first * DAY, context.zone)
    return failing(column(found, nulls(operand), TIMESTAMP), failures)


def _floored(grid: int, operand: Any) -> Computed:
    given = numbers(operand)
    if np.any(given < NEG_INF + grid):
        return in_range(unbounded(operand) // grid * grid, TIMESTAMP, operand)
    return Computed(column(given // grid * grid, nulls(operand), TIMESTAMP))


def _resolved(local: Longs, operand: Any, zone: tzinfo) -> Longs:
    """The instants of local times; of two the one with the offset of the operand."""
    if zone is UTC:
        return local
    shifts = offsets(np.asarray(numbers(operand), np.int64), zone)
    same = local - shifts
    return np.where(offsets(same, zone) == shifts, same, instants_of(local, zone))


def _trunc(context: Context, unit: str, operand: Any) -> Computed:
    days = numbers(operand).astype(np.int64)
    first = _first_of(unit, days)
    if first is None:
        return Computed(pa.nulls(len(operand), pa.date32()))
    return days_in_range(first, operand)


def _first_of(unit: str, days: Longs) -> Longs | None:
    """The first day of the unit in which days fall."""
    match unit:
        case "YEAR":
            return _new_years(years(days))
        case "QUARTER":
            return first_days(months(days) // 3 * 3)
        case "MONTH":
            return first_days(months(days))
        case "WEEK":
            return days - _weekday(days)
        case _:
            return None


def _moving(sign: int) -> Implementation:
    def compute(context: Context, operand: Any, count: Any) -> Computed:
        days, failures = _days(context.types[0], context.zone, operand)
        moved = days_in_range(days + sign * numbers(count).astype(np.int64), operand, count)
        return failing(moved.values, _spread(failures, operand, count), moved.failures)

    return compute


def _datediff(context: Context, end: Any, start: Any) -> Computed:
    until, late = _days(context.types[0], context.zone, end)
    since, early = _days(context.types[1], context.zone, start)
    values = column(until - since, nulls(end, start), INT)
    return failing(values, _spread(late, end, start), _spread(early, end, start))


def _add_months(context: Context, operand: Any, count: Any) -> Computed:
    days, failures = _days(context.types[0], context.zone, operand)
    month = months(days)
    # No further than the calendar and a little more: numpy's own range is wider than that.
    target = np.clip(month + numbers(count).astype(np.int64), -24_000, 97_000)
    last = first_days(target + 1) - 1
    found = np.minimum(first_days(target) + days - first_days(month), last)
    moved = days_in_range(found, operand, count)
    return failing(moved.values, _spread(failures, operand, count), moved.failures)


def _spread(failures: Failures | None, *operands: Any) -> Failures | None:
    """The failures of one operand on the rows on which all operands have a value."""
    if failures is None:
        return None
    there = present(True, *operands)
    whole = failures.repeated(len(there)) if len(failures) != len(there) else failures
    return None if whole is None else whole.only(there)


def _last_day(days: Longs) -> Longs:
    return first_days(months(days) + 1) - 1


def _date_format(context: Context, t: int, pattern: str) -> str:
    try:
        local = to_datetime(t, context.zone)
    except (OverflowError, ValueError):
        raise EvaluationError("overflow", "the time is outside of the years 1 to 9999") from None
    return written(local, pattern)


def _timestamp_seconds(context: Context, operand: Any) -> Computed:
    (type_,) = context.types
    if isinstance(type_, DecimalType):
        return each(_from_decimal, context.types, TIMESTAMP, operand)
    if not isinstance(type_, DoubleType):
        return whole("*", TIMESTAMP, operand, pa.scalar(SECOND, pa.int64()))
    outcome = cast(type_, TIMESTAMP, UTC, operand)
    return Computed(
        outcome.values,
        None if outcome.failures is None else outcome.failures.told(_as_argument),
    )


def _as_argument(error: EvaluationError) -> EvaluationError:
    return bad_argument(error.message) if error.code == "bad-cast" else error


def _from_decimal(seconds: Decimal) -> int:
    micros = EXACT.multiply(seconds, Decimal(SECOND))
    if micros != micros.to_integral_value():
        raise bad_argument(f"{seconds} seconds are no whole number of microseconds")
    if not NEG_INF <= micros <= INF:
        raise EvaluationError("overflow", f"{seconds} seconds are out of the range of {TIMESTAMP}")
    return int(micros)


def _make_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError) as error:
        raise bad_argument(f"there is no such day: {error}") from None


def _make_timestamp(
    context: Context, year: int, month: int, day: int, hour: int, minute: int, second: Decimal
) -> int:
    micros = int(EXACT.multiply(second, Decimal(SECOND)))
    if not 0 <= micros <= MINUTE:
        raise bad_argument(f"there is no second {second}")
    try:
        start = datetime(year, month, day, hour, minute)
    except (ValueError, OverflowError) as error:
        raise bad_argument(f"there is no such time: {error}") from None
    return from_datetime(start, context.zone) + micros


def _unix(unit: int) -> Implementation:
    return lambda context, operand: column(numbers(operand) // unit, nulls(operand), BIGINT)


TIMES: dict[str, Implementation] = {
    "YEAR": _of_day(years),
    "QUARTER": _of_day(lambda days: months(days) % 12 // 3 + 1),
    "MONTH": _of_day(lambda days: months(days) % 12 + 1),
    "WEEKOFYEAR": _of_day(_week),
    "YEAROFWEEK": _of_day(lambda days: years(_thursday(days))),
    "DAY": _of_day(_day_of_month),
    "DAYOFYEAR": _of_day(lambda days: days - _new_years(years(days)) + 1),
    "DAYOFWEEK": _of_day(lambda days: (_weekday(days) + 1) % 7 + 1),
    "WEEKDAY": _of_day(_weekday),
    "HOUR": _of_clock(lambda local: local // HOUR % 24),
    "MINUTE": _of_clock(lambda local: local // MINUTE % 60),
    "SECOND": _of_clock(lambda local: local // SECOND % 60),
    "SECOND_FRACTION": _second_fraction,
    "DATE_TRUNC": _by_unit(_date_trunc),
    "TRUNC": lambda context, days, unit: _by_unit(_trunc)(context, unit, days),
    "DATE_ADD": _moving(1),
    "DATE_SUB": _moving(-1),
    "DATEDIFF": _datediff,
    "ADD_MONTHS": _add_months,
    "LAST_DAY": _of_day(_last_day),
    "DATE_FORMAT": by_value_in_context(_date_format),
    "TO_DATE": by_value_in_context(lambda context, text, form: read_day(text, form, context.zone)),
    "TO_TIMESTAMP": by_value_in_context(
        lambda context, text, form: read_instant(text, form, context.zone)
    ),
    "UNIX_MICROS": lambda context, operand: operand,
    "UNIX_MILLIS": _unix(MILLISECOND),
    "UNIX_SECONDS": _unix(SECOND),
    "UNIX_DATE": lambda context, days: days.view(pa.int32()),
    "TIMESTAMP_MICROS": lambda context, operand: operand,
    "TIMESTAMP_MILLIS": lambda context, operand: whole(
        "*", TIMESTAMP, operand, pa.scalar(MILLISECOND, pa.int64())
    ),
    "TIMESTAMP_SECONDS": _timestamp_seconds,
    "MAKE_DATE": by_value(_make_date),
    "MAKE_TIMESTAMP": by_value_in_context(_make_timestamp),
}
