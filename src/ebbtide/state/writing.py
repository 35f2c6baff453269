"""Writing changes as segments: cut by time, sorted by key hash and a time, described.

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
from ebbtide.state.columns import ints, is_text
from ebbtide.state.hashing import key_hash
from ebbtide.state.keep import ALWAYS, Keep, times_of, zones
from ebbtide.state.layout import Endless, Layout
from ebbtide.state.netting import codes, net
from ebbtide.state.search import HASH
from ebbtide.state.segment import Segment
from ebbtide.state.store import WriteScope
from ebbtide.state.table import DIFF, FROM, TO, where, with_times
from ebbtide.state.tiers import bucket_width, cut

_SPARED = 44
"""So many of a hash's bits do without the first comparison of rows."""


def write(
    scope: WriteScope,
    changes: Any,
    hashes: Hashes,
    bounds: Iterable[tuple[int, int]],
    keep: Keep = ALWAYS,
    structure: Structure = Structure.BY_KEY,
) -> list[Segment]:
    """Writes changes that a rule keeps, in as many segments as there are buckets worth one."""
    if not changes.num_rows:
        return []
    times = times_of(changes, keep.cut)
    finite = times[times < INF]
    new = [(int(finite.min()), int(finite.max()))] if len(finite) else []
    width = bucket_width([*bounds, *new])
    result = []
    for places in cut(times, width):
        whole = len(places) == changes.num_rows
        part = changes if whole else changes.take(pa.array(places))
        own = hashes if whole else hashes[places]
        result.append(_segment(scope, part, own, keep, structure))
    return result


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


def _segment(
    scope: WriteScope, changes: Any, hashes: Hashes, keep: Keep, structure: Structure
) -> Segment:
    order, structure = _ordered(changes, hashes, structure)
    taken = changes.take(pa.array(order)).combine_chunks()
    hashes = hashes[order]
    arrays = [taken.column(i).chunk(0) for i in range(taken.num_columns)]
    batch = pa.RecordBatch.from_arrays(
        [*arrays, pa.array(hashes)], schema=taken.schema.append(HASH)
    )
    file = scope.store.write(scope.label, batch)
    valid_from, valid_to = ints(batch, FROM), ints(batch, TO)
    return Segment(
        name=file.name,
        checksum=file.checksum,
        bytes=file.bytes,
        rows=batch.num_rows,
        negatives=int((ints(batch, DIFF) <= 0).sum()),
        from_min=int(valid_from.min()),
        from_max=int(valid_from.max()),
        to_min=int(valid_to.min()),
        to_max=int(valid_to.max()),
        hash_min=int(hashes[0]),
        hash_max=int(hashes[-1]),
        zones=zones(batch, keep.columns),
        structure=structure,
    )


def _ordered(changes: Any, hashes: Hashes, structure: Structure) -> tuple[Ints, Structure]:
    """The order of changes, and the structure that they have in it: where rows of a key do not end
    in the order in which they begin, they can only lie by their ends."""
    if structure is Structure.BY_END:
        return _order(changes, hashes, TO), structure
    order = _order(changes, hashes, FROM)
    if structure is Structure.FIFO:
        ends = ints(changes, TO)[order]
        falls = ends[1:] < ends[:-1]
        if (falls & (hashes[order][1:] == hashes[order][:-1])).any():
            return _order(changes, hashes, TO), Structure.BY_END
    return order, structure


def _order(changes: Any, hashes: Hashes, by: str) -> Ints:
    """By hash and one of the times; rows that agree in both by a hash of all the rest.

    Texts take longest and seldom decide, so what else there is in the rows comes first, with few
    bits, which sort faster.
    """
    times = ints(changes, by)
    order = order_by(hashes, times)
    begins = differs([hashes[order], times[order]])
    whole = range(changes.num_columns)
    brief = [i for i in whole if not is_text(changes.schema.field(i).type)]
    for columns, spared in ((brief, _SPARED), (whole, 0)):
        tied = ~begins
        tied[:-1] |= ~begins[1:]
        places = np.flatnonzero(tied)
        if not len(places):
            break
        rows = changes.select(columns).take(pa.array(order[places]))
        rest = (key_hash(rows, range(len(columns))) >> np.uint64(spared)).view(np.int64)
        runs = np.cumsum(begins, dtype=np.int64)[places]
        inside = order_by(runs, rest)
        order[places] = order[places][inside]
        begins[places] = differs([runs, rest[inside]])
    return order
