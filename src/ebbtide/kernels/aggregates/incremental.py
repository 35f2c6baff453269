"""Aggregation by moving accumulators: rows that come and go are added and taken away.

Law: ``accumulator(t) = accumulator(before) + what begins or ends in (before, t]``.  For a group
with late changes the accumulator is first led back to the instant before the earliest of them, by
the same rows with the sign turned; so only rows that begin or end in a group's region are read,
never all that are valid (paper 3, section 2.1).  MIN and MAX go along where nothing is taken away
(`extremes`); where the order of rows says which is the best (FIRST, LAST, ARG_MIN, ARG_MAX), the
valid ones are read.

                      since        before            now
    accumulator          .<--- back ---|               .
                         |---- forth, with what is new -->
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.aggregates.accumulation import Accumulators, Lines, Moment, plan_of
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.choice import choice
from ebbtide.kernels.aggregates.evaluation import index_of, scale_of, swept
from ebbtide.kernels.aggregates.exact import Rows, exact_reals, made_exact
from ebbtide.kernels.aggregates.extremes import (
    extreme,
    from_emitted,
    from_heirs,
    from_rows,
    has_heirs,
    heirs_table,
    put_together,
    versioned,
)
from ebbtide.kernels.aggregates.moments import values_of
from ebbtide.kernels.aggregates.rescan import results
from ebbtide.kernels.aggregates.results import moment_of, result_of
from ebbtide.kernels.aggregates.totals import add_endless, from_column, to_column, width
from ebbtide.kernels.grouping import ranked
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.sweeps.end_points import next_stored
from ebbtide.kernels.sweeps.rederivation import inputs_after
from ebbtide.kernels.sweeps.region import TouchedRows, all_rows, is_unclear, region_of, touched_rows
from ebbtide.kernels.sweeps.spans import Marks, Spans, events_of
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes, Ints, Mask, order_by
from ebbtide.state.batch import FROM
from ebbtide.state.columns import column, ints


def move(
    keys: tuple[int, ...],
    calls: tuple[Call, ...],
    moments: tuple[Moment, ...],
    changes: Batch,
    areas: tuple[SweepArea, ...],
    times: Times,
    output: Schema,
    folds: bool,
) -> Result:
    """One step: accumulators moved by what begins and ends, and the changes of their results."""
    stored, emitted, *kept = areas
    changes = _in_key_order(changes, stored)
    touched, turning = touched_rows(changes, stored, emitted, times, not keys)
    if not len(touched.hashes):
        after = inputs_after((changes,), (stored,), touched, times)
        same = (area.reorganize(times.groups) for area in kept)
        return Result(output.empty_table(), (*after, emitted.reorganize(times.output), *same))
    older = tuple(area.latest(touched.hashes) for area in kept)
    others = (emitted.probe(touched.hashes, touched.since), *older)
    region = region_of(keys, changes, stored, others, touched, turning, times)
    sums = RegionSums(region, moments, times, folds)
    unclear = _read_again(calls, region, times)
    rows = all_rows(sums.doubtful | unclear, stored, region)
    values, written = _values(calls, region, sums, unclear, rows, tuple(kept[1:]), times)
    until = next_stored(stored, region.groups, changes, sums.new.groups, times.now)
    alive = (sums.lines.whole[0] > 0) | (not keys)
    changed = results(
        region.groups, sums.marks, alive, values, until, others[0], region.since, output
    )
    changed = times.open.of(changed)
    # Each of these has a line per row of the step: the memory of a large one is theirs.
    del values, alive
    if sums.doubtful.any():
        exact_reals(sums.accumulators, sums.rows(rows), sums.doubtful, times.now)
    written.insert(0, _lines(kept[0], region, sums))
    del region, rows, sums
    renewed = [
        settled(area, new, times.groups, hashes)
        for area, (new, hashes) in zip(kept, written, strict=True)
    ]
    after = inputs_after((changes,), (stored,), touched, times)
    return Result(changed, (*after, settled(emitted, changed, times.output), *renewed))


def _in_key_order(changes: Batch, area: SweepArea) -> Batch:
    """The changes of each key together, as they are stored: what is read and written next to each
    other lies next to each other."""
    ranks = ranked(area.hash(changes))
    order = order_by(ranks, ints(changes, FROM))
    return changes.take(pa.array(order)).combine_chunks()


def _read_again(calls: tuple[Call, ...], region: TouchedRows, times: Times) -> Mask:
    """Groups of which a call needs all valid rows."""
    choices = [call for call in calls if call.is_choice]
    if any(call.ordered for call in choices):
        return np.ones(len(region.since), np.bool_)
    if choices:
        return is_unclear(region, times.before, times.now)
    return np.zeros(len(region.since), np.bool_)


def _values(
    calls: tuple[Call, ...],
    region: TouchedRows,
    sums: RegionSums,
    unclear: Mask,
    rows: tuple[Batch, Spans] | None,
    heirs: tuple[SweepArea, ...],
    times: Times,
) -> tuple[list[Any], list[tuple[Batch, Hashes]]]:
    """The column of each call, and for each extreme one the heirs to be kept."""
    columns: list[Any] = []
    written: list[tuple[Batch, Hashes]] = []
    keys = region.groups.keys.num_columns
    for index, call in enumerate(calls):
        if call.is_sum:
            columns.append(sums.result(call, rows))
            continue
        if not has_heirs(call):
            assert rows is not None
            seen = rows[1].chosen(call.counted(rows[0])[rows[1].rows])
            columns.append(choice(call, rows[0], seen, sums.marks))
            continue
        place = len(written)
        found, numbers = region.others[2 + place], region.groups.numbers[3 + place]
        clear = ~unclear
        parts = [
            from_rows(call, region.table, _coming(region, clear, times)),
            _some(from_heirs(found, numbers, times.before), clear),
        ]
        late = clear & (region.since <= times.before)
        if late.any():
            emitted, own = region.others[0], region.groups.numbers[1]
            parts.append(from_emitted(emitted, own, region.since, keys + index, times.before, late))
        if rows is not None:
            parts.append(_some(from_rows(call, *rows), unclear))
        candidates = put_together(parts)
        best, left = extreme(call, candidates, sums.marks, times.now)
        columns.append(best)
        written.append(heirs_table(heirs[place], region.groups, numbers, candidates.values, left))
    return columns, written


def _coming(region: TouchedRows, groups: Mask, times: Times) -> Spans:
    """New rows, and stored ones that begin after ``before``, of some groups."""
    spans = region.spans
    new = np.arange(len(spans.rows)) >= region.stored
    return spans.chosen(groups[spans.groups] & (new | (spans.starts > times.before)))


def _some(candidates: Any, groups: Mask) -> Any:
    return candidates._replace(spans=candidates.spans.chosen(groups[candidates.spans.groups]))


class RegionSums:
    """The accumulators of a region: at its marks, and after it."""

    def __init__(
        self, region: TouchedRows, moments: tuple[Moment, ...], times: Times, folds: bool
    ) -> None:
        self.region, self.moments = region, moments
        values = values_of(region.table, moments)
        plan, spans, since = plan_of(moments), region.spans, region.since
        first = Marks(np.arange(len(since), dtype=np.int64), since)
        self.accumulators = _start(region, moments)
        self.new = spans.chosen(slice(region.stored, None))
        self.totals = _totals(region, moments) if folds else None
        for place, words in (self.totals or {}).items():
            add_endless(words, moments[place], place, values, self.new)
        if (since <= times.before).any():
            old = spans.chosen(slice(region.stored))
            # On the way back the sums are of no instant, so they are looked at only at its end.
            events = events_of(old, since, times.before, first, values).to_the_end()
            swept(plan, self.accumulators, -1, events, old, values)
        events = events_of(spans, since, times.now, first, values)
        whole, real, self.doubtful = swept(plan, self.accumulators, 1, events, spans, values)
        self.lines = Lines(whole, real)
        self.marks = events.marks

    def result(self, call: Call, rows: tuple[Batch, Spans] | None) -> Any:
        """The call's values at the marks, exact where the sums cannot be trusted."""
        moment = moment_of(call, self.region.table.schema)
        assert moment is not None
        index = index_of(moment, self.moments)
        scale = scale_of(call, self.region.table)
        values = result_of(call, self.moments[index], index, self.moments, self.lines, scale)
        if not moment.reals or not self.doubtful.any():
            return values
        exact = self.rows(rows)
        return made_exact(call, values, index, exact, self.lines, self.marks, self.doubtful)

    def rows(self, found: tuple[Batch, Spans] | None) -> Rows:
        """The rows of doubtful groups, with what stands for those that are not stored."""
        assert found is not None
        return Rows(*found, self.region.since, self.moments, self.totals)


