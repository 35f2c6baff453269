"""The window of the last rows: ROWS n, ROWS n SLIDE m, with PARTITION BY.

Law: let the facts of a partition be numbered from 1 in the order (time, key, all columns, NULLs
first).  Fact ``i`` is valid from the time of fact ``CEIL(i TO m)`` to that of fact
``CEIL(i + n TO m)``, where a fact that has not come has the time ``inf``; ``m`` is 1 without
SLIDE (paper 3's tumbling row window is ``m = n``).
State: the facts that still have to be seen leaving, each with the time at which its whole slide
is done with: that of fact ``CEIL(i TO m) + CEIL(n TO m)``.
Emits: each fact once it is shown, valid for ever until the fact comes that ends it.  Late facts
and deletions realign what follows them.  What is emitted does not depend on ``now``.
Forgets: by the rule of its input: a slide once the horizon, at or below which no fact to come lies,
has come to the time at which it is done with.  That leaves the last ``n`` facts at or below the
horizon, and those of at most two slides.  Only whole slides go, so the numbers of the others stay
the same modulo ``m``, which is all that the law looks at.

    [ROWS 2]        a     b        c   d        a late x     a     b  x     c   d
    a               |==============)            a            |========)
    b                     |============)        b                  |========)
    c                              |==== ...    x                     |=========)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF
from ebbtide.kernels.condition import stretches
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.stateless import timed, wider, with_columns
from ebbtide.kernels.sweeps.facts import Known, known, sorted_facts, summed
from ebbtide.kernels.sweeps.timeline import ceil_to, shift
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import key_hash, with_times
from ebbtide.state.layout import Layout
from ebbtide.state.netting import net_points


class Shown(NamedTuple):
    """Every copy of a fact: its place, when it is shown, and when its slide is done with."""

    places: Ints
    valid_from: Ints
    valid_to: Ints
    done: Ints


@dataclass(frozen=True, slots=True)
class Rows:
    """The last ``count`` facts by the time in column ``on``, seen every ``slide`` facts."""

    on: int
    count: int
    slide: int = 1
    partition: tuple[int, ...] = ()
    key: tuple[int, ...] = ()

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The facts, each with the time at which it is done with."""
        return (Layout("facts", wider(inputs[0], [pa.int64()]), self.partition),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What the new facts, and those that never were, change in their partitions."""
        facts, ts = timed(inputs[0], self.on)
        (area,) = times.seen(areas)
        if not facts.num_rows:
            return Result(facts, (area.reorganize(times.inputs[0]),))
        partitions, since, _ = stretches(key_hash(facts, self.partition), ts, ts)
        # What is done with before the first change keeps its number modulo the slide, and its end.
        stored = area.query(partitions, since)
        found = sorted_facts(known(stored, facts, self.partition), self.on, self.key)
        before, after = _differing(
            found, self._shown(found, found.before), self._shown(found, found.after)
        )
        state = self._state(found, before, after)
        return Result(_output(found, before, after), (settled(area, state, times.inputs[0]),))

    def _shown(self, found: Known, copies: Ints) -> Shown:
        """Numbers the copies of the facts, and looks up the times at the numbers of the law."""
        places = np.repeat(np.arange(len(copies)), copies)
        partitions, times = found.partitions[places], found.times(self.on)[places]
        counts = np.bincount(partitions, minlength=int(found.partitions.max(initial=-1)) + 1)
        first = np.cumsum(counts) - counts
        numbers = np.arange(len(places)) - first[partitions] + 1

        def time_of(number: Ints) -> Ints:
            there = number <= counts[partitions]
            at = np.where(there, first[partitions] + number - 1, 0)
            return np.where(there, times[at], INF) if len(times) else times

        seen = ceil_to(numbers, self.slide)
        size = -(-self.count // self.slide) * self.slide
        return Shown(
            places,
            time_of(seen),
            time_of(ceil_to(numbers + self.count, self.slide)),
            time_of(seen + size),
        )

    def _state(self, found: Known, before: Shown, after: Shown) -> Batch:
        """The facts whose slide is done with at another time than before."""
        places = np.concatenate([after.places, before.places])
        done = np.concatenate([after.done, before.done])
        signs = np.repeat(np.array([1, -1]), [len(after.places), len(before.places)])
        chosen, diff = summed([places, done], signs)
        places, done = places[chosen], done[chosen]
        rows = with_columns(found.facts.take(pa.array(places)), [done])
        return with_times(rows, found.times(self.on)[places], shift(done, 1), diff)


def _differing(found: Known, before: Shown, after: Shown) -> tuple[Shown, Shown]:
    """Both without the copies that are the same; those of facts counted alike are in line."""
    alike = found.before == found.after
    old, new = np.flatnonzero(alike[before.places]), np.flatnonzero(alike[after.places])
    same = np.ones(len(old), np.bool_)
    for was, is_ in zip(before, after, strict=True):
        same &= was[old] == is_[new]
    return (
        Shown(*(np.delete(values, old[same]) for values in before)),
        Shown(*(np.delete(values, new[same]) for values in after)),
    )


def _output(found: Known, before: Shown, after: Shown) -> Batch:
    ids = np.concatenate([after.places, before.places])
    valid_from = np.concatenate([after.valid_from, before.valid_from])
    valid_to = np.concatenate([after.valid_to, before.valid_to])
    signs = np.repeat(np.array([1, -1]), [len(after.places), len(before.places)])
    some = valid_from < valid_to
    points = net_points(ids[some], valid_from[some], valid_to[some], signs[some])
    steps = np.flatnonzero(points.level)
    rows = found.facts.take(pa.array(points.ids[steps]))
    return with_times(rows, points.at[steps], points.at[steps + 1], points.level[steps])
