"""Results that are step functions of time: one row per group and instant, or none.

Law: ``difference`` gives the changes that lead from the emitted function to the new one, over
maximal intervals and nothing where they agree.

    emitted   |--- 5 ---|---- 7 ----)                   (what stands in the output area)
    new       |--- 5 ---|- 7 -|---- 9 ------)
    change                    |- -7 -)                  one negative, one positive
                              |---- +9 -----)

The emitted function is read from changes that may cancel each other.  At an instant all but one
row net out, so a sum of ``diff * word`` over the changes, in arithmetic that wraps around, is the
word of the row that is left.  No two changes have to be matched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.core.time import INF
from ebbtide.state.arrays import Ints, Mask, order_by

_END = INF


class Steps(NamedTuple):
    """A step function per group: from ``at`` on there is a row with these words, or none."""

    groups: Ints
    at: Ints
    alive: Mask
    words: Ints


class SegmentDifference(NamedTuple):
    """Changes; ``source`` is the new step that each has its words from, or ``~`` the emitted."""

    groups: Ints
    valid_from: Ints
    valid_to: Ints
    diff: Ints
    source: Ints


def emitted_steps(groups: Ints, starts: Ints, ends: Ints, diff: Ints, words: Ints) -> Steps:
    """The step functions of which changes are the sum."""
    both = np.concatenate([groups, groups])
    at = np.concatenate([starts, ends])
    order = order_by(both, at)
    return Steps(*_unfolded(both[order], at[order], order, diff, words))


def difference(new: Steps, until: Ints, old: Steps) -> SegmentDifference:
    """From ``old`` to ``new``; the new function of a group ends at its ``until``."""
    return SegmentDifference(*_difference(*new, until, *old))


@njit(cache=True)
def _unfolded(groups: Ints, at: Ints, order: Ints, diff: Ints, words: Ints) -> Any:
    n, width = len(groups), words.shape[1]
    out_groups = np.empty(n, np.int64)
    out_at = np.empty(n, np.int64)
    out_alive = np.empty(n, np.bool_)
    out_words = np.empty((n, width), np.int64)
    level = 0
    current = np.zeros(width, np.int64)
    count = 0
    for i in range(n):
        row, sign = order[i], 1
        if row >= len(diff):
            row, sign = row - len(diff), -1
        level += sign * diff[row]
        for w in range(width):
            current[w] += sign * diff[row] * words[row, w]
        if i + 1 < n and groups[i + 1] == groups[i] and at[i + 1] == at[i]:
            continue
        out_groups[count] = groups[i]
        out_at[count] = at[i]
        out_alive[count] = level != 0
        for w in range(width):
            out_words[count, w] = current[w]
        count += 1
    return out_groups[:count], out_at[:count], out_alive[:count], out_words[:count]


@njit(cache=True, inline="always")
def _same(left: Any, i: int, right: Any, j: int) -> Any:
    """Whether both places have a row, and the same one."""
    equal = i >= 0 and j >= 0
    w = 0
    while equal and w < left.shape[1]:
        equal = left[i, w] == right[j, w]
        w += 1
    return equal


@njit(cache=True, inline="always")
def _put(out: Any, count: int, group: int, start: int, end: int, sign: int, source: int) -> Any:
    """Writes a change, if there is one."""
    if source < 0:
        return count
    out[0, count], out[1, count], out[2, count], out[3, count] = group, start, end, sign
    out[4, count] = source if sign > 0 else ~source
    return count + 1


@njit(cache=True)
def _difference(
    new_groups: Any,
    new_at: Any,
    new_alive: Any,
    new_words: Any,
    until: Any,
    old_groups: Any,
    old_at: Any,
    old_alive: Any,
    old_words: Any,
) -> Any:
    out = np.empty((5, 2 * (len(new_at) + len(old_at) + len(until)) + 2), np.int64)
    count, i, j = 0, 0, 0
    while i < len(new_at) or j < len(old_at):
        group = new_groups[i] if i < len(new_at) else old_groups[j]
        if j < len(old_at) and old_groups[j] < group:
            group = old_groups[j]
        here, there, plus, plus_from, minus, minus_from = -1, -1, -1, 0, -1, 0
        new_left = i < len(new_at) and new_groups[i] == group
        old_left = j < len(old_at) and old_groups[j] == group
        ended = not new_left
        while old_left or not ended:
            next_new = _END
            if not ended:
                next_new = new_at[i] if new_left else until[group]
            t = min(next_new, old_at[j]) if old_left else next_new
            if not ended and t == next_new:
                ended, here = not new_left, -1
                if new_left:
                    here = i if new_alive[i] else -1
                    i += 1
            if old_left and t == old_at[j]:
                there = j if old_alive[j] else -1
                j += 1
            equal = _same(new_words, here, old_words, there)
            wanted = -1 if equal else there
            if not _same(old_words, minus, old_words, wanted):
                count = _put(out, count, group, minus_from, t, -1, minus)
                minus, minus_from = wanted, t
            wanted = -1 if equal else here
            if not _same(new_words, plus, new_words, wanted):
                count = _put(out, count, group, plus_from, t, 1, plus)
                plus, plus_from = wanted, t
            new_left = i < len(new_at) and new_groups[i] == group
            old_left = j < len(old_at) and old_groups[j] == group
    return out[0, :count], out[1, :count], out[2, :count], out[3, :count], out[4, :count]