def _start(region: TouchedRows, moments: tuple[Moment, ...]) -> Accumulators:
    """The accumulators at ``before``."""
    result = Accumulators.zeros(region.groups.count, moments)
    numbers, table = region.groups.numbers[2], region.others[1].changes
    first = region.groups.keys.num_columns
    wholes = result.whole.shape[1]
    for i in range(wholes):
        result.whole[numbers, i] = _word(table, first + i).view(np.uint64)
    for i in range(result.real.shape[1]):
        result.real[numbers, i] = _word(table, first + wholes + i).view(np.float64)
    return result


def _totals(region: TouchedRows, moments: tuple[Moment, ...]) -> dict[int, Hashes]:
    """The totals before the step, for each moment of doubles."""
    numbers, table = region.groups.numbers[2], region.others[1].changes
    at = region.groups.keys.num_columns + 1 + sum(m.wholes + m.reals for m in moments)
    result: dict[int, Hashes] = {}
    for place, moment in enumerate(moments):
        if moment.reals:
            words = np.zeros((region.groups.count, width(moment)), np.uint64)
            words[numbers] = from_column(column(table, at + len(result)), width(moment))
            result[place] = words
    return result


def _word(table: Batch, index: int) -> Ints:
    return ints(table, table.schema.field(index).name)


def _lines(area: SweepArea, region: TouchedRows, sums: RegionSums) -> tuple[Batch, Hashes]:
    """The accumulators to be kept; a group without rows is gone, if it was there."""
    known = np.zeros(region.groups.count, np.bool_)
    known[region.groups.numbers[2]] = True
    now, totals = sums.accumulators, list((sums.totals or {}).values())
    there = now.whole[:, 0] != 0
    for part in totals:
        # A row that begins after `now` is in the totals already.
        there |= part.any(axis=1)
    chosen = np.flatnonzero(known | there)
    words = [part.view(np.int64)[chosen] for part in (now.whole, now.real)]
    keys = region.groups.keys
    taken = keys.take(pa.array(chosen)) if keys.num_columns else keys
    arrays = [column(taken, i) for i in range(keys.num_columns)]
    arrays += [pa.array(np.ascontiguousarray(w[:, i])) for w in words for i in range(w.shape[1])]
    arrays += [to_column(part[chosen]) for part in totals]
    times = versioned(area, len(chosen), there[chosen])
    table = pa.Table.from_arrays([*arrays, *times], schema=area.layout.schema)
    return table, region.groups.hashes[chosen]
