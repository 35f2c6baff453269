"""Sums, means and variances in Python's exact numbers, as five functions.

Law: states are exact fractions, results are rounded once.  This is the way for groups whose
doubles left the range in which pairs of doubles can be trusted, and for the variance of decimals
too wide for words; it is slow and always right.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, Instant
from ebbtide.core.values import normalise
from ebbtide.kernels.aggregates.accumulation import Accumulators, Lines, Moment, places_of, plan_of
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.moments import values_of
from ebbtide.kernels.aggregates.results import SUMS, Exact, to_double
from ebbtide.kernels.aggregates.totals import sums
from ebbtide.kernels.sweeps.spans import Marks, Spans
from ebbtide.state.arrays import Hashes, Ints, Mask


class Sums(NamedTuple):
    """Exact sums of finite values, of their sizes and squares, and counts of the others."""

    rows: int = 0
    total: Fraction = Fraction(0)
    mass: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)
    nans: int = 0
    above: int = 0
    below: int = 0


NOTHING = Sums()


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The aggregate of that name, over doubles or decimals, with a double as its result."""

    name: str
    initial: Sums = NOTHING
    ordered: bool = False
    keeps_nulls: bool = False

    def accumulate(self, state: Sums, row: tuple[Any, ...]) -> Sums:
        return self._moved(state, row[0], 1)

    def retract(self, state: Sums, row: tuple[Any, ...]) -> Sums:
        return self._moved(state, row[0], -1)

    def _moved(self, state: Sums, value: Any, sign: int) -> Sums:
        if SUMS[self.name].squares or not math.isfinite(value):
            return _plus(state, _of(value), sign)
        # Sizes and squares are three quarters of the work.
        exact = Fraction(value)
        total = state.total + exact if sign > 0 else state.total - exact
        return state._replace(rows=state.rows + sign, total=total)

    def merge(self, left: Sums, right: Sums) -> Sums:
        return _plus(left, right, 1)

    def result(self, state: Sums) -> float | None:
        if state.rows == 0:
            return None
        if state.nans or state.above or state.below:
            return self._special(state)
        return SUMS[self.name].of_exact(Exact(state.rows, state.total, state.squares))

    def _special(self, state: Sums) -> float | None:
        if not SUMS[self.name].squares:
            return _special(state)
        # NaN, unless there are too few rows for any value.
        none = SUMS[self.name].of_exact(Exact(state.rows, Fraction(0), Fraction(0))) is None
        return None if none else math.nan


def _of(value: Any) -> Sums:
    if isinstance(value, float) and not math.isfinite(value):
        return Sums(1, nans=int(value != value), above=int(value > 0), below=int(value < 0))
    exact = Fraction(value)
    return Sums(1, exact, abs(exact), exact * exact)


def _plus(left: Sums, right: Sums, sign: int) -> Sums:
    return Sums(
        left.rows + sign * right.rows,
        left.total + sign * right.total,
        left.mass + sign * right.mass,
        left.squares + sign * right.squares,
        left.nans + sign * right.nans,
        left.above + sign * right.above,
        left.below + sign * right.below,
    )


def _special(state: Sums) -> float:
    if state.nans or (state.above and state.below):
        return math.nan
    return math.inf if state.above else -math.inf


