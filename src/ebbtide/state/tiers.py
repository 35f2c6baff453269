"""Which segments are merged, and how rows are cut into buckets of time.

Law: a row lies in the bucket of the time that lets it go, its end or a column, so that whole
segments go when the rule passes them (the buckets of paper 3, section 4.1).  Rows that never end,
or have no such time, lie apart.  In a
bucket at most ``FAN_IN - 1`` segments of one size class stay, so there are few in all, and each
row is rewritten a logarithmic number of times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from ebbtide.core.time import INF
from ebbtide.state.arrays import Ints
from ebbtide.state.segment import ENDS, Segment

BUCKETS = 8
FAN_IN = 4
SMALL = 8192
LARGE = 1 << 21


def bucket_width(bounds: Iterable[tuple[int, int]]) -> int:
    """The length of a bucket: a power of two, so that the bounds span about ``BUCKETS``."""
    finite = [(low, high) for low, high in bounds if high < INF]
    if not finite:
        return 1
    span = max(high for _, high in finite) - min(low for low, _ in finite)
    return 1 << max(0, (span // BUCKETS).bit_length())


def cut(times: Ints, width: int) -> Iterator[Ints]:
    """The places of rows that belong into one segment; small neighbouring buckets go together."""
    endless = times == INF
    if endless.any():
        yield np.flatnonzero(endless)
    places = np.flatnonzero(~endless)
    if len(places) < 2 * SMALL:
        if len(places):
            yield places
        return
    buckets = times[places] // width
    first = int(buckets.min())
    counts = np.bincount(buckets - first) if int(buckets.max()) - first < 4096 else None
    if counts is None:
        yield places
        return
    part_of = np.empty(len(counts), np.int64)
    part, filled = 0, 0
    for bucket, count in enumerate(counts.tolist()):
        part_of[bucket] = part
        filled += count
        if filled >= SMALL:
            part, filled = part + 1, 0
    parts = part_of[buckets - first]
    for number in range(int(parts.max()) + 1):
        yield places[parts == number]


def merges(
    segments: Iterable[Segment],
    newest: bool = False,
    timeless: bool = False,
    by: int = ENDS,
    folding: bool = False,
) -> list[tuple[Segment, ...]]:
    """The groups of segments that are to become one; ``newest`` is the layout's.

    ``by`` is the time that lets rows go.

    Where rows do not go with time, ``timeless``, those that cancel may lie in different buckets
    for ever, so all buckets are looked at together.  Where rows that never end are ``folding``,
    they become fewer when they are merged, so no segment of them is too large for that.
    """
    listed = list(segments)
    if timeless and not newest and listed and _cancels(listed):
        return [tuple(listed)]
    width = bucket_width(segment.zone(by) for segment in listed)
    result: list[tuple[Segment, ...]] = []
    for members in buckets(listed, width, by):
        if _vanishes(members) if newest else _cancels(members):
            result.append(tuple(members))
            continue
        classes: dict[int, list[Segment]] = defaultdict(list)
        for segment in members:
            if segment.rows < LARGE or (folding and segment.to_min == INF):
                classes[_size_class(segment.rows)].append(segment)
        result.extend(tuple(group) for group in classes.values() if len(group) >= FAN_IN)
    return result


def buckets(segments: Iterable[Segment], width: int, by: int = ENDS) -> list[list[Segment]]:
    """The segments by the bucket in which their last row goes."""
    found: dict[int, list[Segment]] = defaultdict(list)
    for segment in segments:
        _, last = segment.zone(by)
        found[INF if last == INF else last // width].append(segment)
    return list(found.values())


def _cancels(members: list[Segment]) -> bool:
    """Whether half of a bucket may net out, and enough is new to make another try worth it."""
    rows = sum(segment.rows for segment in members)
    largest = max(segment.rows for segment in members)
    negatives = sum(segment.negatives for segment in members)
    return 3 * negatives >= rows and 5 * (rows - largest) >= rows and len(members) > 1


def _vanishes(members: list[Segment]) -> bool:
    """Whether many keys are gone; each may have left several rows behind."""
    rows = sum(segment.rows for segment in members)
    return 16 * sum(segment.negatives for segment in members) >= rows and len(members) > 1


def _size_class(rows: int) -> int:
    return max(0, (rows // 1024).bit_length() + 1) // 2
