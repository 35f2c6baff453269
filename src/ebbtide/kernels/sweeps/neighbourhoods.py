"""Where the values of rows over their frames may change, and what has to be looked at there.

Law: a row's value over its frame changes only when the row comes, or when a row comes or goes
within the frame's reach; at every such instant, and at no other, the row is evaluated anew.  What
is looked at is a window: the rows to be evaluated, which lie next to each other, and around them
all that their frames reach.  So a step costs the rows near to its changes, and all rows of a
partition only where frames reach that far.  The number of a row depends on all rows before it and
looks at none of them: it is counted, in a logarithm, so a row that comes last costs itself alone.

    rows by order     a   b   c   d   e   f   g
    d comes                       ^
    one row back                  d   e             evaluated: the frames of these have changed
                              c   d   e             the window: what their frames reach

Frames by counts of rows reach so many rows that are there; frames by amounts reach from place to
place, whichever rows are there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.core.time import INF, Instant
from ebbtide.kernels.sweeps.count_tree import add, find, next_place, up_to
from ebbtide.kernels.sweeps.growing import copy_row, doubled
from ebbtide.kernels.sweeps.numbering import Events
from ebbtide.state.arrays import Ints, Mask, order_by

FAR = 2**62
"""Further than any row is."""


class Reach(NamedTuple):
    """What values depend on: on so many rows before and after them, and on places.

    Of the rows before, ``seen`` have to be looked at.  For each place, the values of the places
    from ``first`` up to ``last`` depend on it, and its own on those from ``low`` up to ``high``.
    """

    before: int
    seen: int
    after: int
    first: Ints
    last: Ints
    low: Ints
    high: Ints


class Numbers(NamedTuple):
    """How many rows of the group come before a row: in the order, before its first peer, and
    counting peers once."""

    rows: Ints
    peers: Ints
    values: Ints


class Looks(NamedTuple):
    """Rows in windows, by window and order; those to be evaluated, and over what time."""

    windows: Ints
    places: Ints
    valued: Mask
    valid_from: Ints
    valid_to: Ints
    numbers: Numbers


def looks(
    events: Events, reach: Reach, ends: Ints, peers: Ints, now: Instant, numbered: bool
) -> Looks:
    """All windows of all groups that begin at or before ``now``.

    ``ends`` are those of the rows by place, ``peers`` number peers; numbers are counted if they
    are wanted.
    """
    leads = np.searchsorted(peers, peers)
    counts = reach.before, reach.seen, reach.after
    by_place = reach.first, reach.last, reach.low, reach.high
    windows, places, valued, since, until, counted = _swept(
        *events, now, *counts, *by_place, leads, peers, numbered
    )
    numbers = counted if numbered else np.zeros((len(places), 3), np.int64)
    valid_to = np.minimum(ends[places], until)
    chosen = np.flatnonzero(valued)
    order = chosen[order_by(places[chosen], since[chosen])]
    again = np.flatnonzero(places[order][1:] == places[order][:-1])
    valid_to[order[again]] = since[order[again + 1]]
    return Looks(windows, places, valued, since, valid_to, Numbers(*numbers.T))


@njit(cache=True)
def _swept(
    starts: Ints,
    at: Ints,
    places: Ints,
    steps: Ints,
    now: int,
    before: int,
    seen: int,
    after: int,
    first: Ints,
    last: Ints,
    low: Ints,
    high: Ints,
    leads: Ints,
    peers: Ints,
    numbered: bool,
) -> Any:
    width = 7 if numbered else 4
    out = np.empty((64, width), np.int64)
    size, window = 0, 0
    untils = np.empty(0, np.int64)
    for group in range(len(starts) - 1):
        event, end = starts[group], starts[group + 1]
        if event == end:
            continue
        base, top = places[event:end].min(), places[event:end].max()
        rows = top - base + 1
        present, tree = np.zeros(rows, np.int64), np.zeros(rows + 1, np.int64)
        lowest = peers[base]
        values = peers[top] - lowest + 1 if numbered else 0
        alike, value_tree = np.zeros(values, np.int64), np.zeros(values + 1, np.int64)
        ranges = np.empty((end - event, 2), np.int64)
        total, begin = 0, size
        until = at[event]
        while event < end and at[event] <= now:
            since, mark = at[event], event
            while event < end and at[event] == since:
                place = places[event] - base
                present[place] += steps[event]
                total += steps[event]
                add(tree, rows, place, steps[event])
                if numbered:
                    value = peers[places[event]] - lowest
                    was = alike[value] != 0
                    alike[value] += steps[event]
                    add(value_tree, values, value, int(alike[value] != 0) - int(was))
                event += 1
            until = at[event] if event < end else INF
            if total == 0:
                continue
            for i in range(mark, event):
                place = places[i]
                here = up_to(tree, place - base)
                there = here + present[place - base]
                a, b = _hull(tree, rows, total, here - after, there + before)
                ranges[i - mark, 0] = min(a + base, first[place], place)
                ranges[i - mark, 1] = max(b + base, last[place], place + 1)
            count = _joined(ranges[: event - mark])
            for i in range(count):
                a, b = ranges[i, 0], ranges[i, 1]
                here, there = up_to(tree, a - base), up_to(tree, b - base)
                if here == there:
                    continue
                c, d = _hull(tree, rows, total, here - seen, there + after)
                c, d = min(c + base, a, low[a]), max(d + base, b, high[b - 1])
                here = up_to(tree, c - base)
                place = c - base
                while here < total:
                    place = next_place(present, tree, place, here)
                    if place + base >= d:
                        break
                    if size == len(out):
                        out = doubled(out)
                    out[size, 0], out[size, 1] = window, place + base
                    out[size, 2], out[size, 3] = a <= place + base < b, since
                    if numbered:
                        lead = max(leads[place + base], base)
                        out[size, 4], out[size, 5] = here, up_to(tree, lead - base)
                        out[size, 6] = up_to(value_tree, peers[place + base] - lowest)
                    size += 1
                    here += present[place]
                    place += 1
                window += 1
        if size > len(untils):
            grown_untils = np.empty(len(out), np.int64)
            for row in range(begin):
                grown_untils[row] = untils[row]
            untils = grown_untils
        untils[begin:size] = until
    found = out[:size]
    return (
        found[:, 0].copy(),
        found[:, 1].copy(),
        found[:, 2] != 0,
        found[:, 3].copy(),
        untils[:size].copy(),
        found[:, 4:].copy(),
    )


@njit(cache=True)
def _hull(tree: Ints, rows: int, total: int, low: int, high: int) -> Any:
    """The places from that of the unit ``low`` up to that before the unit ``high``."""
    low, high = max(low, 0), min(high, total)
    if low >= high:
        return rows, 0
    begin = 0 if low == 0 else find(tree, rows, low)
    end = rows if high == total else find(tree, rows, high - 1) + 1
    return begin, end


@njit(cache=True)
def _joined(ranges: Ints) -> int:
    """Puts ranges in order and together where they meet; gives how many are left."""
    order = np.argsort(ranges[:, 0])
    sorted_ranges = ranges[order]
    count = 0
    for i in range(len(order)):
        if count > 0 and sorted_ranges[i, 0] <= ranges[count - 1, 1]:
            ranges[count - 1, 1] = max(ranges[count - 1, 1], sorted_ranges[i, 1])
        else:
            copy_row(ranges, count, sorted_ranges, i)
            count += 1
    return count
