"""Aggregation by moving accumulators: rows that come and go are added and taken away.

Law: ``accumulator(t) = accumulator(before) + what begins or ends in (before, t]``.  For a group
with late changes the accumulator is first led back to the instant before the earliest of them, by
the same rows with the sign turned; so only rows that begin or end in a group's region are read,
never all that are valid (paper 3, section 2.1).

                      since        before            now
    accumulator          .<--- back ---|               .
                         |---- forth, with what is new -->
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.accumulation import Accumulators, Moment, Values, plan_of, sweep
from ebbtide.kernels.call import Call
from ebbtide.kernels.end_points import next_stored
from ebbtide.kernels.evaluation import index_of, made_exact, scale_of
from ebbtide.kernels.exact import exact_reals
from ebbtide.kernels.grouping import Groups, grouped, hash_without_key
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.moments import result_of, values_of
from ebbtide.kernels.rederivation import Touched, earliest, inputs_after
from ebbtide.kernels.spans import Events, Marks, Spans, sorted_events, spans_of, spans_of_changes
from ebbtide.kernels.sweeping import results, since_of
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Hashes, Ints, Mask
from ebbtide.state.batch import FROM, concat
from ebbtide.state.columns import column, ints


class Region(NamedTuple):
    """What a step looks at: stored rows and new changes of the touched groups."""

    table: Batch
    stored: int
    groups: Groups
    since: Ints
    times: Times
    lines: Found
    emitted: Found

    @property
    def spans(self) -> Spans:
        """All rows, as they are."""
        return spans_of_changes(self.table, self.groups.numbers[0])


def move(
    keys: tuple[int, ...],
    calls: tuple[Call, ...],
    moments: tuple[Moment, ...],
    changes: Batch,
    areas: tuple[SweepArea, ...],
    times: Times,
    output: Schema,
) -> Result:
    """One step: accumulators moved by what begins and ends, and the changes of their results."""
    stored, emitted, lines = areas
    touched, turning = _touched(changes, stored, emitted, times, not keys)
    (after,) = inputs_after((changes,), (stored,), touched, times)
    if not len(touched.hashes):
        rest = (emitted.reorganize(times.released), lines.reorganize(NEG_INF))
        return Result(output.empty_table(), (after, *rest))
    region = _region(keys, changes, areas, touched, turning, times)
    sums = _Sums(region, moments)
    until = next_stored(stored, region.groups, changes, sums.new.groups, times.now)
    alive = (sums.lines.whole[:, 0] > 0) | (not keys)
    exact = _exact_rows(sums.doubtful, changes, stored, region)
    values = [sums.result(call, exact) for call in calls]
    changed = results(
        region.groups, sums.marks, alive, values, until, region.emitted, region.since, output
    )
    if exact is not None:
        exact_reals(sums.moments, sums.now_, exact[0], exact[1], sums.doubtful, times.now)
    written, hashes = _lines(lines.layout.schema, region, sums.now_)
    return Result(
        changed,
        (
            after,
            settled(emitted, changed, times.released),
            lines.insert(written, hashes).reorganize(NEG_INF),
        ),
    )


def _touched(
    changes: Batch, stored: SweepArea, emitted: SweepArea, times: Times, always: bool
) -> tuple[Touched, Found]:
    """The touched keys, and the stored rows that begin or end in ``(before, now]``."""
    start = min(times.before + 1, times.now)
    new = stored.hash(changes)
    since = np.minimum(ints(changes, FROM), start)
    turning = stored.moved(start, times.now if times.now > times.before else NEG_INF)
    hashes = [new, turning.hashes]
    regions = [since, np.full(len(turning.hashes), start, np.int64)]
    if always and times.owner and not emitted.segments:
        hashes.append(hash_without_key())
        regions.append(np.array([NEG_INF], np.int64))
    found = earliest(np.concatenate(hashes), np.concatenate(regions))
    return Touched(found.hashes, found.since, (new,)), turning


def _region(
    keys: tuple[int, ...],
    changes: Batch,
    areas: tuple[SweepArea, ...],
    touched: Touched,
    turning: Found,
    times: Times,
) -> Region:
    stored, emitted_area, lines_area = areas
    late = touched.since <= times.before
    old = [turning]
    if late.any():
        asked = touched.hashes[late]
        places = np.searchsorted(asked, turning.hashes)
        other = asked[np.minimum(places, len(asked) - 1)] != turning.hashes
        kept = Found(turning.changes.filter(pa.array(other)), turning.hashes[other])
        old = [kept, stored.moved(touched.since[late], times.now, asked)]
    emitted = emitted_area.probe(touched.hashes, touched.since)
    lines = lines_area.latest(touched.hashes)
    table = concat([*(part.changes for part in old), changes], changes.schema)
    hashes = np.concatenate([*(part.hashes for part in old), *touched.inputs])
    own = tuple(range(len(keys)))
    groups = grouped(
        [table, lines.changes, emitted.changes],
        [keys, own, own],
        [hashes, lines.hashes, emitted.hashes],
    )
    count = table.num_rows - changes.num_rows
    since = since_of(groups, touched, keys)
    return Region(table, count, groups, since, times, lines, emitted)


class _Sums:
    """The accumulators of a region: at its marks, and after it."""

    def __init__(self, region: Region, moments: tuple[Moment, ...]) -> None:
        self.region, self.moments = region, moments
        self.plan = plan_of(moments)
        self.values = values_of(region.table, moments)
        spans = region.spans
        self.new = spans.chosen(np.arange(len(spans.rows)) >= region.stored)
        self.now_ = _start(region, moments)
        self._back(spans.chosen(np.arange(len(spans.rows)) < region.stored))
        events = self._events(spans, region.since, region.times.now, 1)
        whole, real, self.doubtful = self._sweep(events)
        self.lines = Accumulators(whole, real)
        self.marks = Marks(events.groups[events.marks], events.at[events.marks])

    def result(self, call: Call, exact: tuple[Batch, Spans] | None) -> Any:
        """The call's values at the marks, exact where the sums cannot be trusted."""
        moment = call.moment(self.region.table.schema)
        assert moment is not None
        index = index_of(moment, self.moments)
        values = result_of(
            call,
            self.moments[index],
            index,
            self.moments,
            self.lines,
            scale_of(call, self.region.table),
        )
        if exact is None or call.function == "COUNT" or not moment.reals:
            return values
        return made_exact(call, values, *exact, self.marks, self.doubtful)

    def _back(self, old: Spans) -> None:
        """Leads the accumulators of late groups back to before their region."""
        before = self.region.times.before
        if (self.region.since <= before).any():
            self._sweep(self._events(old, self.region.since, before, -1))

    def _events(self, spans: Spans, since: Ints, upto: int, sign: int) -> Events:
        begins = (spans.starts >= since[spans.groups]) & (spans.starts <= upto)
        goes = (spans.ends >= since[spans.groups]) & (spans.ends <= upto)
        every = np.arange(len(since), dtype=np.int64)
        none = np.full(len(since), -1, np.int64)
        return sorted_events(
            np.concatenate([spans.groups[begins], spans.groups[goes], every]),
            np.concatenate([spans.starts[begins], spans.ends[goes], since]),
            np.concatenate([spans.rows[begins], spans.rows[goes], none]),
            np.concatenate([sign * spans.diff[begins], -sign * spans.diff[goes], none]),
            self.values,
        )

    def _sweep(self, events: Events) -> Any:
        values: Values = self.values
        return sweep(
            self.plan,
            self.now_.whole,
            self.now_.real,
            *events,
            values.present,
            values.low,
            values.high,
            values.real,
        )


