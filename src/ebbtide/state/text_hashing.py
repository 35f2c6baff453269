"""Hashes of byte strings, one after the other: what ``hashing`` needs a compiler for."""

from __future__ import annotations

import numpy as np
from numba import njit

from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.hashing import FIRST, SECOND, SEED


@njit(cache=True)
def hash_texts(data: np.ndarray, bounds: Ints, longest: int, result: Hashes) -> None:
    """The hash of every text between two bounds of the bytes that is not longer than that."""
    for text in range(len(bounds) - 1):
        at, end = bounds[text], bounds[text + 1]
        if end - at > longest:
            continue
        found = _mixed(np.uint64(end - at) + SEED)
        while at < end:
            eight = np.uint64(0)
            for place in range(min(end - at, 8)):
                eight |= np.uint64(data[at + place]) << np.uint64(8 * place)
            found = _mixed(found * SEED + eight)
            at += 8
        result[text] = found


@njit(cache=True, inline="always")
def _mixed(value: np.uint64) -> np.uint64:
    value ^= value >> np.uint64(30)
    value *= FIRST
    value ^= value >> np.uint64(27)
    value *= SECOND
    return value ^ (value >> np.uint64(31))
