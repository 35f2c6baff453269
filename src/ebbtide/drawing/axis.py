"""The axis of time: where instants lie, and the labels below it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, tzinfo

from ebbtide.core.time import (
    DAY,
    HOUR,
    INF,
    MILLISECOND,
    MINUTE,
    NEG_INF,
    SECOND,
    Duration,
    Instant,
    format_instant,
    is_finite,
    shift,
)

MOST_TICKS = 8

_STEPS: tuple[Duration, ...] = (
    *(n * scale for scale in (1, 1_000) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 7, 14, 30, 91, 182, 365, 730, 1825, 3650, 36500, 365000)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Instants from ``first`` to ``last``, drawn from ``left`` to ``right``."""

    first: Instant
    last: Instant
    left: float
    right: float
    zone: tzinfo = UTC

    def x(self, t: Instant) -> float:
        """Where an instant lies; what is outside lies at the edge."""
        within = max(self.first, min(self.last, t))
        share = (within - self.first) / (self.last - self.first)
        return round(self.left + share * (self.right - self.left), 2)

    @property
    def step(self) -> Duration:
        """The distance of the labels."""
        span = self.last - self.first
        # A label of fractions of a second takes twice the room.
        return next(
            (s for s in _STEPS if span <= s * (MOST_TICKS if s >= SECOND else MOST_TICKS // 2)),
            span // MOST_TICKS,
        )

    @property
    def ticks(self) -> list[Instant]:
        """The instants that have a label, on the grid of the step."""
        begin = -(-self.first // self.step) * self.step
        return list(range(begin, self.last + 1, self.step))

    @property
    def labels(self) -> list[tuple[Instant, str, str]]:
        """The ticks with their time of day, and with their day where that is a new one."""
        texts = [(t, *_day_and_time(t, self.step, self.zone)) for t in self.ticks]
        before = [("", ""), *((day, time) for _, day, time in texts)]
        return [
            (t, time or day, day if time and day != known else "")
            for (t, day, time), (known, _) in zip(texts, before, strict=False)
        ]


def axis_over(instants: Iterable[Instant], left: float, right: float, zone: tzinfo = UTC) -> Axis:
    """The axis that shows all these instants, with room on both sides."""
    finite = [t for t in instants if is_finite(t)]
    first, last = (min(finite), max(finite)) if finite else (0, 0)
    room = max((last - first) * 4 // 100, 1) if first < last else SECOND
    return Axis(
        max(shift(first, -room), NEG_INF + 1), min(shift(last, room), INF - 1), left, right, zone
    )


def _day_and_time(t: Instant, step: Duration, zone: tzinfo) -> tuple[str, str]:
    day, _, time = format_instant(t, zone).partition(" ")
    if step >= DAY or time == "us":
        return f"{day} {time}".strip() if time == "us" else day, ""
    if step >= MINUTE:
        return day, time[:5]
    if step >= SECOND:
        return day, time[:8]
    digits = 3 if step >= MILLISECOND else 6
    whole, _, fraction = time.partition(".")
    return day, f"{whole}.{fraction[:digits]:0<{digits}}"