class Rows:
    """Stored and new rows of some groups, and totals that stand for those that are not stored.

    Without totals the rows are all there is.  With them, a row that never ends and began by its
    group's ``since`` is counted in the totals, whether it is stored or not.
    """

    def __init__(
        self,
        table: Any,
        spans: Spans,
        since: Ints,
        moments: tuple[Moment, ...],
        totals: Mapping[int, Hashes] | None,
    ) -> None:
        self.moments, self.totals = moments, totals
        self.values = values_of(table, moments)
        if totals is None:
            self.spans = self.later = spans
        else:
            endless = spans.ends == INF
            began = spans.starts <= since[spans.groups]
            self.spans = spans.chosen(~(endless & began))
            self.later = spans.chosen(endless & ~began)

    def sums_at(self, place: int, marks: Marks) -> list[Sums]:
        """The exact sums of a moment at marks, which are in the order of group and time."""
        moves: dict[int, list[tuple[int, int, Sums]]] = {g: [] for g in marks.groups.tolist()}
        for group, start, end, count, one in self._seen(self.spans, place, moves):
            moves[group] += [(start, count, one), (end, -count, one)]
        bases = self._bases(place, moves)
        found, current, at = [], -1, 0
        state = NOTHING
        for group, t in zip(marks.groups.tolist(), marks.at.tolist(), strict=True):
            if group != current:
                current, at, state = group, 0, bases[group]
                moves[group].sort(key=lambda move: move[0])
            while at < len(moves[group]) and moves[group][at][0] <= t:
                _, count, one = moves[group][at]
                state = _plus(state, one, count)
                at += 1
            found.append(state)
        return found

    def _bases(self, place: int, groups: Iterable[int]) -> dict[int, Sums]:
        """What the totals of some groups stand for: rows that had begun by ``since``."""
        found = dict.fromkeys(groups, NOTHING)
        if self.totals is None:
            return found
        for group in found:
            total, squares = sums(self.totals[place], group, self.moments[place])
            found[group] = NOTHING._replace(total=total, squares=squares)
        for group, _, _, count, one in self._seen(self.later, place, found):
            found[group] = _plus(found[group], one, -count)
        # The sum of their sizes is not known, but it is not less than the size of their sum.
        return {group: state._replace(mass=abs(state.total)) for group, state in found.items()}

    def _seen(
        self, spans: Spans, place: int, groups: Container[int]
    ) -> Iterator[tuple[int, int, int, int, Sums]]:
        """Group, interval, multiplicity and value of the rows that count."""
        seen = spans.chosen(self.values.present[place][spans.rows])
        numbers = self.values.real[place][seen.rows]
        columns = (seen.groups, seen.starts, seen.ends, seen.diff, numbers)
        for group, start, end, count, x in zip(*(c.tolist() for c in columns), strict=True):
            if group in groups:
                yield group, start, end, count, _of(x)


def made_exact(
    call: Call, column_: Any, place: int, rows: Rows, lines: Lines, marks: Marks, doubtful: Mask
) -> Any:
    """The column with the values of doubtful groups computed exactly."""
    asked = np.flatnonzero(doubtful[marks.groups])
    at = places_of(rows.moments)[place][0]
    counts = lines.whole[at].view(np.int64)[asked].tolist()
    specials = lines.whole[at + 1][asked].tolist()
    states = rows.sums_at(place, Marks(*(part[asked] for part in marks)))
    function = ExactSums(call.name)
    results = [
        function.result(state._replace(rows=count, nans=bits & 1, above=bits & 2, below=bits & 4))
        for state, count, bits in zip(states, counts, specials, strict=True)
    ]
    both = pa.concat_arrays([column_, pa.array(map(normalise, results), call.type)])
    chosen = np.arange(len(column_))
    chosen[asked] = len(column_) + np.arange(len(asked))
    return both.take(pa.array(chosen))


def exact_reals(lines: Accumulators, rows: Rows, doubtful: Mask, now: Instant) -> None:
    """Puts the exact sums at ``now`` into the lines of doubtful groups, as pairs and peaks."""
    groups = np.flatnonzero(doubtful)
    marks = Marks(groups, np.full(len(groups), now, np.int64))
    for place, (_, _, _, at) in enumerate(plan_of(rows.moments).tolist()):
        width = rows.moments[place].reals
        if width:
            for group, state in zip(groups.tolist(), rows.sums_at(place, marks), strict=True):
                lines.real[group, at : at + width] = _pairs(state)[:width]


def _pairs(state: Sums) -> list[float]:
    mass = to_double(state.mass)
    return [*_pair(state.total), mass, mass, *_pair(state.squares)]


def _pair(exact: Fraction) -> tuple[float, float]:
    high = to_double(exact)
    return high, to_double(exact - Fraction(high)) if math.isfinite(high) else 0.0
