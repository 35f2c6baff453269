"""A clock that tests move, and that never falls."""

from datetime import UTC, datetime, timedelta

import pytest

from ebbtide.core.time import MINUTE, instant
from ebbtide.errors import QueryError
from ebbtide.testing import Clock


def test_a_clock_stands_until_it_is_moved() -> None:
    clock = Clock()
    assert (clock.now, clock()) == (0, 0)
    clock.advance(5)
    clock.advance(timedelta(microseconds=2))
    clock.advance("1 minute")
    assert clock.now == 7 + MINUTE


def test_a_clock_is_set() -> None:
    clock = Clock("2026-01-01 00:00:00")
    clock.set(datetime(2026, 1, 1, 0, 5, tzinfo=UTC))
    assert str(clock) == "2026-01-01 00:05:00"
    clock.set("2026-01-01 00:05:00")
    assert clock.now == instant("2026-01-01 00:05:00")


def test_a_clock_never_falls() -> None:
    clock = Clock(10)
    with pytest.raises(QueryError, match="does not go back"):
        clock.set(9)
    with pytest.raises(QueryError, match="does not go back"):
        clock.advance(-1)
    assert clock.now == 10