def _start(region: Region, moments: tuple[Moment, ...]) -> Accumulators:
    """The accumulators at ``before``."""
    result = Accumulators.zeros(region.groups.count, moments)
    numbers, table = region.groups.numbers[1], region.lines.changes
    first = region.groups.keys.num_columns
    wholes = result.whole.shape[1]
    for i in range(wholes):
        result.whole[numbers, i] = _word(table, first + i).view(np.uint64)
    for i in range(result.real.shape[1]):
        result.real[numbers, i] = _word(table, first + wholes + i).view(np.float64)
    return result


def _word(table: Batch, index: int) -> Any:
    return ints(table, table.schema.field(index).name)


def _exact_rows(
    doubtful: Mask, changes: Batch, stored: SweepArea, region: Region
) -> tuple[Batch, Spans] | None:
    """All valid rows of the groups whose sums cannot be trusted; None if there are none."""
    if not doubtful.any():
        return None
    order = np.argsort(region.groups.hashes)
    chosen = order[doubtful[order]]
    hashes, first = np.unique(region.groups.hashes[chosen], return_index=True)
    found = stored.probe(hashes, region.since[chosen][first])
    numbers = region.groups.number(found.changes, stored.layout.keys, found.hashes)
    table = concat([found.changes, changes], changes.schema)
    new = region.groups.numbers[0][region.stored :]
    everything = np.concatenate([numbers, new])
    known = everything >= 0
    table = table.filter(pa.array(known))
    return table, spans_of(table, everything[known], region.since)


def _lines(schema: Schema, region: Region, now: Accumulators) -> tuple[Batch, Hashes]:
    """The accumulators to be kept; a group without rows is gone, if it was there."""
    count = region.groups.count
    version = np.zeros(count, np.int64)
    numbers = region.groups.numbers[1]
    version[numbers] = ints(region.lines.changes, FROM)
    known = np.zeros(count, np.bool_)
    known[numbers] = True
    rows = now.whole[:, 0].view(np.int64)
    chosen = np.flatnonzero(known | (rows != 0))
    words = [part.view(np.int64)[chosen] for part in (now.whole, now.real)]
    keys = region.groups.keys
    taken = keys.take(pa.array(chosen)) if keys.num_columns else keys
    arrays = [column(taken, i) for i in range(keys.num_columns)]
    arrays += [pa.array(np.ascontiguousarray(w[:, i])) for w in words for i in range(w.shape[1])]
    arrays += [pa.array(version[chosen] + 1), pa.array(np.full(len(chosen), INF, np.int64))]
    arrays.append(pa.array((rows[chosen] != 0).astype(np.int64)))
    return pa.Table.from_arrays(arrays, schema=schema), region.groups.hashes[chosen]
