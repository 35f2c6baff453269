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
            found = _mixed(found * SEED + _eight(data, at, end))
            at += 8
        result[text] = found


@njit(cache=True, inline="always")
def _eight(data: np.ndarray, at: int, end: int) -> np.uint64:
    """The bytes of a text from a place on, at most eight of them, as one number."""
    word = np.uint64(0)
    if at + 8 <= len(data):
        # Eight bytes at known distances are read at once; what lies behind the end goes again.
        for place in range(8):
            word |= np.uint64(data[at + place]) << np.uint64(8 * place)
        if end - at < 8:
            word &= (np.uint64(1) << np.uint64(8 * (end - at))) - np.uint64(1)
        return word
    for place in range(end - at):
        word |= np.uint64(data[at + place]) << np.uint64(8 * place)
    return word


@njit(cache=True, inline="always")
def _mixed(value: np.uint64) -> np.uint64:
    value ^= value >> np.uint64(30)
    value *= FIRST
    value ^= value >> np.uint64(27)
    value *= SECOND
    return value ^ (value >> np.uint64(31))
