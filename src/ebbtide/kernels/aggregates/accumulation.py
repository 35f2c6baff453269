"""The accumulators of COUNT, SUM, AVG and the variances, moved by rows that come and go.

Law: the accumulator of a group at an instant is the sum over the rows that are valid then; a row
adds its values where it begins and takes them away where it ends.  When the last row with a value
goes, its sums are exactly 0 again, whatever rounding there was.

Each group has ``whole`` words and ``reals``; each `Moment` a stretch of both:

| kind | whole | reals |
|---|---|---|
| COUNT | rows with a value | |
| WHOLE | rows, sum in 3 words, then squares in 3 | |
| REAL | rows, NaNs, +inf, -inf | sum as a pair, sum of sizes now, and its peak, squares as a pair |

The first whole word counts all rows of the group.  A REAL sum is trusted while the sizes of what
it adds up have not fallen far below their peak, where the pair's last bits are of what is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ebbtide.kernels.aggregates.arithmetic import add_one, add_real, add_whole, square, two_product
from ebbtide.state.arrays import Hashes, Ints

# Squares fall twice as far, and roots of what is left of them show it.
_TRUST, _TRUST_OF_SQUARES = 2.0**-20, 2.0**-10
# Below it, squares leave the range of doubles.
_SMALL = 2.0**-450


class Kind(IntEnum):
    """How the values of a moment are summed."""

    COUNT = 0
    WHOLE = 1
    REAL = 2


@dataclass(frozen=True, slots=True)
class Moment:
    """What is summed over the rows in which all arguments are present and the filter is TRUE."""

    arguments: tuple[int, ...]
    filter: int | None
    kind: Kind
    squares: bool = False

    @property
    def wholes(self) -> int:
        """How many whole words it takes."""
        return (1, 7 if self.squares else 4, 4)[self.kind]

    @property
    def reals(self) -> int:
        """How many reals it takes."""
        return (6 if self.squares else 4) if self.kind is Kind.REAL else 0


@dataclass(frozen=True, slots=True)
class Values:
    """The values of some rows for each moment; a moment without values has zeros."""

    present: npt.NDArray[np.bool_]
    low: Hashes
    high: Hashes
    real: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The words and reals of each group, a line each."""

    whole: Hashes
    real: npt.NDArray[np.float64]

    @staticmethod
    def zeros(count: int, moments: tuple[Moment, ...]) -> Accumulators:
        """Accumulators of no rows at all."""
        return Accumulators(
            np.zeros((count, 1 + sum(m.wholes for m in moments)), np.uint64),
            np.zeros((count, sum(m.reals for m in moments)), np.float64),
        )


@dataclass(frozen=True, slots=True)
class Lines:
    """What results are made of, an array of words or reals each, over all marks.

    The same as the accumulators, except that a REAL moment shows one word for its NaNs and
    infinities (bits 1, 2 and 4), and of its reals only the pairs.
    """

    whole: Hashes
    real: npt.NDArray[np.float64]


def places_of(moments: tuple[Moment, ...]) -> list[tuple[int, int]]:
    """For each moment where its words and reals begin in the lines."""
    result, whole, real = [], 1, 0
    for moment in moments:
        result.append((whole, real))
        whole += 2 if moment.kind is Kind.REAL else moment.wholes
        real += max(0, moment.reals - 2)
    return result


def plan_of(moments: tuple[Moment, ...]) -> Ints:
    """For each moment its kind, whether it has squares, and where its words and reals begin."""
    rows, whole, real = [], 1, 0
    for moment in moments:
        rows.append((int(moment.kind), int(moment.squares), whole, real))
        whole, real = whole + moment.wholes, real + moment.reals
    return np.array(rows, np.int64).reshape(-1, 4)


@njit(cache=True, inline="always")
def _move(
    plan: Any,
    whole: Any,
    real: Any,
    g: int,
    present: Any,
    low: Any,
    high: Any,
    reals: Any,
    row: int,
    n: int,
) -> None:
    """Adds a row ``n`` times to the accumulators of a group."""
    times = np.uint64(n)
    whole[g, 0] += times
    for m in range(len(plan)):
        if not present[m, row]:
            continue
        at, real_at = plan[m, 2], plan[m, 3]
        whole[g, at] += times
        if plan[m, 0] == 1:
            add_whole(whole[g], at + 1, low[m, row], high[m, row], n)
            if plan[m, 1]:
                square_low, square_high = square(low[m, row])
                add_whole(whole[g], at + 4, square_low, square_high, n)
        elif plan[m, 0] == 2:
            x = reals[m, row]
            if np.isfinite(x):
                if n == 1 or n == -1:
                    add_one(real, g, real_at, n * x)
                else:
                    add_real(real, g, real_at, x, 0.0, n)
                mass = real[g, real_at + 2] + n * abs(x)
                real[g, real_at + 2] = mass
                real[g, real_at + 3] = max(real[g, real_at + 3], abs(mass))
                if plan[m, 1]:
                    first, second = two_product(x, x)
                    add_real(real, g, real_at + 4, first, second, n)
            elif np.isnan(x):
                whole[g, at + 1] += times
            else:
                whole[g, at + (2 if x > 0 else 3)] += times


