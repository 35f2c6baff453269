"""Which rows of two batches have equal keys and a common instant.

Law: ``matches(left, right)`` has each pair ``(i, j)`` once for which ``left.codes[i]`` equals
``right.codes[j]``, is not negative, and the intervals of ``i`` and ``j`` overlap.

The right rows are sorted by (code, valid_from).  Beside each stands the furthest ``valid_to`` of
its key up to and including it, so that both ends of what a left row can meet are found by
bisection: what begins before it ends, and, from the other side, the first row that reaches it.

    left                |------------)
    right   |---)                             reach <= left.valid_from: skipped by bisection
              |------------)                  looked at
                |---)                         looked at, and found to have ended
                            |-------)         looked at
                                     |---)    valid_from >= left.valid_to: never reached

A code below zero is a key with a NULL in it: it equals nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.state.arrays import Ints


class Spans(NamedTuple):
    """For each row of a batch, the code of its key and its interval."""

    codes: Ints
    valid_from: Ints
    valid_to: Ints


class Pairs(NamedTuple):
    """Positions of rows that belong together."""

    left: Ints
    right: Ints


def matches(left: Spans, right: Spans) -> Pairs:
    """The pairs of rows with equal keys and overlapping intervals."""
    if not len(left.codes) or not len(right.codes):
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
    if len(left.codes) < len(right.codes):
        # Sorting costs more than probing, so the smaller side is sorted.
        swapped = _probe(right, left)
        return Pairs(swapped.right, swapped.left)
    return _probe(left, right)


def _probe(left: Spans, right: Spans) -> Pairs:
    top = int(max(left.codes.max(), right.codes.max())) + 1
    order, starts = in_key_order(right.codes, right.valid_from, max(top, 0))
    begins, ends = right.valid_from[order], right.valid_to[order]
    reach = _reach(starts, ends)
    low, high, total = _bounds(*left, starts, begins, ends, reach)
    rows, places = _fill(left.valid_from, ends, low, high, total)
    return Pairs(rows, order[places])


def in_key_order(codes: Ints, times: Ints, count: int) -> tuple[Ints, Ints]:
    """Positions by (code, time), without the codes below zero, and where each code starts."""
    by_time = np.argsort(times, kind="stable")
    return _spread(codes, by_time, count)  # type: ignore[no-any-return]


@njit(cache=True)
def _spread(codes: Ints, by_time: Ints, count: int) -> Any:
    starts = np.zeros(count + 1, np.int64)
    for code in codes:
        if code >= 0:
            starts[code + 1] += 1
    for code in range(count):
        starts[code + 1] += starts[code]
    place = starts[:-1].copy()
    order = np.empty(starts[count], np.int64)
    for row in by_time:
        code = codes[row]
        if code >= 0:
            order[place[code]] = row
            place[code] += 1
    return order, starts


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
    codes: Ints, lefts: Ints, rights: Ints, starts: Ints, begins: Ints, ends: Ints, reach: Ints
) -> Any:
    low = np.zeros(len(codes), np.int64)
    high = np.zeros(len(codes), np.int64)
    total = 0
    for row in range(len(codes)):
        code = codes[row]
        if code < 0:
            continue
        first, last = starts[code], starts[code + 1]
        high[row] = _first_not_below(begins, first, last, rights[row])
        low[row] = _first_above(reach, first, high[row], lefts[row])
        for place in range(low[row], high[row]):
            total += ends[place] > lefts[row]
    return low, high, total


@njit(cache=True)
def _fill(lefts: Ints, ends: Ints, low: Ints, high: Ints, total: int) -> Any:
    rows = np.empty(total, np.int64)
    places = np.empty(total, np.int64)
    found = 0
    for row in range(len(low)):
        for place in range(low[row], high[row]):
            if ends[place] > lefts[row]:
                rows[found] = row
                places[found] = place
                found += 1
    return rows, places


@njit(cache=True)
def _first_not_below(values: Ints, first: int, last: int, bound: int) -> int:
    while first < last:
        middle = (first + last) // 2
        if values[middle] < bound:
            first = middle + 1
        else:
            last = middle
    return first


@njit(cache=True)
def _first_above(values: Ints, first: int, last: int, bound: int) -> int:
    while first < last:
        middle = (first + last) // 2
        if values[middle] <= bound:
            first = middle + 1
        else:
            last = middle
    return first
