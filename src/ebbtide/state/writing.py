"""Writing changes as segments: cut by time, sorted by key hash and a time or by time, described.

Law: what is written depends on the changes and on the bounds of the area alone, not on the order
in which the changes came, so a repeated task writes the same files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF
from ebbtide.state.arrays import Hashes, Ints, Mask, differs, order_by
from ebbtide.state.columns import ints
from ebbtide.state.hashing import key_hash
from ebbtide.state.keep import ALWAYS, Keep, times_of, zones
from ebbtide.state.layout import Endless, Layout
from ebbtide.state.netting import codes, net
from ebbtide.state.search import HASH
from ebbtide.state.segment import Segment
from ebbtide.state.store import File, WriteScope
from ebbtide.state.table import DIFF, FROM, TO, where, with_times
from ebbtide.state.tiers import bucket_width, cut
from ebbtide.state.ties import broken
from ebbtide.state.time_order import can_lie_by_time, in_time_order, packed

_ANY_HASH = (0, (1 << 64) - 1)


def write(
    scope: WriteScope,
    layout: Layout,
    changes: Any,
    hashes: Hashes | None,
    bounds: Iterable[tuple[int, int]],
    keep: Keep = ALWAYS,
) -> list[Segment]:
    """Writes changes that a rule keeps, in as many segments as there are buckets worth one.

    The hashes of their keys are made where they are not given and needed.
    """
    if not changes.num_rows:
        return []
    if layout.structure is Structure.BY_TIME and can_lie_by_time(changes, keep.cut):
        changes, hashes = in_time_order(changes, keep.cut, layout.keys), None
    elif hashes is None:
        hashes = key_hash(changes, layout.keys)
    times = times_of(changes, keep.cut)
    finite = times[times < INF]
    new = [(int(finite.min()), int(finite.max()))] if len(finite) else []
    width = bucket_width([*bounds, *new])
    result = []
    for places in cut(times, width):
        part = _part(changes, places)
        if hashes is None:
            result.append(_segment_by_time(scope, part, keep))
        else:
            own = hashes if len(places) == len(hashes) else hashes[places]
            result.append(_segment(scope, part, own, keep, layout.structure))
    return result


def _part(changes: Any, places: Ints) -> Any:
    """The changes at places that rise; what stands together is no copy."""
    first, count = int(places[0]), len(places)
    together = int(places[-1]) - first + 1 == count
    return changes.slice(first, count) if together else changes.take(pa.array(places))


def merged(layout: Layout, stored: Any, keep: Keep, whole: bool) -> tuple[Any, Hashes]:
    """The changes of several segments, as few as possible, as far as they are kept."""
    stored = keep.of(stored)
    hashes = ints(stored, HASH.name).view(np.uint64)
    changes = stored.drop_columns([HASH.name])
    if layout.newest:
        places = newest(layout, changes, hashes, keep_gone=not whole)
        return changes.take(pa.array(places)), hashes[places]
    old = _is_old(changes, keep.begun) if layout.endless is not Endless.KEPT else None
    if old is not None and old.any():
        if layout.endless is Endless.DROPPED:
            changes, hashes = where(changes, ~old), hashes[~old]
        elif layout.endless is Endless.CHOSEN:
            kept = ~old | _chosen(layout, changes, hashes, old)
            changes, hashes = where(changes, kept), hashes[kept]
        else:
            starts = ints(changes, FROM)
            # A fact holds at every instant, and stays one.
            begin = np.where(old & (starts > NEG_INF), keep.begun, starts)
            # Of equal rows that end at one time, what they count less before is kept no longer.
            changes = keep.of(
                net(with_times(changes, begin, ints(changes, TO), ints(changes, DIFF)))
            )
            hashes = key_hash(changes, layout.keys)
    if not (ints(changes, DIFF) < 0).any():
        return changes, hashes
    changes = keep.of(net(changes))
    return changes, key_hash(changes, layout.keys)


def merged_by_time(stored: Any, keep: Keep) -> Any:
    """The same of segments by time, in which every change counts, and no hashes are."""
    changes = keep.of(stored)
    return keep.of(net(changes)) if (ints(changes, DIFF) < 0).any() else changes


def _is_old(changes: Any, begun: int) -> Mask:
    """Which changes never end and have begun by an instant."""
    mask: Mask = (ints(changes, TO) == INF) & (ints(changes, FROM) <= begun)
    return mask & (begun > NEG_INF)


def _chosen(layout: Layout, changes: Any, hashes: Hashes, old: Mask) -> Mask:
    """Which of the old changes stand for all of them; all, if one of them takes a row back."""
    assert layout.chooser is not None
    kept = old.copy()
    if not (ints(changes, DIFF)[old] < 0).any():
        kept[old] = layout.chooser(where(changes, old), hashes[old])
    return kept


def newest(layout: Layout, changes: Any, hashes: Hashes, keep_gone: bool = False) -> Ints:
    """The places of the rows that stand for their keys: all those of a key's last version."""
    keys = codes(changes, layout.keys, hashes)
    version = ints(changes, FROM)
    last = np.full(keys.count, NEG_INF, np.int64)
    np.maximum.at(last, keys.ids, version)
    stands = version == last[keys.ids]
    return np.flatnonzero(stands if keep_gone else stands & (ints(changes, DIFF) != 0))


