"""Which stored changes are kept: the rule of a store, with its values filled in.

Law: a change is kept iff in some case each named time is later than its value.  A time that is NULL
is later than any.  A rule only ever drops more: its values never fall.

A segment goes whole when no case can hold within the bounds of its times, and stays as it is while
some case holds at the lower ones.  Only where a value lies between the bounds are rows looked at.

    times of a segment     |-----------------|        all go
                                        value ^

    times of a segment     |-----------------|        the rows up to the value go,
                              value ^                 when the segment is next written

Where the rule comes from is the compiler's business: see ``ebbtide.analysis.keep``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.columns import column, fixed, ints, present
from ebbtide.state.segment import ENDS, Segment
from ebbtide.state.table import TO, last_end, where


@dataclass(frozen=True, slots=True)
class After:
    """The time in a column, or the end of the change, is later than a value."""

    column: int
    value: Instant


@dataclass(frozen=True, slots=True)
class Keep:
    """A case holds, by all of its conditions.

    ``begun`` is an instant that every change to come begins after: rows that never end, and began
    by then, are told apart by their values alone (see ``Endless``).
    """

    cases: tuple[tuple[After, ...], ...]
    begun: Instant = NEG_INF

    @property
    def is_everything(self) -> bool:
        """Whether nothing goes."""
        return any(all(part.value == NEG_INF for part in case) for case in self.cases)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that the rule names."""
        named = (part.column for case in self.cases for part in case)
        return tuple(sorted({place for place in named if place != ENDS}))

    @property
    def cut(self) -> int:
        """The time by which rows go: a column that every case names, else the end."""
        if not self.cases:
            return ENDS
        first, *rest = ({part.column for part in case} for case in self.cases)
        return max(first.intersection(*rest), default=ENDS)

    def either(self, *cases: tuple[After, ...]) -> Keep:
        """What is kept by this rule or in one of some other cases."""
        return Keep((*self.cases, *cases), self.begun)

    def mask(self, changes: Any) -> Mask | None:
        """Which changes of a batch are kept; None if all are."""
        if self.is_everything:
            return None
        kept = np.zeros(changes.num_rows, np.bool_)
        for case in self.cases:
            holds = np.ones(changes.num_rows, np.bool_)
            for part in case:
                holds &= times_of(changes, part.column) > part.value
            kept |= holds
        return None if kept.all() else kept

    def of(self, changes: Any) -> Any:
        """What is kept of a batch of changes."""
        mask = self.mask(changes)
        return changes if mask is None else where(changes, mask)

    def drops(self, segment: Segment) -> bool:
        """Whether nothing in a segment is kept."""
        return not any(
            all(segment.zone(part.column)[1] > part.value for part in case) for case in self.cases
        )

    def holds(self, segment: Segment) -> bool:
        """Whether all of a segment is kept, as far as its bounds tell."""
        return any(
            all(segment.zone(part.column)[0] > part.value for part in case) for case in self.cases
        )


ALWAYS = Keep(((),))
"""Nothing goes."""


def ended_by(horizon: Instant) -> Keep:
    """What has ended goes, where every change to come begins after the horizon."""
    return Keep(((After(ENDS, last_end(horizon)),),), horizon)


def times_of(changes: Any, place: int) -> Ints:
    """The times of a column, or the ends; NULL is later than any."""
    if place == ENDS:
        return ints(changes, TO)
    values = column(changes, place)
    there = present(values)
    times = fixed(values)
    return times if there is None else np.where(there, times, INF)


def zones(changes: Any, columns: Iterable[int]) -> tuple[tuple[int, int, int], ...]:
    """For each of some columns of times, its least and its greatest one."""
    found = []
    for place in columns:
        times = times_of(changes, place)
        found.append((place, int(times.min()), int(times.max())))
    return tuple(found)
