"""What a step of moving accumulators looks at: rows that begin or end where results may differ.

Law: the stored rows of a touched group that begin or end from its ``since`` up to ``now``, and the
new changes, are all that can move its accumulators there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide.core.time import NEG_INF, Instant
from ebbtide.kernels.grouping import Groups, grouped, hash_without_key
from ebbtide.kernels.kernel import Batch, Times
from ebbtide.kernels.sweeps.rederivation import Touched, earliest
from ebbtide.kernels.sweeps.spans import Spans, spans_of, spans_of_changes
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import FROM, TO, concat, where
from ebbtide.state.columns import ints


class TouchedRows(NamedTuple):
    """Stored rows and then new changes of the touched groups, numbered, and older findings.

    ``others`` are what was found in the areas that are keyed by the group: emitted rows,
    accumulators, heirs.
    """

    changes: Batch
    table: Batch
    groups: Groups
    since: Ints
    others: tuple[Found, ...]

    @property
    def stored(self) -> int:
        """How many of the rows were stored before."""
        return int(self.table.num_rows - self.changes.num_rows)

    @property
    def spans(self) -> Spans:
        """All rows, as they are."""
        return spans_of_changes(self.table, self.groups.numbers[0])


def touched_rows(
    changes: Batch, stored: SweepArea, emitted: SweepArea, times: Times, always: bool
) -> tuple[Touched, Found]:
    """The touched keys, and the stored rows that begin or end in ``(before, now]``."""
    start = min(times.before + 1, times.now)
    new = stored.hash(changes)
    turning = stored.none if times.now == times.before else stored.moved(start, times.now)
    hashes = [new, turning.hashes]
    since = [
        np.minimum(ints(changes, FROM), start),
        np.full(len(turning.hashes), start, np.int64),
    ]
    if always and times.owner and not emitted.segments:
        hashes.append(hash_without_key())
        since.append(np.array([NEG_INF], np.int64))
    found = earliest(np.concatenate(hashes), np.concatenate(since))
    return Touched(found.hashes, found.since, (new,)), turning


def region_of(
    keys: tuple[int, ...],
    changes: Batch,
    stored: SweepArea,
    others: tuple[Found, ...],
    touched: Touched,
    turning: Found,
    times: Times,
) -> TouchedRows:
    """The touched groups; those with late changes reach back to the first of them."""
    # What is there from -inf on is in the accumulators, and never begins.
    late = (touched.since <= times.before) & (times.before > NEG_INF)
    old = [turning]
    if late.any():
        found = stored.moved(touched.since[late], times.before, touched.hashes[late])
        starts, ends = ints(found.changes, FROM), ints(found.changes, TO)
        known = (starts > times.before) & (starts <= times.now)
        known |= (ends > times.before) & (ends <= times.now)
        old.append(Found(where(found.changes, ~known), found.hashes[~known]))
    table = concat([*(part.changes for part in old), changes], changes.schema)
    hashes = np.concatenate([*(part.hashes for part in old), *touched.inputs])
    own = tuple(range(len(keys)))
    groups = grouped(
        [table, *(found.changes for found in others)],
        [keys, *(own for _ in others)],
        [hashes, *(found.hashes for found in others)],
    )
    since = touched.since_of(groups.hashes) if keys else touched.since[:1]
    return TouchedRows(changes, table, groups, since, others)


def all_rows(groups: Mask, stored: SweepArea, region: TouchedRows) -> tuple[Batch, Spans] | None:
    """All valid rows of some groups, stored and new, net; None if no group is asked for."""
    if not groups.any():
        return None
    asked = np.flatnonzero(groups)
    hashes, which = np.unique(region.groups.hashes[asked], return_inverse=True)
    since = np.full(len(hashes), np.iinfo(np.int64).max)
    np.minimum.at(since, which, region.since[asked])
    found = stored.probe(hashes, since)
    numbers = region.groups.number(found.changes, stored.layout.keys, found.hashes)
    everything = np.concatenate([numbers, region.groups.numbers[0][region.stored :]])
    known = (everything >= 0) & groups[everything]
    table = concat([found.changes, region.changes], region.changes.schema)
    table = table.filter(pa.array(known))
    return table, spans_of(table, everything[known], region.since)


def is_unclear(region: TouchedRows, before: Instant, now: Instant) -> Mask:
    """Groups in which something is taken away, now or at an instant of ``(before, now]``."""
    spans = region.spans
    old = np.arange(len(spans.rows)) < region.stored
    seen = old & (spans.starts <= before) & ((spans.ends <= before) | (spans.ends > now))
    result = np.zeros(len(region.since), np.bool_)
    result[spans.groups[(spans.diff < 0) & ~seen]] = True
    return result
