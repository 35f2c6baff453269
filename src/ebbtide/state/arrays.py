"""The kinds of arrays that state and kernels pass around, and orders on them.

Nothing here knows what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ebbtide.core.time import INF, NEG_INF

Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = list[Ints]

_TOP = np.uint64(1) << np.uint64(63)


def order_by(major: Hashes | Ints, minor: Ints) -> Ints:
    """The permutation that sorts by ``major``, then by ``minor``; equal pairs stay in place."""
    if _in_order(major, minor):
        return np.arange(len(major), dtype=np.int64)
    if (minor == minor[0]).all():
        return stable_order(major)
    packed = _packed(major, minor)
    if packed is None:
        minor = _drawn_in(minor)
        packed = _packed(major, minor)
    if packed is None:
        # Numbers of values are narrower than the values, and cost one more sort.
        numbers = _dense(major)
        packed = _packed(numbers, minor)
        if packed is None:
            packed = _packed(numbers, _dense(minor).view(np.int64))
    return np.lexsort((minor, major)) if packed is None else packed


def stable_order(values: Hashes | Ints) -> Ints:
    """The permutation that sorts numbers; equal ones stay in place.

    Single words sort several times as fast as places do by what they stand for.  So the leading
    bits of each number are sorted with its place behind them, and where these do not decide, what
    is nearly in order is sorted once more, which takes next to nothing.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if not (values[1:] < values[:-1]).any():
        return np.arange(len(values), dtype=np.int64)
    low, high = int(values.min()), int(values.max())
    place_bits = (len(values) - 1).bit_length()
    spared = max(0, (high - low).bit_length() + place_bits - 64)
    word = values.view(np.uint64) - np.uint64(low % (1 << 64))
    word >>= np.uint64(spared)
    order = _sorted_places(word, place_bits)
    if spared:
        found = values[order]
        if (found[1:] < found[:-1]).any():
            order = order[np.argsort(found, kind="stable")]
    return order


def distinct(values: Hashes) -> Hashes:
    """The different values, sorted; numpy's own ``unique`` takes several times as long.

    >>> distinct(np.array([3, 1, 3], np.uint64)).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    return ordered[differs([ordered])]


def _in_order(major: Hashes | Ints, minor: Ints) -> bool:
    """Whether nothing is to be done."""
    if (major[1:] < major[:-1]).any():
        return False
    return not ((minor[1:] < minor[:-1]) & (major[1:] == major[:-1])).any()


def _drawn_in(times: Ints) -> Ints:
    """Times in the same order, with the ends of the line just outside of all others."""
    if times.min() > NEG_INF and times.max() < INF:
        return times
    finite = times[(times > NEG_INF) & (times < INF)]
    if not len(finite):
        return times
    low, high = int(finite.min()), int(finite.max())
    drawn: Ints = np.clip(times, max(low - 1, NEG_INF), min(high + 1, INF))
    return drawn


def _packed(major: Hashes | Ints, minor: Ints) -> Ints | None:
    """The same by one sort of single words that hold major, minor and place; None if too wide."""
    n = len(major)
    low, high = int(minor.min()), int(minor.max())
    major_low, major_high = int(major.min()), int(major.max())
    place_bits = (n - 1).bit_length()
    minor_bits = (high - low).bit_length()
    if (major_high - major_low).bit_length() + minor_bits + place_bits > 64:
        return None
    word = (major - major.dtype.type(major_low)).astype(np.uint64)
    word <<= np.uint64(minor_bits)
    word |= minor.view(np.uint64) - np.uint64(low % (1 << 64))
    return _sorted_places(word, place_bits)


def _sorted_places(word: Hashes, place_bits: int) -> Ints:
    """The places of words in their order; a word has so many bits to spare at its top, and is
    used up."""
    word <<= np.uint64(place_bits)
    word |= np.arange(len(word), dtype=np.uint64)
    word.sort()
    word &= (np.uint64(1) << np.uint64(place_bits)) - np.uint64(1)
    return word.view(np.int64)


def _dense(values: Hashes | Ints) -> Hashes:
    """The rank of each value among the distinct ones."""
    order = stable_order(values)
    result = np.empty(len(values), np.uint64)
    result[order] = np.cumsum(differs([values[order]]))
    return result


def differs(words: Sequence[npt.NDArray[Any]]) -> Mask:
    """For each place whether some word differs from the place before; the first always does."""
    n = len(words[0])
    result = np.zeros(n, np.bool_)
    if n:
        result[0] = True
        for word in words:
            result[1:] |= word[1:] != word[:-1]
    return result


def ranges(starts: Ints, counts: Ints) -> Ints:
    """The numbers ``start .. start + count - 1`` of each pair, one after the other.

    >>> ranges(np.array([5, 9]), np.array([2, 1])).tolist()
    [5, 6, 9]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    places: Ints = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return places


def sortable(bits: Ints) -> Ints:
    """Bits of doubles as integers in the order of the doubles; NaN comes last."""
    turned: Ints = bits ^ ((bits >> np.int64(63)) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
    return turned


def unsigned_order(words: Ints) -> Ints:
    """Unsigned words as signed ones in the same order."""
    return (words.view(np.uint64) ^ _TOP).view(np.int64)
