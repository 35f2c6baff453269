"""Sums, means and variances in Python's exact numbers, as five functions.

Law: states are exact fractions, results are rounded once.  This is the way for groups whose
doubles left the range in which pairs of doubles can be trusted, and for the variance of decimals
too wide for words; it is slow and always right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ebbtide.core.time import Instant
from ebbtide.kernels.aggregates.accumulation import Accumulators, Moment, plan_of
from ebbtide.kernels.aggregates.moments import values_of
from ebbtide.kernels.sweeps.spans import Spans
from ebbtide.state.arrays import Mask


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
        if self.name not in ("SUM", "AVG") or not math.isfinite(value):
            return _plus(state, _of(value), sign)
        # Sizes and squares are three quarters of the work.
        exact = Fraction(value)
        total = state.total + exact if sign > 0 else state.total - exact
        return state._replace(rows=state.rows + sign, total=total)

    def merge(self, left: Sums, right: Sums) -> Sums:
        return _plus(left, right, 1)

    def result(self, state: Sums) -> float | None:
        sample = self.name.endswith("SAMP")
        divisor = state.rows - 1 if sample else state.rows
        if state.rows == 0 or divisor == 0:
            return None
        special = bool(state.nans or state.above or state.below)
        if self.name in ("SUM", "AVG"):
            if special:
                return _special(state)
            return to_double(state.total if self.name == "SUM" else state.total / state.rows)
        if special:
            return math.nan
        variance = (state.squares - state.total**2 / state.rows) / divisor
        return _root(variance) if self.name.startswith("STDDEV") else to_double(variance)


def to_double(exact: Fraction) -> float:
    """The double next to a fraction, or an infinity."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


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


def _root(exact: Fraction) -> float:
    if exact <= 0:
        return 0.0
    half = (exact.numerator.bit_length() - exact.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(exact / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf


def exact_reals(
    moments: tuple[Moment, ...],
    lines: Accumulators,
    table: Any,
    spans: Spans,
    doubtful: Mask,
    now: Instant,
) -> None:
    """Puts the exact sums at ``now`` into the lines of doubtful groups, as pairs and peaks."""
    values = values_of(table, moments)
    valid = (spans.starts <= now) & (spans.ends > now)
    spans = spans.chosen(valid)
    for place, (moment, (_, _, _, at)) in enumerate(
        zip(moments, plan_of(moments).tolist(), strict=True)
    ):
        if not moment.reals:
            continue
        states = dict.fromkeys(np.flatnonzero(doubtful).tolist(), NOTHING)
        for group, row, count in zip(
            *(p.tolist() for p in (spans.groups, spans.rows, spans.diff)), strict=True
        ):
            if group in states and values.present[place, row]:
                one = _of(float(values.real[place, row]))
                states[group] = _plus(states[group], one, count)
        for group, state in states.items():
            lines.real[group, at : at + moment.reals] = _pairs(state)[: moment.reals]


def _pairs(state: Sums) -> list[float]:
    mass = to_double(state.mass)
    return [*_pair(state.total), mass, mass, *_pair(state.squares)]


def _pair(exact: Fraction) -> tuple[float, float]:
    high = to_double(exact)
    return high, to_double(exact - Fraction(high)) if math.isfinite(high) else 0.0
