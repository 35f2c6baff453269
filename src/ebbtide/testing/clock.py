"""A clock that tests move.

Law: its reading never falls, and changes only when the test says so.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from ebbtide.core.time import Instant, duration, format_instant, instant
from ebbtide.errors import QueryError


class Clock:
    """A clock that stands still until the test moves it.

    >>> clock = Clock("2026-01-01 00:00:00")
    >>> clock.advance("15 minutes")
    >>> print(clock)
    2026-01-01 00:15:00
    """

    def __init__(self, start: int | str | datetime = 0) -> None:
        self._now = instant(start)

    @property
    def now(self) -> Instant:
        """The reading."""
        return self._now

    def __call__(self) -> Instant:
        return self._now

    def __str__(self) -> str:
        return format_instant(self._now)

    def advance(self, by: int | str | timedelta) -> None:
        """Moves the clock on by a duration."""
        self.set(self._now + duration(by))

    def set(self, to: int | str | datetime) -> None:
        """Moves the clock on to an instant."""
        target = instant(to)
        if target < self._now:
            raise QueryError(
                "clock-falls",
                f"a clock does not go back from {self} to {format_instant(target)}",
                hint="make another Clock",
            )
        self._now = target
