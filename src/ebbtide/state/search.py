"""Finding rows inside one segment, by its order and its zone map.

Law: a search for few keys looks at those keys' rows only; one for a stretch of time looks at the
segments that the zone map does not rule out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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

    ``fence`` has where the rows with each beginning of a hash start: hashes are evenly spread,
    so a key is found by one look at the fence and a few at its neighbours.
    """

    batch: Any
    hashes: Hashes
    valid_from: Ints
    valid_to: Ints
    diff: Ints
    fence: npt.NDArray[np.int32]
    shift: np.uint64

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

    def keys(self, hashes: Hashes) -> tuple[Ints, Ints]:
        """For each hash where its rows begin, and how many there are."""
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
    total = int(counts.sum())
    since, until = spread(since, counts), spread(until, counts)
    if total == len(view.hashes):
        return _narrowed(None, (view.valid_to > since) & (view.valid_from < until))
    places = ranges(begin, counts)
    mask = (view.valid_to[places] > since) & (view.valid_from[places] < until)
    return _narrowed(places, mask)


def moving(view: SegmentRows, hashes: Hashes | None, since: Bound, upto: Bound) -> Ints | None:
    """The places of the keys' rows that begin or end in ``[since, upto]``; None means all."""
    if hashes is None:
        return _narrowed(None, _moves(view.valid_from, view.valid_to, since, upto))
    begin, counts = view.keys(hashes)
    places = ranges(begin, counts)
    since, upto = spread(since, counts), spread(upto, counts)
    return _narrowed(places, _moves(view.valid_from[places], view.valid_to[places], since, upto))


def next_points(view: SegmentRows, hashes: Hashes, after: Bound) -> Ints:
    """For each key the first end point after ``after`` in this segment; ``inf`` if none."""
    begin, counts = view.keys(hashes)
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


def _moves(valid_from: Ints, valid_to: Ints, since: Bound, upto: Bound) -> Mask:
    begins = (valid_from >= since) & (valid_from <= upto)
    return begins | ((valid_to >= since) & (valid_to <= upto))


def _narrowed(places: Ints | None, mask: Mask) -> Ints | None:
    if places is None:
        return None if mask.all() else np.flatnonzero(mask)
    return places if mask.all() else places[mask]
