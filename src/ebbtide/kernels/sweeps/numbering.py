"""The rows of groups with numbers in a range, over time: one ordered sweep per group.

Law: in every segment of a group, its rows stand in an order, equal rows next to each other, and
are numbered: one after the other, or by rank, where peers have one number.  A row is listed where
its number is above ``offset`` and at most ``limit``.

The sweep goes from end point to end point and counts the rows that are there in a tree over all
places of the group, so that a row costs a logarithm to come, to go and to be found.  It lists anew
only where something changes before the first row that is beyond the limit, and compares with what
was listed before, so that what stays is said once.

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
from ebbtide.kernels.sweeps.count_tree import add, find, next_place, up_to
from ebbtide.kernels.sweeps.growing import doubled
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
        if event == last:
            continue
        base, rows = _extent(places[event:last])
        copies, tree = np.zeros(rows, np.int64), np.zeros(rows + 1, np.int64)
        peer, firsts = _runs(peers[base : base + rows])
        present, kinds = np.zeros(len(firsts) - 1, np.int64), np.zeros(len(firsts), np.int64)
        room = _room(steps[event:last], offset, limit, numbered)
        old = np.empty((room, 4), np.int64)
        new = np.empty((room, 4), np.int64)
        total, before, reach = 0, 0, rows
        until = at[event]
        while event < last and at[event] <= now:
            since, matters = at[event], False
            while event < last and at[event] == since:
                place, step = places[event] - base, steps[event]
                event += 1
                copies[place] += step
                total += step
                add(tree, rows, place, step)
                if ranking == 2:
                    was = present[peer[place]] != 0
                    present[peer[place]] += step
                    change = int(present[peer[place]] != 0) - int(was)
                    if change != 0:
                        add(kinds, len(firsts) - 1, peer[place], change)
                matters = matters or place < reach
            until = at[event] if event < last else INF
            if not matters:
                continue
            place, dense = _first(tree, kinds, rows, peer, firsts, total, ranking, offset)
            after, reach = _list(
                copies,
                tree,
                peer,
                place,
                dense,
                total,
                ranking,
                offset,
                limit,
                numbered,
                since,
                new,
            )
            for i in range(after):
                new[i, 0] += base
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
def _extent(places: Ints) -> Any:
    """The first of a group's places, and how many there are up to the last."""
    first, last = places[0], places[0]
    for place in places:
        first, last = min(first, place), max(last, place)
    return first, last - first + 1


@njit(cache=True)
def _runs(peers: Ints) -> Any:
    """The number of each place's peers, from 0, and where each number begins, and the end."""
    numbers = np.empty(len(peers), np.int64)
    firsts = np.empty(len(peers) + 1, np.int64)
    count = 0
    for i in range(len(peers)):
        if i == 0 or peers[i] != peers[i - 1]:
            firsts[count] = i
            count += 1
        numbers[i] = count - 1
    firsts[count] = len(peers)
    return numbers, firsts[: count + 1]


@njit(cache=True)
def _room(steps: Ints, offset: int, limit: int, numbered: bool) -> int:
    """How many entries a listing can have."""
    copies = 0
    for step in steps:
        copies += max(step, 0)
    return max(len(steps), min(limit - offset, copies)) if numbered else len(steps)


@njit(cache=True)
def _first(
    tree: Ints,
    kinds: Ints,
    rows: int,
    peer: Ints,
    firsts: Ints,
    total: int,
    ranking: int,
    offset: int,
) -> Any:
    """The place from which numbers may be above the offset, and how many peer groups are before."""
    if offset == 0:
        return 0, 0
    if ranking == 2:
        count = len(firsts) - 1
        if offset >= up_to(kinds, count):
            return rows, 0
        return firsts[find(kinds, count, offset)], offset
    if offset >= total:
        return rows, 0
    place = find(tree, rows, offset)
    if ranking == 1:
        # Peers of the row at the offset share a rank, which may be at most the offset.
        kind = peer[place]
        same = up_to(tree, firsts[kind]) >= offset
        place = firsts[kind] if same else firsts[kind + 1]
    return place, 0


@njit(cache=True)
def _list(
    copies: Ints,
    tree: Ints,
    peer: Ints,
    place: int,
    dense: int,
    total: int,
    ranking: int,
    offset: int,
    limit: int,
    numbered: bool,
    since: int,
    out: Ints,
) -> Any:
    """Writes (place, number, count, since) of the wanted rows from a place on.

    Gives how many these are, and the place from which on no row matters to them.
    """
    rows = len(copies)
    size, rank, kind = 0, 0, -1
    before = up_to(tree, place)
    while before < total:
        place = next_place(copies, tree, place, before)
        if peer[place] != kind:
            kind, rank, dense = peer[place], before + 1, dense + 1
        if (rank if ranking == 1 else dense if ranking == 2 else before + 1) > limit:
            return size, place
        first, last = max(before, offset) + 1, min(before + copies[place], limit)
        before += copies[place]
        if ranking == 0 and numbered:
            for number in range(first, last + 1):
                size = _put(out, size, place, number, 1, since)
        elif ranking == 0 and first <= last:
            size = _put(out, size, place, 0, last - first + 1, since)
        elif ranking != 0:
            number = rank if ranking == 1 else dense
            if number > offset:
                size = _put(out, size, place, number if numbered else 0, copies[place], since)
        place += 1
        if ranking == 0 and before >= limit:
            return size, place
    return size, rows


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
                out = doubled(out)
            out[size, 0], out[size, 1] = old[i, 0], old[i, 1]
            out[size, 2], out[size, 3] = old[i, 3], until
            out[size, 4] = old[i, 2]
            size += 1
    return out, size
