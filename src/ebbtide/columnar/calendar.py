"""Local days and times of a zone for columns of instants, and the instants of local times.

Law: the calendar is the proleptic Gregorian one of the years 1 to 9999.  A local time that a zone
has twice is the earlier one, and one that it skips is as much later as is skipped; both as in
Java and in Python.

A zone's offsets are asked of the zone once for each year that occurs, and then looked up.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ebbtide.columnar.arrays import numbers, present
from ebbtide.columnar.vectors import Failures
from ebbtide.core.time import DAY, SECOND
from ebbtide.errors import EvaluationError

Longs: TypeAlias = NDArray[np.int64]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_DAY = (date.min - date(1970, 1, 1)).days
LAST_DAY = (date.max - date(1970, 1, 1)).days
_FIRST = FIRST_DAY * DAY
_LAST = (LAST_DAY + 1) * DAY - 1


def local_times(instants: Any, zone: tzinfo) -> tuple[Longs, Failures | None]:
    """The wall clock at instants, as if it were that of UTC; outside of the calendar they fail."""
    given: Longs = np.asarray(numbers(instants), np.int64).reshape(-1)
    beyond = (given < _FIRST) | (given > _LAST)
    if beyond.any():
        given = np.where(beyond, 0, given)
    local = given if zone is UTC else given + offsets(given, zone)
    if zone is not UTC:
        beyond = beyond | (local < _FIRST) | (local > _LAST)
    if not beyond.any():
        return local, None
    error = EvaluationError("overflow", "the time is outside of the years 1 to 9999")
    return np.where(beyond, 0, local), Failures.where(present(beyond, instants), error)


def local_days(instants: Any, zone: tzinfo) -> tuple[Longs, Failures | None]:
    """The days since the epoch on which instants fall."""
    local, failures = local_times(instants, zone)
    return local // DAY, failures


def instants_of(local: Longs, zone: tzinfo) -> Longs:
    """The instants at which the wall clock shows local times."""
    if zone is UTC:
        return local
    before, after = offsets(local - DAY, zone), offsets(local + DAY, zone)
    early, late = local - before, local - after
    same = (before == after) | (offsets(early, zone) == before)
    return np.where(same | (offsets(late, zone) != after), early, late)


def starts_of_days(days: Any, zone: tzinfo) -> Longs:
    """The instants at which days begin."""
    return instants_of(np.asarray(days).astype(np.int64) * DAY, zone)


def offsets(instants: Longs, zone: tzinfo) -> Longs:
    """How far the wall clock is ahead of UTC at instants."""
    if isinstance(zone, timezone):
        shift = zone.utcoffset(None) // timedelta(microseconds=1)
        return np.full(len(instants), shift, np.int64)
    clipped = np.clip(instants, _FIRST, _LAST)
    years = clipped.view("M8[us]").astype("M8[Y]").astype(np.int64) + 1970
    changes = [change for year in np.unique(years).tolist() for change in _changes(zone, year)]
    since, shifts = np.array(changes, np.int64).reshape(-1, 2).T
    return np.asarray(shifts[np.searchsorted(since, clipped, side="right") - 1])


@lru_cache(maxsize=20_000)
def _changes(zone: tzinfo, year: int) -> tuple[tuple[int, int], ...]:
    """The offsets of a year, each with the instant from which on it holds."""
    first, *days = range(_new_year(year), _new_year(year + 1) + 1, DAY)
    found = [(first, _offset(first, zone))]
    for day in days:
        known = found[-1][1]
        if _offset(day, zone) != known:
            found += _between(day - DAY, day, zone)
    return tuple(found)


def _between(low: int, high: int, zone: tzinfo) -> list[tuple[int, int]]:
    """The change of the offset within a day, to the second."""
    known = _offset(low, zone)
    while high - low > SECOND:
        middle = (low + high) // 2 // SECOND * SECOND
        low, high = (middle, high) if _offset(middle, zone) == known else (low, middle)
    return [(high, _offset(high, zone))]


def _offset(instant: int, zone: tzinfo) -> int:
    # A day off the ends of the calendar, so that local times are in it, too.
    clipped = min(max(instant, _FIRST + DAY), _LAST - DAY)
    shift = (_EPOCH + timedelta(microseconds=clipped)).astimezone(zone).utcoffset()
    return (shift or timedelta()) // timedelta(microseconds=1)


def _new_year(year: int) -> int:
    return int(np.datetime64(year - 1970, "Y").astype("M8[us]").astype(np.int64))


def years(days: Longs) -> Longs:
    """The years of days."""
    return days.astype("M8[D]").astype("M8[Y]").astype(np.int64) + 1970


def months(days: Longs) -> Longs:
    """The months of days since January 1970."""
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def first_days(months_: Longs) -> Longs:
    """The first days of months since January 1970."""
    return months_.astype("M8[M]").astype("M8[D]").astype(np.int64)
