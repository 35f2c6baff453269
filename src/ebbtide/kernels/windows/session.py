"""SESSION: every fact with the session of its partition in which it lies; and as a window.

Law: each fact opens ``[ts, ts + gap)``; in a partition, intervals that overlap or touch are one
session, whose start and end every fact of it gets as ``window_start`` and ``window_end``; as a
window, ``[SESSION gap]``, the fact is valid from its time to that end.
State: the facts of sessions that can still grow, split or merge, with their session.
Emits: each fact with its session as far as that is known; what makes the session longer, merges it
with another or splits it takes its facts back and brings them again.  What is emitted does not
depend on ``now``.
Forgets: a session when ``window_end <= horizon``: every later fact comes after its end.

    facts             x   x  x           x  x
    each opens        |-------)          |-------)
                          |-------)         |-------)
                             |-------)
    sessions          [==============)   [==========)
    as a window       |==============)
                          |==========)
    a late fact                  y
    opens                        |-------)
    one session       [=============================)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.kernels.condition import stretches
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.stateless import timed, wider, with_columns
from ebbtide.kernels.sweeps.facts import Known, known, sorted_facts, summed
from ebbtide.kernels.sweeps.timeline import shift
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, differs
from ebbtide.state.batch import key_hash, with_times
from ebbtide.state.layout import Layout
from ebbtide.state.netting import net_points


class Placed(NamedTuple):
    """Facts, by their places, and start and end of their sessions."""

    places: Ints
    start: Ints
    end: Ints


class Moved(NamedTuple):
    """Facts, by their places, with a session that they come to or leave, and how often."""

    places: Ints
    start: Ints
    end: Ints
    diff: Ints


@dataclass(frozen=True, slots=True)
class Session:
    """Sessions by the time in column ``on``, a gap of ``gap_us`` apart."""

    on: int
    gap_us: Duration
    partition: tuple[int, ...] = ()

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, then start and end of the session."""
        return wider(inputs[0], [pa.int64(), pa.int64()])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The facts with their sessions, valid from the start to an instant after the end."""
        return (Layout("sessions", wider(inputs[0], [pa.int64(), pa.int64()]), self.partition),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What the new facts, and those that never were, change in the sessions they touch."""
        facts, ts = timed(inputs[0], self.on)
        (area,) = times.seen(areas)
        if not facts.num_rows:
            schema = self.output((facts.schema,))
            return Result(schema.empty_table(), (area.reorganize(times.inputs[0]),))
        hashes = key_hash(facts, self.partition)
        partitions, since, until = stretches(hashes, ts, shift(ts, self.gap_us + 1))
        stored = area.query(partitions, since, until)
        found = sorted_facts(known(stored, facts, self.partition), self.on)
        moved = self._moved(found)
        rows = with_columns(found.facts.take(pa.array(moved.places)), [moved.start, moved.end])
        state = with_times(rows, moved.start, shift(moved.end, 1), moved.diff)
        return Result(self._shown(found, rows, moved), (settled(area, state, times.inputs[0]),))

    def _shown(self, found: Known, rows: Batch, moved: Moved) -> Batch:
        """The facts with their sessions, as facts."""
        first, last = (np.full(len(moved.diff), end, np.int64) for end in (NEG_INF, INF))
        return with_times(rows, first, last, moved.diff)

    def _moved(self, found: Known) -> Moved:
        """The facts whose session is another one than before."""
        before, after = self._sessions(found, found.before), self._sessions(found, found.after)
        places, start, end = (np.concatenate(both) for both in zip(after, before, strict=True))
        counts = np.concatenate([found.after[after.places], -found.before[before.places]])
        chosen, diff = summed([places, start, end], counts)
        return Moved(places[chosen], start[chosen], end[chosen], diff)

    def _sessions(self, found: Known, copies: Ints) -> Placed:
        """The facts that are there, and their sessions."""
        places = np.flatnonzero(copies)
        if not len(places):
            return Placed(places, places, places)
        ts = found.times(self.on)[places]
        begins = differs([found.partitions[places]])
        begins[1:] |= ts[1:] > shift(ts[:-1], self.gap_us)
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(places)) - 1
        session = np.cumsum(begins) - 1
        return Placed(places, ts[first][session], shift(ts[last], self.gap_us)[session])


@dataclass(frozen=True, slots=True)
class Sessions(Session):
    """The window: each fact from its time to the end of its session."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns."""
        return inputs[0]

    def _shown(self, found: Known, rows: Batch, moved: Moved) -> Batch:
        """The facts over what is added to their intervals, or taken from them."""
        ts = found.times(self.on)[moved.places]
        points = net_points(moved.places, ts, moved.end, moved.diff)
        steps = np.flatnonzero(points.level)
        facts = found.facts.take(pa.array(points.ids[steps]))
        return with_times(facts, points.at[steps], points.at[steps + 1], points.level[steps])
