"""Instants and durations."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.time import (
    DAY,
    HOUR,
    INF,
    MILLISECOND,
    MINUTE,
    NEG_INF,
    SECOND,
    WEEK,
    ceil_to,
    day_of,
    duration,
    floor_to,
    format_duration,
    format_instant,
    from_datetime,
    instant,
    is_finite,
    shift,
    to_datetime,
    unit,
)
from ebbtide.errors import QueryError

finite = st.integers(NEG_INF + 1, INF - 1)


def test_the_ends_of_the_line_are_no_instants() -> None:
    assert (NEG_INF, INF) == (-(2**63), 2**63 - 1)
    assert [is_finite(t) for t in (NEG_INF, NEG_INF + 1, 0, INF - 1, INF)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_the_ends_of_the_line_absorb() -> None:
    assert shift(INF, -HOUR) == INF
    assert shift(NEG_INF, HOUR) == NEG_INF
    assert shift(INF - 1, 2) == INF
    assert shift(NEG_INF + 1, -2) == NEG_INF
    assert floor_to(INF, 7) == ceil_to(INF, 7) == INF


@given(finite, st.integers(1, DAY))
def test_grids_start_at_the_epoch(t: int, grid: int) -> None:
    below, above = floor_to(t, grid), ceil_to(t, grid)
    assert below <= t <= above
    assert below % grid == above % grid == 0
    assert above - below in (0, grid)


def test_datetimes_are_read_in_a_zone() -> None:
    east = timezone(timedelta(hours=2))
    assert from_datetime(datetime(1970, 1, 1, 2), east) == 0
    assert from_datetime(datetime(1970, 1, 1, 2, tzinfo=UTC), east) == 2 * HOUR
    assert to_datetime(0, east) == datetime(1970, 1, 1, 2, tzinfo=east)


@pytest.mark.parametrize(
    ("written", "t"),
    [
        (17, 17),
        ("1970-01-01 00:00:01.5", 1_500_000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31", -DAY),
        (" inf ", INF),
        ("+inf", INF),
        ("-inf", NEG_INF),
        (datetime(1970, 1, 2), DAY),
    ],
)
def test_instants_are_written_in_many_ways(written: int | str | datetime, t: int) -> None:
    assert instant(written) == t


@pytest.mark.parametrize("written", ["", "yesterday", True, "25:00"])
def test_what_is_no_instant(written: int | str) -> None:
    with pytest.raises(QueryError, match="bad-instant"):
        instant(written)


@given(st.datetimes())
def test_the_text_of_an_instant_is_read_back(at: datetime) -> None:
    t = from_datetime(at)
    assert instant(format_instant(t)) == t


def test_every_instant_has_a_text() -> None:
    assert format_instant(NEG_INF) == "-inf"
    assert format_instant(INF) == "inf"
    assert format_instant(INF - 1) == "9223372036854775806 us"
    assert format_instant(SECOND) == "1970-01-01 00:00:01"


@pytest.mark.parametrize(
    ("written", "d"),
    [
        (5, 5),
        ("15 minutes", 15 * MINUTE),
        ("1 hour 30 minutes", 90 * MINUTE),
        ("2 WEEKS", 2 * WEEK),
        ("-5 milliseconds", -5 * MILLISECOND),
        (timedelta(hours=1, microseconds=3), HOUR + 3),
    ],
)
def test_durations_are_written_in_many_ways(written: int | str | timedelta, d: int) -> None:
    assert duration(written) == d


@pytest.mark.parametrize("written", ["", "5", "hour", "5 parsecs", "1 hour and", True])
def test_what_is_no_duration(written: int | str) -> None:
    with pytest.raises(QueryError, match="bad-duration"):
        duration(written)


@pytest.mark.parametrize("name", ["month", "MONTHS", "year", "quarters"])
def test_months_have_no_fixed_length(name: str) -> None:
    with pytest.raises(QueryError, match="no-fixed-length"):
        unit(name)


@given(st.integers(-WEEK, WEEK) | st.sampled_from([SECOND, DAY, 36 * HOUR]))
def test_the_text_of_a_duration_is_read_back(d: int) -> None:
    assert duration(format_duration(d)) == d


def test_a_day_begins_at_midnight_of_its_zone() -> None:
    assert day_of(DAY - 1).isoformat() == "1970-01-01"
    assert day_of(DAY).isoformat() == "1970-01-02"
    assert day_of(DAY - 1, timezone(timedelta(hours=1))).isoformat() == "1970-01-02"
