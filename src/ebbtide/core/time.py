"""Instants and durations on the discrete time line.

Law: time is the integers of int64, in microseconds since the epoch (UTC), so ``a < b`` is
``a <= b - 1``.  ``NEG_INF`` and ``INF`` are the ends of the line; they absorb arithmetic.
Durations are fixed counts of microseconds: months and years have none and are refused.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeAlias

from ebbtide.errors import QueryError

Instant: TypeAlias = int
Duration: TypeAlias = int

NEG_INF: Instant = -(2**63)
INF: Instant = 2**63 - 1
LAST: Instant = INF - 1
"""The last instant of the line, at which what never ends still holds."""

MICROSECOND: Duration = 1
MILLISECOND: Duration = 1_000
SECOND: Duration = 1_000_000
MINUTE: Duration = 60 * SECOND
HOUR: Duration = 60 * MINUTE
DAY: Duration = 24 * HOUR
WEEK: Duration = 7 * DAY

FIRST_TIME: Instant = -62_135_596_800_000_000
LAST_TIME: Instant = 253_402_300_799_999_999
"""The first and the last instant of the calendar, which has the years 1 to 9999."""

UNITS: dict[str, Duration] = {
    "MICROSECOND": MICROSECOND,
    "MILLISECOND": MILLISECOND,
    "SECOND": SECOND,
    "MINUTE": MINUTE,
    "HOUR": HOUR,
    "DAY": DAY,
    "WEEK": WEEK,
}

SHORT_UNITS: dict[str, Duration] = {
    **dict.fromkeys(("US", "MICRO", "MICROS"), MICROSECOND),
    **dict.fromkeys(("MS", "MILLI", "MILLIS"), MILLISECOND),
    **dict.fromkeys(("S", "SEC", "SECS"), SECOND),
    **dict.fromkeys(("M", "MIN", "MINS"), MINUTE),
    **dict.fromkeys(("H", "HR", "HRS"), HOUR),
    "D": DAY,
    "W": WEEK,
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_MICROSECONDS = re.compile(r"[+-]?\d+ us")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(
    rf"{_DAY.pattern}([ T]\d\d(:\d\d(:\d\d([.,]\d{{1,6}}0*)?)?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?",
    re.ASCII,
)
"""Times as they are written here.  Python reads much more: `2026-01-01+02:00`, a day in a zone, as
two o'clock on it, and the number `10001010` as a day of the year 1000."""
_DURATION_PART = re.compile(r"\s*([+-]?\d+)\s*([A-Za-z]+)\s*")


def is_in_calendar(t: Instant) -> bool:
    """Whether ``t`` lies in the years 1 to 9999."""
    return FIRST_TIME <= t <= LAST_TIME


def is_finite(t: Instant) -> bool:
    """Whether ``t`` is an instant and not an end of the line."""
    return NEG_INF < t < INF


def shift(t: Instant, by: Duration) -> Instant:
    """``t + by``; the ends of the line stay where they are, and no result passes them.

    >>> shift(5, 3), shift(INF, -1) == INF, shift(INF - 1, 10) == INF
    (8, True, True)
    """
    if not is_finite(t):
        return t
    return max(NEG_INF, min(INF, t + by))


def floor_to(t: Instant, grid: Duration) -> Instant:
    """The last multiple of ``grid`` at or before ``t``; grids start at the epoch.

    >>> floor_to(7, 5), floor_to(-1, 5), floor_to(5, 5)
    (5, -5, 5)
    """
    return t if not is_finite(t) else t // grid * grid


