"""Half-open intervals of time.

Law: ``[a, b)`` holds at ``t`` iff ``a <= t < b``; an interval is never empty.  ``overlaps``,
``intersect`` and ``without`` (its inverse) are those of paper 4, section 4.3.2, except that of
disjoint intervals the inverse is the first one itself: nothing was taken away from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.core.time import INF, NEG_INF, Instant, format_instant


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The instants from ``valid_from`` up to, and without, ``valid_to``."""

    valid_from: Instant
    valid_to: Instant

    def __post_init__(self) -> None:
        if not self.valid_from < self.valid_to:
            raise ValueError(f"empty interval [{self.valid_from}, {self.valid_to})")

    def __contains__(self, t: Instant) -> bool:
        return self.valid_from <= t < self.valid_to

    def __str__(self) -> str:
        return f"[{format_instant(self.valid_from)}, {format_instant(self.valid_to)})"

    def overlaps(self, other: Interval) -> bool:
        """Whether some instant lies in both."""
        return self.valid_from < other.valid_to and other.valid_from < self.valid_to

    def intersect(self, other: Interval) -> Interval | None:
        """The instants in both, or None if there is none."""
        if not self.overlaps(other):
            return None
        return Interval(max(self.valid_from, other.valid_from), min(self.valid_to, other.valid_to))

    def without(self, other: Interval) -> tuple[Interval, ...]:
        """The maximal parts of this interval that ``other`` does not overlap.

        >>> Interval(0, 10).without(Interval(3, 5))
        (Interval(valid_from=0, valid_to=3), Interval(valid_from=5, valid_to=10))
        """
        if not self.overlaps(other):
            return (self,)
        return tuple(
            Interval(start, end)
            for start, end in (
                (self.valid_from, other.valid_from),
                (other.valid_to, self.valid_to),
            )
            if start < end
        )


ALWAYS = Interval(NEG_INF, INF)


def interval_or_none(valid_from: Instant, valid_to: Instant) -> Interval | None:
    """``[valid_from, valid_to)``, or None where that is empty."""
    return Interval(valid_from, valid_to) if valid_from < valid_to else None
