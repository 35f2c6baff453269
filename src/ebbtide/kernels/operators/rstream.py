"""RSTREAM: the facts that rows were there, at every multiple of a period.

Law: for every multiple ``t`` of the period with ``first <= t <= now`` the fact ``(row, t)``,
``q(t)`` times, where ``first`` is the first instant at which ``q`` changes: before it nothing has
been seen.  The output is ``q`` on ``[first, now]``, read at the multiples, and so, with ``dq`` new,
it changes by ``dq`` on the new stretch, and by ``q`` where the new stretch and the old one differ.
State: the rows of ``q`` that are not over, and ``first``.
Emits: the rows of each multiple when ``now`` reaches it; revisions of ``q`` take facts back and
add others.
Forgets: by the rule of its input: a row that is over, when no change to come begins by its end.
Rows that may still be the first are not over then.

    q              |-------------)
                           |-----------)
    period      |     |     |     |     |
    out               x     x
                            x     x
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.change import fact
from ebbtide.core.interval import Interval, interval_or_none
from ebbtide.core.time import INF, NEG_INF, Duration, Instant, ceil_to, format_instant, shift
from ebbtide.errors import EvaluationError
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.stateless import repeated, with_columns
from ebbtide.kernels.sweeps import timeline
from ebbtide.kernels.sweeps.appearances import steps, turn_schema
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, ranges
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    cancel,
    concat,
    from_changes,
    negated,
    net,
    with_times,
)
from ebbtide.state.columns import column, fixed, ints
from ebbtide.state.layout import Layout

MOST = 2**27
"""How many facts a step may say."""


@dataclass(frozen=True, slots=True)
class Rstream:
    """Runs in one shard, unless no row of its input is there from ``-inf`` on: then in shards by
    all columns, for ``first`` hides nothing that would be there before it."""

    every_us: Duration

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns and the instant."""
        return turn_schema(inputs[0])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows, and the first instant at which they changed."""
        every_column = tuple(range(len(inputs[0]) - 3))
        return (
            Layout("rows", inputs[0], every_column),
            Layout("first", batch_schema([pa.int64()]), ()),
        )

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The rows at the multiples that now has passed, and corrections."""
        (changes,), (rows, first) = inputs, times.seen(areas)
        old = _stored(first)
        new = _first(changes, rows, old, times)
        was = _stretch(old, times.before)
        stretch = _stretch(new, times.now)
        parts = [self._read(changes, stretch)] if stretch else []
        parts += [self._stored(rows, part) for part in _without(stretch, was)]
        parts += [negated(self._stored(rows, part)) for part in _without(was, stretch)]
        facts = concat(parts, self.output((changes.schema,)))
        return Result(
            cancel(facts), (settled(rows, changes, times.inputs[0]), _moved(first, old, new))
        )

    def _stored(self, rows: SweepArea, stretch: Interval) -> Batch:
        """The stored rows within a stretch of time, which are asked for only at a multiple."""
        if ceil_to(stretch.valid_from, self.every_us) >= stretch.valid_to:
            return self.output((rows.layout.schema,)).empty_table()
        return self._read(rows.query(None, stretch.valid_from, stretch.valid_to), stretch)

    def _read(self, changes: Batch, stretch: Interval) -> Batch:
        """The rows at the multiples of the period within a stretch of time."""
        start = np.maximum(ints(changes, FROM), stretch.valid_from)
        end = np.minimum(ints(changes, TO), stretch.valid_to)
        at = timeline.ceil_to(start, self.every_us)
        counts = np.where(at < end, (end - 1 - at) // self.every_us + 1, 0)
        _check_count(counts, stretch)
        number = ranges(np.zeros(len(counts), np.int64), counts)
        instants = np.repeat(at, counts) + number * self.every_us
        facts = with_columns(repeated(changes, counts), [instants])
        always = np.full(len(instants), NEG_INF, np.int64), np.full(len(instants), INF, np.int64)
        return with_times(facts, *always, ints(facts, DIFF))


def _check_count(counts: Ints, stretch: Interval) -> None:
    """Refuses a step that would say more facts than can be held, or facts without end."""
    if counts.sum(dtype=np.float64) > MOST:
        last = shift(stretch.valid_to, -1)
        raise EvaluationError(
            "too-many-instants",
            f"RSTREAM would say more than {MOST:,} facts in one step",
            detail=f"rows are there at too many multiples of EVERY up to {format_instant(last)}",
            hint="advance to a nearer time, in several steps, or write a longer EVERY",
        )


def _stretch(first: Instant | None, now: Instant) -> Interval | None:
    return None if first is None else interval_or_none(first, shift(now, 1))


def _without(stretch: Interval | None, other: Interval | None) -> tuple[Interval, ...]:
    if stretch is None or other is None:
        return () if stretch is None else (stretch,)
    return stretch.without(other)


def _first(changes: Batch, rows: SweepArea, old: Instant | None, times: Times) -> Instant | None:
    """The first instant up to now at which the steps of some row do not add up to 0.

    Up to ``old``, or up to ``before`` if there is none, the stored rows have no net steps, so
    there the new changes decide alone.
    """
    known = times.before if old is None else old - 1
    found = _least(changes, NEG_INF, min(known, times.now))
    if found is not None:
        return found
    if old is None:
        stored = rows.moved(times.before, times.now).changes
        return _least(concat([stored, changes], changes.schema), times.before, times.now)
    stored = rows.moved(old - 1, old).changes
    if (
        _least(changes, old - 1, old) is None
        or _least(concat([stored, changes], changes.schema), old - 1, old) is not None
    ):
        return old
    everything = concat([rows.query(None), changes], changes.schema)
    return _least(everything, old, times.now)


def _least(changes: Batch, after: Instant, upto: Instant) -> Instant | None:
    """The first instant in ``(after, upto]`` at which some row has a net step."""
    at = ints(steps(changes), FROM)
    at = at[(at > after) & (at <= upto)]
    return int(at.min()) if len(at) else None


def _stored(first: SweepArea) -> Instant | None:
    found = net(first.query(None))
    return int(fixed(column(found, 0))[0]) if found.num_rows else None


def _moved(area: SweepArea, old: Instant | None, new: Instant | None) -> SweepArea:
    if old == new:
        return area
    moves = [fact((at,), diff) for at, diff in ((old, -1), (new, 1)) if at is not None]
    return area.insert(from_changes(moves, area.layout.schema)).reorganize()
