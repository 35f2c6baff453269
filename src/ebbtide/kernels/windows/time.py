"""The windows of time over facts: RANGE, RANGE SLIDE, FIXED, NOW and UNBOUNDED.

Law: a fact at ``ts`` is valid over the interval below; one without a time never is (paper 4,
section 2.6 and algorithm 4; grids start at the epoch).
State: none.
Emits: each change of a fact at once, with the whole interval, of which some may lie in the
future; nothing where the interval is empty.
Forgets: nothing, it holds nothing.

    [RANGE d]            ts|=====================|ts+d
    [RANGE d SLIDE s]       |CEIL(ts TO s) =========|CEIL(ts+d TO s)
    [FIXED d]            ts|======|FLOOR(ts TO d)+d
    [NOW]                ts|ts+1
    [UNBOUNDED]          ts|=====================================...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbtide.core.time import INF, Duration
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.stateless import Linear, timed
from ebbtide.kernels.sweeps.timeline import ceil_to, floor_to, shift
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, where, with_times
from ebbtide.state.columns import ints


@dataclass(frozen=True, slots=True)
class Range(Linear):
    """Valid for ``size_us`` from the time in column ``on``; with a slide, seen on its grid."""

    on: int
    size_us: Duration
    slide_us: Duration | None = None

    def changes(self, changes: Batch) -> Batch:
        """The facts with their intervals."""
        facts, ts = timed(changes, self.on)
        end = shift(ts, self.size_us)
        if self.slide_us is None:
            return _valid(facts, ts, end)
        return _valid(facts, ceil_to(ts, self.slide_us), ceil_to(end, self.slide_us))


@dataclass(frozen=True, slots=True)
class Fixed(Linear):
    """Valid until the end of the section of ``size_us`` that the time lies in."""

    on: int
    size_us: Duration

    def changes(self, changes: Batch) -> Batch:
        """The facts with their intervals."""
        facts, ts = timed(changes, self.on)
        return _valid(facts, ts, shift(floor_to(ts, self.size_us), self.size_us))


@dataclass(frozen=True, slots=True)
class Now(Linear):
    """Valid at the instant of the fact alone."""

    on: int

    def changes(self, changes: Batch) -> Batch:
        """The facts with their intervals."""
        facts, ts = timed(changes, self.on)
        return _valid(facts, ts, shift(ts, 1))


@dataclass(frozen=True, slots=True)
class Unbounded(Linear):
    """Valid from the fact's time on, for ever."""

    on: int

    def changes(self, changes: Batch) -> Batch:
        """The facts with their intervals."""
        facts, ts = timed(changes, self.on)
        return _valid(facts, ts, np.full(len(ts), INF, np.int64))


def _valid(facts: Batch, valid_from: Ints, valid_to: Ints) -> Batch:
    return where(with_times(facts, valid_from, valid_to, ints(facts, DIFF)), valid_from < valid_to)