def ceil_to(t: Instant, grid: Duration) -> Instant:
    """The first multiple of ``grid`` at or after ``t``.

    >>> ceil_to(7, 5), ceil_to(-1, 5), ceil_to(5, 5)
    (10, 0, 5)
    """
    return t if not is_finite(t) else -(-t // grid) * grid


def from_datetime(value: datetime, zone: tzinfo = UTC) -> Instant:
    """The instant of a datetime; one without a zone is read in ``zone``."""
    aware = value if value.tzinfo is not None else value.replace(tzinfo=zone)
    return (aware - _EPOCH) // _TICK


def to_datetime(t: Instant, zone: tzinfo = UTC) -> datetime:
    """The datetime of a finite instant between the years 1 and 9999."""
    return (_EPOCH + timedelta(microseconds=t)).astimezone(zone)


def instant(value: int | str | datetime, zone: tzinfo = UTC) -> Instant:
    """An instant from microseconds, ISO text, ``-inf``, ``inf`` or a datetime.

    Text in microseconds, as ``format_instant`` writes what has no ISO text, is read too.  No digit
    is lost: one behind the sixth of a fraction is 0.

    >>> instant("1970-01-01 00:00:01"), instant("-62135596800000001 us")
    (1000000, -62135596800000001)
    """
    if isinstance(value, bool) or not isinstance(value, int | str | datetime):
        raise _bad_instant(value)
    if isinstance(value, int):
        return value
    if isinstance(value, datetime):
        return from_datetime(value, zone)
    text = value.strip()
    if text in ("inf", "+inf"):
        return INF
    if text == "-inf":
        return NEG_INF
    if _MICROSECONDS.fullmatch(text):
        return int(text.removesuffix("us"))
    try:
        if _TIME.fullmatch(text):
            return from_datetime(datetime.fromisoformat(text), zone)
    except ValueError:
        pass
    raise _bad_instant(value)


def day(text: str) -> date:
    """The day that is written ``2026-01-31``; ValueError if it is not written so, or not there."""
    if not _DAY.fullmatch(text):
        raise ValueError(f"{text!r} is not a day")
    return date.fromisoformat(text)


def format_instant(t: Instant, zone: tzinfo = UTC) -> str:
    """``t`` as ISO text, without zone and without an empty fraction; outside of the years 1 to
    9999, which have no ISO text, in microseconds.

    >>> format_instant(1_500_000), format_instant(INF), format_instant(2**62)
    ('1970-01-01 00:00:01.500000', 'inf', '4611686018427387904 us')
    """
    if t <= NEG_INF:
        return "-inf"
    if t >= INF:
        return "inf"
    try:
        return to_datetime(t, zone).replace(tzinfo=None).isoformat(sep=" ")
    except OverflowError:
        return f"{t} us"


def duration(value: int | str | timedelta) -> Duration:
    """A duration from microseconds, a timedelta, or text such as ``1 hour 30 minutes``, ``90s``.

    >>> duration("15 minutes") == duration("15m") == 15 * MINUTE
    True
    """
    if isinstance(value, bool) or not isinstance(value, int | str | timedelta):
        raise _bad_duration(str(value))
    if isinstance(value, int):
        return value
    if isinstance(value, timedelta):
        return value // _TICK
    total, end = 0, 0
    while match := _DURATION_PART.match(value, end):
        total += int(match[1]) * unit(match[2])
        end = match.end()
    if end == 0 or end != len(value):
        raise _bad_duration(value)
    return total


def unit(name: str) -> Duration:
    """The length of a unit of time, in singular or plural, or short.

    >>> unit("minutes") == unit("min") == unit("m") == MINUTE
    True
    """
    if name.upper() in SHORT_UNITS:
        return SHORT_UNITS[name.upper()]
    singular = name.upper().removesuffix("S")
    if singular in ("MONTH", "YEAR", "QUARTER"):
        raise QueryError(
            "no-fixed-length",
            f"a {singular.lower()} has no fixed length, so it is not a duration",
            hint="use DAYS or smaller units",
        )
    if singular not in UNITS:
        raise QueryError(
            "bad-duration",
            f'"{name}" is not a unit of time',
            hint="use MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS or WEEKS",
        )
    return UNITS[singular]


def format_duration(d: Duration) -> str:
    """A duration as text that ``duration`` reads back; one unit where one is enough.

    >>> format_duration(90 * SECOND), format_duration(0), format_duration(15 * MINUTE)
    ('90 SECONDS', '0 SECONDS', '15 MINUTES')
    """
    if d == 0:
        return "0 SECONDS"
    for name in ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"):
        if d % UNITS[name] == 0:
            count = d // UNITS[name]
            return f"{count} {name}" if count == 1 else f"{count} {name}S"
    raise AssertionError("every duration is a count of microseconds")


def day_of(t: Instant, zone: tzinfo = UTC) -> date:
    """The calendar day on which ``t`` falls."""
    return to_datetime(t, zone).date()


def _bad_instant(value: object) -> QueryError:
    return QueryError(
        "bad-instant",
        f"{value!r} is not an instant",
        hint="write '2026-01-01 00:05:00', a datetime, or microseconds since the epoch",
    )


def _bad_duration(text: str) -> QueryError:
    return QueryError(
        "bad-duration", f'"{text}" is not a duration', hint='write "15 minutes", "1 hour" or "90s"'
    )