def by_key(changes: Any, hashes: Hashes, structure: Structure) -> tuple[Any, Structure]:
    """The batch that is written of changes by key, with their hashes, and how it lies."""
    order, structure = _ordered(changes, hashes, structure)
    taken = changes.take(pa.array(order)).combine_chunks()
    arrays = [taken.column(i).chunk(0) for i in range(taken.num_columns)]
    batch = pa.RecordBatch.from_arrays(
        [*arrays, pa.array(hashes[order])], schema=taken.schema.append(HASH)
    )
    return batch, structure


def _segment(
    scope: WriteScope, changes: Any, hashes: Hashes, keep: Keep, structure: Structure
) -> Segment:
    batch, structure = by_key(changes, hashes, structure)
    own = ints(batch, HASH.name).view(np.uint64)
    file = scope.store.write(scope.label, batch)
    return _described(file, batch, (int(own[0]), int(own[-1])), keep, structure)


def _segment_by_time(scope: WriteScope, changes: Any, keep: Keep) -> Segment:
    file = scope.store.write(scope.label, packed(changes, keep.cut))
    return _described(file, changes, _ANY_HASH, keep, Structure.BY_TIME)


def _described(
    file: File, changes: Any, hashes: tuple[int, int], keep: Keep, structure: Structure
) -> Segment:
    valid_from, valid_to = ints(changes, FROM), ints(changes, TO)
    return Segment(
        name=file.name,
        checksum=file.checksum,
        bytes=file.bytes,
        rows=changes.num_rows,
        negatives=int((ints(changes, DIFF) <= 0).sum()),
        from_min=int(valid_from.min()),
        from_max=int(valid_from.max()),
        to_min=int(valid_to.min()),
        to_max=int(valid_to.max()),
        hash_min=hashes[0],
        hash_max=hashes[1],
        zones=zones(changes, keep.columns),
        structure=structure,
    )


def _ordered(changes: Any, hashes: Hashes, structure: Structure) -> tuple[Ints, Structure]:
    """The order of changes, and the structure that they have in it: where rows of a key do not end
    in the order in which they begin, they can only lie by their ends."""
    if structure is Structure.BY_END:
        return _order(changes, hashes, TO), structure
    order = _order(changes, hashes, FROM)
    if structure is Structure.BY_TIME:
        return order, Structure.BY_KEY
    if structure is Structure.FIFO:
        ends = ints(changes, TO)[order]
        falls = ends[1:] < ends[:-1]
        if (falls & (hashes[order][1:] == hashes[order][:-1])).any():
            return _order(changes, hashes, TO), Structure.BY_END
    return order, structure


def _order(changes: Any, hashes: Hashes, by: str) -> Ints:
    """By hash and one of the times; rows that agree in both by a hash of all the rest."""
    times = ints(changes, by)
    order = order_by(hashes, times)
    return broken(changes, order, differs([hashes[order], times[order]]))
