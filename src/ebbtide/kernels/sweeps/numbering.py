"""The rows of groups with numbers in a range, over time: one ordered sweep per group.

Law: in every segment of a group, its rows stand in an order, equal rows next to each other, and
are numbered: one after the other, or by rank, where peers have one number.  A row is listed where
its number is above ``offset`` and at most ``limit``.

The sweep keeps the rows that are there, in order, and goes from end point to end point; at each it
lists anew and compares with what was listed before, so that what stays is said once.

    rows by order    a      |-----------------)
                     b  |-----------------------)
                     c          |---------------)
    first two        a      |=================)
                     b  |=======================)
                     c                        |=)
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.core.time import INF, Instant
from ebbtide.state.arrays import Ints


class Ranking(IntEnum):
    """How rows are numbered."""

    ROW_NUMBER = 0
    RANK = 1
    DENSE_RANK = 2


class Listing(NamedTuple):
    """Rows by their places, their numbers or 0, when they are listed, and how often."""

    places: Ints
    numbers: Ints
    valid_from: Ints
    valid_to: Ints
    counts: Ints


class Events(NamedTuple):
    """The end points of rows by group and time: the row's place, and the step of its count.

    The events of group ``g`` are those from ``starts[g]`` to ``starts[g + 1]``.
    """

    starts: Ints
    at: Ints
    places: Ints
    steps: Ints


class Wanted(NamedTuple):
    """Which numbers, and whether they are said."""

    ranking: int
    offset: int
    limit: int
    numbered: bool


def listed(events: Events, peers: Ints, wanted: Wanted, now: Instant) -> Listing:
    """The listed rows of all groups; places are in order within a group, ``peers`` number peers.

    Listed is what begins at or before ``now``, up to the group's next end point.
    """
    return Listing(*_sweep(*events, peers, now, *wanted))


@njit(cache=True)
def _sweep(
    starts: Ints,
    at: Ints,
    places: Ints,
    steps: Ints,
    peers: Ints,
    now: int,
    ranking: int,
    offset: int,
    limit: int,
    numbered: bool,
) -> Any:
    out = np.empty((64, 5), np.int64)
    size = 0
    for group in range(len(starts) - 1):
        event, last = starts[group], starts[group + 1]
        room = _room(steps[event:last], offset, limit, numbered)
        active = np.empty((last - event, 2), np.int64)
        old = np.empty((room, 4), np.int64)
        new = np.empty((room, 4), np.int64)
        rows, before = 0, 0
        until = at[event] if event < last else INF
        while event < last and at[event] <= now:
            since = at[event]
            while event < last and at[event] == since:
                rows = _stepped(active, rows, places[event], steps[event])
                event += 1
            until = at[event] if event < last else INF
            after = _list(active[:rows], peers, ranking, offset, limit, numbered, since, new)
            out, size = _closed(old[:before], new[:after], since, out, size)
            old, new, before = new, old, after
        out, size = _closed(old[:before], new[:0], until, out, size)
    found = out[:size]
    return (
        found[:, 0].copy(),
        found[:, 1].copy(),
        found[:, 2].copy(),
        found[:, 3].copy(),
        found[:, 4].copy(),
    )


@njit(cache=True)
def _room(steps: Ints, offset: int, limit: int, numbered: bool) -> int:
    """How many entries a listing can have."""
    copies = 0
    for step in steps:
        copies += max(step, 0)
    return max(len(steps), min(limit - offset, copies)) if numbered else len(steps)


@njit(cache=True)
def _stepped(active: Ints, rows: int, place: int, step: int) -> int:
    """Counts a row up or down; the active rows stay in order."""
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if active[middle, 0] < place:
            low = middle + 1
        else:
            high = middle
    if low < rows and active[low, 0] == place:
        active[low, 1] += step
        if active[low, 1] == 0:
            for i in range(low, rows - 1):
                active[i, 0], active[i, 1] = active[i + 1, 0], active[i + 1, 1]
            return rows - 1
        return rows
    for i in range(rows, low, -1):
        active[i, 0], active[i, 1] = active[i - 1, 0], active[i - 1, 1]
    active[low, 0], active[low, 1] = place, step
    return rows + 1


@njit(cache=True)
def _list(
    active: Ints,
    peers: Ints,
    ranking: int,
    offset: int,
    limit: int,
    numbered: bool,
    since: int,
    out: Ints,
) -> int:
    """Writes (place, number, count, since) of the wanted rows; gives their number."""
    size, before, rank, dense, peer = 0, 0, 0, 0, -1
    for i in range(len(active)):
        place, copies = active[i, 0], active[i, 1]
        if peers[place] != peer:
            peer, rank, dense = peers[place], before + 1, dense + 1
        if (rank if ranking == 1 else dense if ranking == 2 else before + 1) > limit:
            break
        first, last = max(before, offset) + 1, min(before + copies, limit)
        before += copies
        if ranking == 0 and numbered:
            for number in range(first, last + 1):
                size = _put(out, size, place, number, 1, since)
        elif ranking == 0 and first <= last:
            size = _put(out, size, place, 0, last - first + 1, since)
        elif ranking != 0:
            number = rank if ranking == 1 else dense
            if number > offset:
                size = _put(out, size, place, number if numbered else 0, copies, since)
    return size


@njit(cache=True)
def _put(out: Ints, size: int, place: int, number: int, count: int, since: int) -> int:
    out[size, 0], out[size, 1], out[size, 2], out[size, 3] = place, number, count, since
    return size + 1


@njit(cache=True)
def _closed(old: Ints, new: Ints, until: int, out: Ints, size: int) -> Any:
    """Puts out what is no longer listed as it was; what still is keeps its beginning."""
    j = 0
    for i in range(len(old)):
        while j < len(new) and (
            new[j, 0] < old[i, 0] or (new[j, 0] == old[i, 0] and new[j, 1] < old[i, 1])
        ):
            j += 1
        if (
            j < len(new)
            and new[j, 0] == old[i, 0]
            and new[j, 1] == old[i, 1]
            and new[j, 2] == old[i, 2]
        ):
            new[j, 3] = old[i, 3]
        elif old[i, 3] < until:
            if size == len(out):
                grown = np.empty((2 * size, 5), np.int64)
                grown[:size] = out
                out = grown
            out[size, :2], out[size, 2], out[size, 3] = old[i, :2], old[i, 3], until
            out[size, 4] = old[i, 2]
            size += 1
    return out, size