@njit(cache=True, inline="always")
def _settle(plan: Any, whole: Any, real: Any, g: int) -> Any:
    """Resets what is empty; gives whether every sum can be trusted."""
    trusted = True
    for m in range(len(plan)):
        if plan[m, 0] != 2:
            continue
        squares, at, real_at = plan[m, 1], plan[m, 2], plan[m, 3]
        finite = whole[g, at] - whole[g, at + 1] - whole[g, at + 2] - whole[g, at + 3]
        if finite == np.uint64(0):
            for k in range(6 if squares else 4):
                real[g, real_at + k] = 0.0
            continue
        mass = real[g, real_at + 2]
        least = (_TRUST_OF_SQUARES if squares else _TRUST) * real[g, real_at + 3]
        if not (mass >= least) or not np.isfinite(real[g, real_at]):
            trusted = False
        if squares:
            large = not np.isfinite(real[g, real_at + 4] + real[g, real_at + 5])
            if large or 0.0 < mass < _SMALL:
                trusted = False
    return trusted


@njit(cache=True)
def line_widths(plan: Any) -> Any:
    """How many words and reals are shown of each mark."""
    wholes, reals = 1, 0
    for m in range(len(plan)):
        if plan[m, 0] == 1:
            wholes += 7 if plan[m, 1] else 4
        elif plan[m, 0] == 2:
            wholes += 2
            reals += 4 if plan[m, 1] else 2
        else:
            wholes += 1
    return wholes, reals


@njit(cache=True, inline="always")
def _show(plan: Any, whole: Any, real: Any, g: int, wholes: Any, lines: Any, mark: int) -> None:
    """Writes what results are made of, for one mark."""
    wholes[0, mark] = whole[g, 0]
    to, real_to = 1, 0
    for m in range(len(plan)):
        kind, squares, at, real_at = plan[m, 0], plan[m, 1], plan[m, 2], plan[m, 3]
        wholes[to, mark] = whole[g, at]
        to += 1
        if kind == 1:
            for k in range(1, 7 if squares else 4):
                wholes[to, mark] = whole[g, at + k]
                to += 1
        elif kind == 2:
            special = np.uint64(whole[g, at + 1] != 0)
            special |= np.uint64(2 * (whole[g, at + 2] != 0))
            wholes[to, mark] = special | np.uint64(4 * (whole[g, at + 3] != 0))
            to += 1
            lines[real_to, mark] = real[g, real_at]
            lines[real_to + 1, mark] = real[g, real_at + 1]
            if squares:
                lines[real_to + 2, mark] = real[g, real_at + 4]
                lines[real_to + 3, mark] = real[g, real_at + 5]
            real_to += 4 if squares else 2


@njit(cache=True)
def sweep(
    plan: Any,
    whole: Any,
    real: Any,
    sign: int,
    ids: Ints,
    last: Ints,
    marked: Ints,
    groups: Ints,
    diff: Ints,
    rows: Ints,
    present: Any,
    low: Any,
    high: Any,
    reals: Any,
) -> Any:
    """The accumulators at every mark, a column each, from sorted events.

    ``whole`` and ``real`` are moved along: they end as the accumulators after the last event of
    each group.  Gives the words and reals of `Lines`, and which groups had a sum that cannot be
    trusted.
    """
    width, real_width = line_widths(plan)
    wholes = np.empty((width, len(last)), np.uint64)
    lines = np.empty((real_width, len(last)), np.float64)
    doubtful = np.zeros(len(whole), np.bool_)
    i = 0
    for mark in range(len(last)):
        while i <= last[mark]:
            span = ids[i] >> 1
            if span < len(rows):
                step = -sign * diff[span] if ids[i] & 1 else sign * diff[span]
                g = groups[span]
                _move(plan, whole, real, g, present, low, high, reals, rows[span], step)
            i += 1
        g = marked[mark]
        if not _settle(plan, whole, real, g):
            doubtful[g] = True
        _show(plan, whole, real, g, wholes, lines, mark)
    return wholes, lines, doubtful
