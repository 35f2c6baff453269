"""Finding rows inside one segment, by its order and its zone map.

Law: a search for few keys looks at those keys' rows only; one for a stretch of time looks at the
segments that the zone map does not rule out.  Where the rows of a key lie in the order of a time,
one by that time halves them until it is there:

    ends of a key     3  5  5  8  13  21         next after 6: the fourth
                               ^
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF
from ebbtide.state.arrays import Hashes, Ints, Mask, ranges
from ebbtide.state.columns import ints
from ebbtide.state.segment import Segment
from ebbtide.state.table import DIFF, FROM, TO

HASH = pa.field("hash", pa.uint64(), nullable=False)

Bound: TypeAlias = int | Ints


@dataclass(frozen=True, slots=True)
class SegmentRows:
    """The opened rows of a segment.

    Rows by key may be many of many keys: their ``fence`` has where the rows with each beginning of
    a hash start; hashes are evenly spread, so a key is found by one look at the fence and a few at
    its neighbours.  Other structures have none; ``begins`` are their first and last beginning.
    """

    batch: Any
    hashes: Hashes
    valid_from: Ints
    valid_to: Ints
    diff: Ints
    fence: npt.NDArray[np.int32]
    shift: np.uint64
    structure: Structure = Structure.BY_KEY
    begins: tuple[int, int] = (NEG_INF, INF)

    @property
    def nbytes(self) -> int:
        """The memory that it takes beside the batch."""
        return self.fence.nbytes

    @staticmethod
    def of(batch: Any) -> SegmentRows:
        """The arrays of a stored batch, over its own memory."""
        hashes = ints(batch, HASH.name).view(np.uint64)
        times = ints(batch, FROM), ints(batch, TO), ints(batch, DIFF)
        bits = max(1, (len(hashes) - 1).bit_length())
        shift = np.uint64(64 - bits)
        fence = np.zeros((1 << bits) + 1, np.int32)
        posts = (hashes >> shift).astype(np.int64)
        np.cumsum(np.bincount(posts, minlength=1 << bits), out=fence[1:])
        return SegmentRows(batch, hashes, *times, fence, shift)

    @staticmethod
    def by_end(batch: Any, structure: Structure = Structure.BY_END) -> SegmentRows:
        """The same, where the rows of a key lie in the order of their ends."""
        hashes = ints(batch, HASH.name).view(np.uint64)
        starts, ends, diff = ints(batch, FROM), ints(batch, TO), ints(batch, DIFF)
        begins = int(starts.min()), int(starts.max())
        none = np.zeros(0, np.int32)
        return SegmentRows(batch, hashes, starts, ends, diff, none, np.uint64(0), structure, begins)

    @staticmethod
    def fifo(batch: Any) -> SegmentRows:
        """The same, where that is the order of their beginnings, too."""
        return SegmentRows.by_end(batch, Structure.FIFO)

    def keys(self, hashes: Hashes) -> tuple[Ints, Ints]:
        """For each hash where its rows begin, and how many there are."""
        if self.structure is not Structure.BY_KEY:
            first = np.searchsorted(self.hashes, hashes, "left")
            return first, np.searchsorted(self.hashes, hashes, "right") - first
        posts = (hashes >> self.shift).astype(np.int64)
        begin = self.fence[posts].astype(np.int64)
        counts = self.fence[posts + 1] - begin
        some = np.flatnonzero(counts)
        if not len(some):
            return begin, counts
        sizes = counts[some]
        found = self.hashes[ranges(begin[some], sizes)]
        wanted = np.repeat(hashes[some], sizes)
        starts = np.cumsum(sizes) - sizes
        begin[some] += np.add.reduceat(found < wanted, starts, dtype=np.int64)
        counts[some] = np.add.reduceat(found == wanted, starts, dtype=np.int64)
        return begin, counts

    def is_halved(self, counts: Ints) -> bool:
        """Whether halving the rows of some keys costs less than a look at each."""
        in_order = self.structure is not Structure.BY_KEY
        return in_order and int(counts.sum()) > _WORTH_HALVING * len(counts)

    def begins_in(self, since: Bound, upto: Bound) -> bool:
        """Whether some row may begin in ``[since, upto]``."""
        first, last = self.begins
        return first <= greatest(upto) and least(since) <= last


VIEWS = {
    Structure.BY_KEY: SegmentRows.of,
    Structure.BY_END: SegmentRows.by_end,
    Structure.FIFO: SegmentRows.fifo,
}
"""How a segment of each structure is opened."""

_WORTH_HALVING = 64
"""So many rows a key, and more, are halved."""

_ONE_BY_ONE = 64
"""So many keys are looked for one after the other; more, all at once."""


def _first(times: Ints, begin: Ints, counts: Ints, bound: Bound, after: bool) -> Ints:
    """For each key the place of its first row whose time is at or, ``after``, later than a bound;
    the times of a key never fall."""
    if len(begin) <= _ONE_BY_ONE:
        side: Literal["left", "right"] = "right" if after else "left"
        wanted = np.broadcast_to(bound, len(begin)).tolist()
        found_at = [
            first + int(times[first : first + count].searchsorted(value, side))
            for first, count, value in zip(begin.tolist(), counts.tolist(), wanted, strict=True)
        ]
        return np.array(found_at, np.int64)
    low, high = begin.copy(), begin + counts
    while (open_ := low < high).any():
        middle = np.minimum((low + high) >> 1, len(times) - 1)
        found = times[middle]
        before = (found <= bound) if after else (found < bound)
        low = np.where(open_ & before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    return low


def _value_at(times: Ints, places: Ints, ends: Ints) -> Ints:
    """The times at some places; those that lie at an end have none, which is ``inf``."""
    there = places < ends
    return np.where(there, times[np.where(there, places, 0)], INF)


def least(bound: Bound) -> int:
    """The smallest of the bounds of several keys."""
    return int(bound.min(initial=INF)) if isinstance(bound, np.ndarray) else int(bound)


def greatest(bound: Bound) -> int:
    """The greatest of the bounds of several keys."""
    return int(bound.max(initial=NEG_INF)) if isinstance(bound, np.ndarray) else int(bound)


def spread(bound: Bound, counts: Ints) -> Bound:
    """The bound of each key, repeated for its rows."""
    return np.repeat(bound, counts) if isinstance(bound, np.ndarray) else bound


def rule_out(segment: Segment, hashes: Hashes | None) -> bool:
    """Whether the segment has none of the keys, as far as its zone map tells."""
    if hashes is None:
        return False
    if not len(hashes):
        return True
    return int(hashes[-1]) < segment.hash_min or int(hashes[0]) > segment.hash_max


def overlapping(
    view: SegmentRows, hashes: Hashes | None, since: Bound, until: Bound
) -> Ints | None:
    """The places of the keys' rows that overlap ``[since, until)``; None means all rows."""
    if hashes is None:
        return _narrowed(None, (view.valid_to > since) & (view.valid_from < until))
    begin, counts = view.keys(hashes)
    if view.is_halved(counts):
        first = _first(view.valid_to, begin, counts, since, after=True)
        counts = begin + counts - first
        begin = first
        if view.structure is Structure.FIFO:
            last = _first(view.valid_from, begin, counts, until, after=False)
            counts = last - begin
    total = int(counts.sum())
    since, until = spread(since, counts), spread(until, counts)
    if total == len(view.hashes):
        return _narrowed(None, (view.valid_to > since) & (view.valid_from < until))
    places = ranges(begin, counts)
    mask = (view.valid_to[places] > since) & (view.valid_from[places] < until)
    return _narrowed(places, mask)


