"""Changes joined where they only touch in time, and cut on a grid (paper 4: coalesce and split).

Law: both give a relation that is snapshot-equivalent to the one that they were given.

    in         ├────┤├─────────┤          coalesced   ├──────────────┤
    split      ├──┤├────┤├────┤├─┤        cut at the multiples of a duration
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ebbtide.core.change import Change, in_order
from ebbtide.core.time import INF, Duration, Instant, floor_to, is_finite, shift


def coalesced(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, those of equal rows and diffs joined where one begins as another ends."""
    ending: dict[tuple[object, ...], list[Change]] = defaultdict(list)
    for change in in_order(changes):
        before = ending[change.row, change.diff, change.valid_from]
        begin = before.pop().valid_from if before else change.valid_from
        joined = Change(change.row, begin, change.valid_to, change.diff)
        ending[change.row, change.diff, change.valid_to].append(joined)
    return in_order(change for found in ending.values() for change in found)


def split(changes: Iterable[Change], every_us: Duration, now: Instant) -> tuple[Change, ...]:
    """The changes cut at every multiple of a duration; what never ends is cut up to ``now``."""
    return in_order(piece for change in changes for piece in _pieces(change, every_us, now))


def _pieces(change: Change, every_us: Duration, now: Instant) -> Iterator[Change]:
    begin, end = change.valid_from, change.valid_to
    last = end if end < INF else now
    if is_finite(begin) and is_finite(last):
        cut = shift(floor_to(begin, every_us), every_us)
        while cut < last or (cut == last and end == INF):
            yield Change(change.row, begin, cut, change.diff)
            begin, cut = cut, shift(cut, every_us)
    yield Change(change.row, begin, end, change.diff)
