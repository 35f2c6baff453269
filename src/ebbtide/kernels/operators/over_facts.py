"""Over on facts: LAG, LEAD and frames of rows, in the order of a time that progresses.

Law: every copy of a fact, numbered in its partition by an order that begins with a time (ties by
all columns), with the values of calls that look at most some rows back and some ahead.
State: the facts that one to come can still stand near, each with its values as they were emitted,
the number of the copy, and the time at which it is done with: that of the ``count``-th row after
its instant, where ``count`` is how far a call reaches, back and ahead together.
Emits: a fact when it comes, and again with other values when a fact comes, or never was, within
the reach of a call; of a call that does not reach it the value stays.  What is taken back stands in
the state.  What is emitted does not depend on ``now``.
Forgets: by the rule of its input: a fact once the horizon, at or below which no fact to come lies,
has come to the time at which it is done with.  That leaves the last ``count`` facts at or below
the horizon, those of the same instant, and all after it.

    LAG             a    b         c            a late x      a    b   x   c
    emitted         a,-  b,a       c,b          changes                x,b c,x, and no more c,b
    one row back         |         ^ done with b: no fact to come lies before c's time
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, assert_never

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF
from ebbtide.errors import InternalError
from ebbtide.kernels.condition import stretches
from ebbtide.kernels.grouping import grouped
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.operators.over import FrameCall, Framed, Neighbour, Number, Over
from ebbtide.kernels.ordering import in_order, sort_words
from ebbtide.kernels.stateless import timed, wider
from ebbtide.kernels.sweeps.frames import Entries, entries
from ebbtide.kernels.sweeps.neighbourhoods import Numbers
from ebbtide.kernels.sweeps.timeline import shift
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, Mask, differs
from ebbtide.state.batch import (
    DIFF,
    TIMES,
    concat,
    key_hash,
    negated,
    net,
    payload,
    with_times,
)
from ebbtide.state.columns import column, fixed, ints
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class OverFacts:
    """The calls of an Over on facts by the time in column ``on``; none reaches further than
    ``count`` rows."""

    over: Over
    on: int
    count: int

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns and the calls'."""
        return self.over.output(inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The facts with their values, the number of the copy, and when it is done with."""
        schema = wider(self.output(inputs), [pa.int64(), pa.int64()])
        return (Layout("facts", schema, self.over.partition),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What the new facts, and those that never were, change around them."""
        facts, ts = timed(inputs[0], self.on)
        (area,) = times.seen(areas)
        schema = self.output((facts.schema,))
        if not facts.num_rows:
            return Result(schema.empty_table(), (area.reorganize(times.inputs[0]),))
        partitions, since, _ = stretches(key_hash(facts, self.over.partition), ts, ts)
        # What is done with before the first change is reached by nothing that changes.
        stored = net(area.query(partitions, since))
        told = self._told(stored, facts)
        new = self._valued(told, stored)
        old = told.old[told.old >= 0]
        moved = told.is_new | new.touched | (told.done != told.done_before)
        state = net(
            concat(
                [
                    _chosen(new.rows, moved),
                    negated(stored.take(pa.array(told.gone))),
                    negated(stored.take(pa.array(old[moved[told.old >= 0]]))),
                ],
                stored.schema,
            )
        )
        return Result(_shown(state, schema), (settled(area, state, times.inputs[0]),))

    def _told(self, stored: Batch, facts: Batch) -> _Told:
        """The facts of stored and new changes in order, and each copy that is there after them."""
        columns = payload(facts)
        names = [f"c{i}" for i in columns] + [field.name for field in TIMES]
        changes = concat([stored.select(names), facts], facts.schema)
        rows = grouped((changes,), (columns,), (key_hash(changes, columns),))
        numbers = rows.numbers[0]
        firsts = np.empty(rows.count, np.int64)
        firsts[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
        distinct = changes.take(pa.array(firsts))
        parts = grouped((distinct,), (self.over.partition,), (self._hash(distinct),)).numbers[0]
        words = [parts, *(w for sort in self.over.order for w in sort_words(distinct, sort))]
        order = in_order(distinct, words, payload(distinct))
        place = np.empty(rows.count, np.int64)
        place[order] = np.arange(rows.count)
        before = np.zeros(rows.count, np.int64)
        after = np.zeros(rows.count, np.int64)
        diffs = ints(changes, DIFF)
        np.add.at(after, place[numbers], diffs)
        np.add.at(before, place[numbers[: stored.num_rows]], diffs[: stored.num_rows])
        peers = np.cumsum(differs([word[order] for word in words]), dtype=np.int64)
        return _Told.of(
            distinct.take(pa.array(order)),
            parts[order],
            peers,
            _Copies.of(before),
            _Copies.of(after),
            np.lexsort((_whole(stored, -2), place[numbers[: stored.num_rows]])),
            _whole(stored, -1),
            self,
        )

    def _hash(self, facts: Batch) -> Any:
        return key_hash(facts, self.over.partition)

    def done(self, partitions: Ints, times: Ints) -> Ints:
        """For each row in order when it is done with: at the ``count``-th row after its instant."""
        if self.count == 0 or not len(times):
            return times
        apart = differs([partitions, times])
        ends = np.append(np.flatnonzero(apart)[1:], len(times))[np.cumsum(apart) - 1]
        last = ends + self.count - 1
        there = np.minimum(last, len(times) - 1)
        inside = (last < len(times)) & (partitions[there] == partitions)
        return np.where(inside, times[there], INF)

    def _valued(self, told: _Told, stored: Batch) -> _Valued:
        """The rows after the step: values are new where a call reaches a change."""
        nothing = np.zeros(len(told.after.places), np.int64)
        made = self.over.columns(told.facts, told.entries, Numbers(nothing, nothing, nothing))
        width = len(payload(told.facts))
        touched = np.zeros(len(nothing), np.bool_)
        values = []
        for number, (call, new) in enumerate(zip(self.over.calls, made, strict=True)):
            changed = told.reached(*self._reach(call))
            touched |= changed
            kept = column(stored, width + number)
            both = pa.concat_arrays([_one(new).cast(kept.type), _one(kept)])
            here = np.arange(len(changed))
            values.append(both.take(pa.array(np.where(changed, here, len(new) + told.old))))
        taken = told.facts.take(pa.array(told.after.places))
        times = told.times
        ends, ones = shift(told.done, 1), np.ones(len(times), np.int64)
        added = [*values, *map(pa.array, (told.after.numbers, told.done, times, ends, ones))]
        facts = [taken.column(i) for i in range(width)]
        return _Valued(pa.Table.from_arrays([*facts, *added], schema=stored.schema), touched)

    def _reach(self, call: FrameCall) -> tuple[int, int]:
        """How many rows before and after a row its value depends on."""
        match call:
            case Neighbour(distance=distance):
                return max(0, -distance), max(0, distance)
            case Framed():
                frame = self.over.frame
                assert frame is not None
                assert frame.start is not None
                assert frame.end is not None
                return max(0, -frame.start), max(0, frame.end)
            case Number():
                raise InternalError("no-kernel", "a row's number depends on all rows before it")
            case _:
                assert_never(call)


class _Copies(NamedTuple):
    """The copies of facts in order: the place of the fact, and which of its copies it is."""

    places: Ints
    numbers: Ints
    firsts: Ints
    counts: Ints

    @staticmethod
    def of(counts: Ints) -> _Copies:
        places = np.repeat(np.arange(len(counts)), counts)
        firsts = np.cumsum(counts) - counts
        return _Copies(places, np.arange(len(places)) - firsts[places], firsts, counts)


class _Valued(NamedTuple):
    """Rows as the state has them, and those whose values are new."""

    rows: Batch
    touched: Mask


@dataclass(frozen=True, slots=True)
class _Told:
    """The facts of the touched partitions, by place, and their copies before and after the step.

    ``old`` is, for each copy after the step, the stored row that it was, or -1 for a new one;
    ``gone`` are the stored rows of copies that are there no more.
    """

    facts: Batch
    partitions: Ints
    before: _Copies
    after: _Copies
    entries: Entries
    times: Ints
    done: Ints
    done_before: Ints
    old: Ints
    gone: Ints

    @staticmethod
    def of(
        facts: Batch,
        partitions: Ints,
        peers: Ints,
        before: _Copies,
        after: _Copies,
        rows: Ints,
        done_before: Ints,
        kernel: OverFacts,
    ) -> _Told:
        """``rows`` are the stored rows in the order of the copies before the step."""
        places = after.places
        stays = after.numbers < before.counts[places]
        was = np.where(stays, before.firsts[places] + after.numbers, 0)
        old = np.where(stays, rows[was] if len(rows) else -1, -1)
        times = fixed(column(facts, kernel.on))[places]
        return _Told(
            facts,
            partitions,
            before,
            after,
            entries(partitions[places], places, peers[places]),
            times,
            kernel.done(partitions[places], times),
            np.where(stays, done_before[old] if len(rows) else INF, INF),
            old,
            rows[before.numbers >= after.counts[before.places]],
        )

    @property
    def is_new(self) -> Mask:
        """Which copies have come in this step."""
        return self.old < 0

    def reached(self, back: int, ahead: int) -> Mask:
        """Which copies are new, or have a copy that came or went among their neighbours."""
        reached = self.is_new | _near(self.is_new, self._ends(self.after), back, ahead)
        went = self.before.numbers >= self.after.counts[self.before.places]
        near = _near(went, self._ends(self.before), back, ahead)
        stays = np.flatnonzero(~self.is_new)
        places = self.after.places[stays]
        was = self.before.firsts[places] + self.after.numbers[stays]
        reached[stays] |= near[was]
        return reached

    def _ends(self, copies: _Copies) -> tuple[Ints, Ints]:
        """For each copy, where its partition begins and ends among the copies."""
        begins = differs([self.partitions[copies.places]])
        first = np.flatnonzero(begins)
        run = np.cumsum(begins) - 1
        return first[run], np.append(first[1:], len(begins))[run]


def _near(marked: Mask, ends: tuple[Ints, Ints], back: int, ahead: int) -> Mask:
    """Which copies have a marked one from so many before them to so many after."""
    total = np.concatenate([[0], np.cumsum(marked)])
    here = np.arange(len(marked))
    low = np.maximum(ends[0], here - back)
    high = np.minimum(ends[1], here + ahead + 1)
    return np.asarray(total[high] > total[low], np.bool_)


def _chosen(rows: Batch, mask: Mask) -> Batch:
    return rows.filter(pa.array(mask))


def _shown(state: Batch, schema: Schema) -> Batch:
    """Facts with their values, as facts."""
    columns = [state.column(i) for i in payload(state)[:-2]]
    diff = ints(state, DIFF)
    first, last = (np.full(len(diff), end, np.int64) for end in (NEG_INF, INF))
    rows = pa.Table.from_arrays(
        [*columns, *(state.column(field.name) for field in TIMES)], schema=schema
    )
    return net(with_times(rows, first, last, diff))


def _whole(stored: Batch, place: int) -> Ints:
    """A column of whole numbers behind those of the fact, counted from the end of the row."""
    return fixed(column(stored, payload(stored)[place]))


def _one(values: Any) -> Any:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