def moving(view: SegmentRows, hashes: Hashes | None, since: Bound, upto: Bound) -> Ints | None:
    """The places of the keys' rows that begin or end in ``[since, upto]``; None means all."""
    if hashes is None and view.structure is not Structure.BY_KEY and _has_one_key(view):
        hashes = view.hashes[:1]
    if hashes is None:
        return _narrowed(None, _moves(view.valid_from, view.valid_to, since, upto))
    begin, counts = view.keys(hashes)
    if view.is_halved(counts):
        begins = view.begins_in(since, upto)
        if view.structure is Structure.FIFO or not begins:
            return ranges(*_moving_ranges(view, begin, counts, since, upto, begins))
    places = ranges(begin, counts)
    since, upto = spread(since, counts), spread(upto, counts)
    return _narrowed(places, _moves(view.valid_from[places], view.valid_to[places], since, upto))


def next_points(view: SegmentRows, hashes: Hashes, after: Bound) -> Ints:
    """For each key the first end point after ``after`` in this segment; ``inf`` if none."""
    begin, counts = view.keys(hashes)
    if view.is_halved(counts):
        begins = view.begins_in(least(after) + 1, INF)
        if view.structure is Structure.FIFO or not begins:
            ends = begin + counts
            result = _value_at(
                view.valid_to, _first(view.valid_to, begin, counts, after, True), ends
            )
            if begins:
                later = _first(view.valid_from, begin, counts, after, True)
                result = np.minimum(result, _value_at(view.valid_from, later, ends))
            return result
    places = ranges(begin, counts)
    bound = spread(after, counts)
    starts, ends = view.valid_from[places], view.valid_to[places]
    nearest = np.minimum(np.where(starts > bound, starts, INF), np.where(ends > bound, ends, INF))
    result = np.full(len(hashes), INF, np.int64)
    some = np.flatnonzero(counts)
    if len(some):
        offsets = np.cumsum(counts) - counts
        result[some] = np.minimum.reduceat(nearest, offsets[some])
    return result


def _has_one_key(view: SegmentRows) -> bool:
    return len(view.hashes) > 0 and view.hashes[0] == view.hashes[-1]


def _moving_ranges(
    view: SegmentRows, begin: Ints, counts: Ints, since: Bound, upto: Bound, begins: bool
) -> tuple[Ints, Ints]:
    """Where the rows of each key are that end in ``[since, upto]``, and then those that begin.

    What begins there lies behind the first of those that end there, for no row ends before it
    begins.
    """
    first = _first(view.valid_to, begin, counts, since, after=False)
    last = _first(view.valid_to, begin, counts, upto, after=True)
    if not begins:
        return first, last - first
    coming = np.maximum(last, _first(view.valid_from, begin, counts, since, after=False))
    come = np.maximum(coming, _first(view.valid_from, begin, counts, upto, after=True))
    starts, sizes = np.empty(2 * len(begin), np.int64), np.empty(2 * len(begin), np.int64)
    starts[::2], starts[1::2] = first, coming
    sizes[::2], sizes[1::2] = last - first, come - coming
    return starts, sizes


def _moves(valid_from: Ints, valid_to: Ints, since: Bound, upto: Bound) -> Mask:
    begins = (valid_from >= since) & (valid_from <= upto)
    return begins | ((valid_to >= since) & (valid_to <= upto))


def _narrowed(places: Ints | None, mask: Mask) -> Ints | None:
    if places is None:
        return None if mask.all() else np.flatnonzero(mask)
    return places if mask.all() else places[mask]
