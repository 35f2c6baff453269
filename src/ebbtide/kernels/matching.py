"""Which rows of two batches have equal keys and a common instant.

Law: ``matches(left, right)`` has each pair ``(i, j)`` once for which ``left.codes[i]`` equals
``right.codes[j]``, is not negative, and the intervals of ``i`` and ``j`` overlap.

Both sides are sorted by (code, valid_from) and walked through together, so that what is read
and written lies close together.  Beside each right row stands the furthest ``valid_to`` of its
key up to and including it: the rows that end too early for one left row do so for all later ones.

    left                |------------)
    right   |---)                             reach <= left.valid_from: left behind for good
              |------------)                  looked at
                |---)                         looked at, and found to have ended
                            |-------)         looked at
                                     |---)    valid_from >= left.valid_to: not reached

A code below zero is a key with a NULL in it: it equals nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.state.arrays import Ints, order_by


class KeyedSpans(NamedTuple):
    """For each row of a batch, the code of its key and its interval."""

    codes: Ints
    valid_from: Ints
    valid_to: Ints


class Pairs(NamedTuple):
    """Positions of rows that belong together."""

    left: Ints
    right: Ints


class _Sorted(NamedTuple):
    """The spans of a side in the order of their codes and beginnings, and where they come from."""

    places: Ints
    valid_from: Ints
    valid_to: Ints
    starts: Ints


def matches(left: KeyedSpans, right: KeyedSpans) -> Pairs:
    """The pairs of rows with equal keys and overlapping intervals."""
    if not len(left.codes) or not len(right.codes):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    count = max(int(max(left.codes.max(), right.codes.max())) + 1, 0)
    mine, others = _in_key_order(left, count), _in_key_order(right, count)
    low, high, total = _bounds(*mine[1:], *others[1:], _reach(others.starts, others.valid_to))
    ends = others.valid_to
    return Pairs(*_fill(mine.places, mine.valid_from, others.places, ends, low, high, total))


def _in_key_order(spans: KeyedSpans, count: int) -> _Sorted:
    """Without the codes below zero."""
    order = order_by(spans.codes, spans.valid_from)
    order = order[int((spans.codes < 0).sum()) :]
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(spans.codes[order], minlength=count), out=starts[1:])
    return _Sorted(order, spans.valid_from[order], spans.valid_to[order], starts)


@njit(cache=True)
def _reach(starts: Ints, ends: Ints) -> Any:
    reach = np.empty(len(ends), np.int64)
    for code in range(len(starts) - 1):
        furthest = np.int64(-(2**63))
        for place in range(starts[code], starts[code + 1]):
            furthest = max(furthest, ends[place])
            reach[place] = furthest
    return reach


@njit(cache=True)
def _bounds(
    lefts: Ints,
    rights: Ints,
    left_starts: Ints,
    begins: Ints,
    ends: Ints,
    starts: Ints,
    reach: Ints,
) -> Any:
    """For each left row which right rows to look at, and how many of them match in all."""
    low = np.zeros(len(lefts), np.int64)
    high = np.zeros(len(lefts), np.int64)
    total = 0
    for code in range(len(starts) - 1):
        first, last = starts[code], starts[code + 1]
        bottom = top = first
        for row in range(left_starts[code], left_starts[code + 1]):
            while bottom < last and reach[bottom] <= lefts[row]:
                bottom += 1
            top = max(top, bottom)
            if top > bottom and begins[top - 1] >= rights[row]:
                top = _first_not_below(begins, bottom, top, rights[row])
            while top < last and begins[top] < rights[row]:
                top += 1
            low[row], high[row] = bottom, top
            for place in range(bottom, top):
                total += ends[place] > lefts[row]
    return low, high, total


@njit(cache=True)
def _fill(
    left_places: Ints, lefts: Ints, places: Ints, ends: Ints, low: Ints, high: Ints, total: int
) -> Any:
    mine = np.empty(total, np.int64)
    others = np.empty(total, np.int64)
    found = 0
    for row in range(len(lefts)):
        for place in range(low[row], high[row]):
            if ends[place] > lefts[row]:
                mine[found] = left_places[row]
                others[found] = places[place]
                found += 1
    return mine, others


@njit(cache=True)
def _first_not_below(values: Ints, first: int, last: int, bound: int) -> int:
    while first < last:
        middle = (first + last) // 2
        if values[middle] < bound:
            first = middle + 1
        else:
            last = middle
    return first
