"""Keys and instants at which an answer may differ, and what of some changes lies there.

Law: a region is a set of pairs of a key and an instant.  Keys are told apart by their hashes: keys
that share one are in a region together, on the side of the input as on that of the answer.

    key a    |====)      |==)
    key b         |=====)
    change of a   |-------)      within   |-)   of a: from the instant at which the second begins
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.state.arrays import Hashes, Ints, Mask
from ebbtide.state.batch import DIFF, FROM, TO, key_hash, with_times
from ebbtide.state.columns import ints


@dataclass(frozen=True)
class KeySpans:
    """Spans ``[starts, ends)`` of keys, sorted by key and time; those of a key are apart."""

    hashes: Hashes
    starts: Ints
    ends: Ints

    @staticmethod
    def of(found: Iterable[tuple[Hashes, Ints, Ints]]) -> KeySpans:
        """The region of some spans, whatever their order."""
        listed = list(found)
        nothing = np.zeros(0, np.int64)
        hashes = np.concatenate([np.zeros(0, np.uint64), *(h for h, _, _ in listed)])
        starts = np.concatenate([nothing, *(s for _, s, _ in listed)])
        ends = np.concatenate([nothing, *(e for _, _, e in listed)])
        return _joined(hashes, starts, ends)

    @property
    def is_empty(self) -> bool:
        """Whether nothing can differ."""
        return not len(self.starts)

    @property
    def first(self) -> Instant:
        """The first instant of it."""
        return int(self.starts.min(initial=INF))

    @property
    def last(self) -> Instant:
        """The instant behind the last one of it."""
        return int(self.ends.max(initial=NEG_INF))

    @cached_property
    def times(self) -> KeySpans:
        """The same for any key."""
        return _joined(np.zeros_like(self.hashes), self.starts, self.ends)

    def holds_times(self, times: Ints, before_us: int) -> Mask:
        """Which times lie at most so long before an instant of it, or at one."""
        spans = self.times
        if spans.is_empty:
            return np.zeros(len(times), np.bool_)
        places = np.searchsorted(spans.starts - before_us, times, side="right") - 1
        # Spans that are moved apart may overlap, but the last that begins is the last to end.
        mask: Mask = (places >= 0) & (times < spans.ends[np.maximum(places, 0)])
        return mask

    def meets(self, low: Instant, high: Instant, before_us: int) -> bool:
        """Whether a time from ``low`` to ``high`` may lie so long before an instant of it."""
        spans = self.times
        return bool(((spans.starts - before_us <= high) & (spans.ends > low)).any())

    def pairs(self, hashes: Hashes, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """For some spans of keys, which of them overlaps which of the region's."""
        keys, firsts, counts = np.unique(self.hashes, return_index=True, return_counts=True)
        place = np.searchsorted(keys, hashes)
        known = place < len(keys)
        known[known] = keys[place[known]] == hashes[known]
        mine: list[Ints] = []
        theirs: list[Ints] = []
        order = np.flatnonzero(known)
        order = order[np.argsort(place[order], kind="stable")]
        cuts = np.flatnonzero(np.diff(place[order])) + 1
        for rows in np.split(order, cuts) if len(order) else ():
            number = place[rows[0]]
            first, count = firsts[number], counts[number]
            low = np.searchsorted(self.ends[first : first + count], starts[rows], side="right")
            high = np.searchsorted(self.starts[first : first + count], ends[rows], side="left")
            several = np.maximum(high - low, 0)
            mine.append(np.repeat(rows, several))
            inside = np.arange(several.sum()) - np.repeat(np.cumsum(several) - several, several)
            theirs.append(first + np.repeat(low, several) + inside)
        nothing = np.zeros(0, np.int64)
        return np.concatenate([nothing, *mine]), np.concatenate([nothing, *theirs])

    def within(self, changes: Any, places: Iterable[int]) -> Any:
        """What of some changes lies in it; ``places`` are those of their keys."""
        hashes = key_hash(changes, list(places))
        starts, ends = ints(changes, FROM), ints(changes, TO)
        rows, spans = self.pairs(hashes, starts, ends)
        taken = changes.take(pa.array(rows))
        return with_times(
            taken,
            np.maximum(starts[rows], self.starts[spans]),
            np.minimum(ends[rows], self.ends[spans]),
            ints(taken, DIFF),
        )


def _joined(hashes: Hashes, starts: Ints, ends: Ints) -> KeySpans:
    """Spans in their order, those that touch as one."""
    order = np.lexsort((starts, hashes))
    hashes, starts, ends = hashes[order], starts[order], ends[order]
    kept: list[int] = []
    until: list[int] = []
    for place, (key, start, end) in enumerate(
        zip(hashes.tolist(), starts.tolist(), ends.tolist(), strict=True)
    ):
        if kept and int(hashes[kept[-1]]) == key and start <= until[-1]:
            until[-1] = max(until[-1], end)
        else:
            kept.append(place)
            until.append(end)
    chosen = np.array(kept, np.int64)
    return KeySpans(hashes[chosen], starts[chosen], np.array(until, np.int64))
