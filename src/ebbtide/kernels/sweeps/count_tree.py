"""A tree of counts over places: a count changes, and the k-th unit is found, in a logarithm.

Law: ``up_to(tree, p)`` is the sum of what was added to places below ``p``.  The tree of ``size``
places has ``size + 1`` words, all 0 in the beginning; word ``i`` has the sum of the places from
``i - (i & -i)`` up to ``i``, without it (Fenwick's tree).
"""

from __future__ import annotations

from typing import Any

from numba import njit

from ebbtide.state.arrays import Ints

_NEAR = 8
"""As many places are looked at before the tree is asked."""


@njit(cache=True)
def add(tree: Ints, size: int, place: int, by: int) -> None:
    """Counts a place, from 0, up or down."""
    place += 1
    while place <= size:
        tree[place] += by
        place += place & -place


@njit(cache=True)
def up_to(tree: Ints, place: int) -> Any:
    """The sum of all places before this one."""
    total = 0
    while place > 0:
        total += tree[place]
        place &= place - 1
    return total


@njit(cache=True)
def find(tree: Ints, size: int, wanted: int) -> Any:
    """The place that the ``wanted``-th unit, from 0, belongs to; no place is below 0 then."""
    step = 1
    while 2 * step <= size:
        step *= 2
    place = 0
    while step > 0:
        if place + step <= size and tree[place + step] <= wanted:
            place += step
            wanted -= tree[place]
        step >>= 1
    return place


@njit(cache=True)
def next_place(counts: Ints, tree: Ints, place: int, before: int) -> Any:
    """The first place from the given one on with a count; the counts before it are ``before``."""
    for near in range(place, min(place + _NEAR, len(counts))):
        if counts[near] != 0:
            return near
    return find(tree, len(counts), before)
