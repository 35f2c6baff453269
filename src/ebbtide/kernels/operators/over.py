"""Over: every row with the values of calls over its frame in its partition.

Law: at every instant, each row of a partition, numbered in an order (ties by all columns), with
its ROW_NUMBER, RANK or DENSE_RANK, the value of the row some places away (LAG, LEAD), or an
aggregate over its frame.  Without a frame that is the whole partition, or with an order the rows
up to the last peer.
State: the rows of every partition that are not over by the horizon, and what was emitted of them.
Emits: per partition the segments that begin at or before ``now``; what spans ``now`` ends at the
partition's next known end point, and is shortened if something ends it early.  A row is evaluated
where a change is within its frame's reach (`neighbourhoods`), and its value stands until then.
Forgets: rows, and emitted segments, that ended by the horizon: every later change begins after
them.  The whole partition stays until then, for a row that goes may change the values of any.

    a, 3          |---------------)
    b, 4               |-------------------)
    SUM over      |a, 3|a, 3      |
    rows so far        |b, 7      |b, 4     )
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.evaluation import evaluate
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.operators.top_n import Ordered, events, in_places
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.stateless import wider
from ebbtide.kernels.sweeps.frames import Entries, Frame, bounds, entries, frame_spans
from ebbtide.kernels.sweeps.neighbourhoods import FAR, Numbers, Reach, looks
from ebbtide.kernels.sweeps.numbering import Ranking
from ebbtide.kernels.sweeps.rederivation import Part, Region, rederive
from ebbtide.kernels.sweeps.spans import Marks, Spans
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, TO, payload
from ebbtide.state.columns import column, ints
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Number:
    """The number of the row."""

    ranking: Ranking

    def type(self, schema: Schema) -> Any:
        """BIGINT."""
        return pa.int64()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A column of the row ``distance`` places on, or the row's own ``default`` column."""

    value: int
    distance: int
    default: int | None = None

    def type(self, schema: Schema) -> Any:
        """That of the column."""
        return schema.field(self.value).type


@dataclass(frozen=True, slots=True)
class Framed:
    """An aggregate over the frame."""

    call: Call

    def type(self, schema: Schema) -> Any:
        """That of the aggregate."""
        return self.call.type


FrameCall: TypeAlias = Number | Neighbour | Framed


@dataclass(frozen=True, slots=True)
class Over:
    """A column for each call, after those of the input."""

    calls: tuple[FrameCall, ...]
    partition: tuple[int, ...] = ()
    order: tuple[SortColumn, ...] = ()
    frame: Frame | None = None

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns and the calls'."""
        return wider(inputs[0], [call.type(inputs[0]) for call in self.calls])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows, and what was emitted."""
        return (
            Layout("rows", inputs[0], self.partition),
            Layout("output", self.output(inputs), self.partition),
        )

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What has changed in the rows, or around them, in the touched partitions."""
        return rederive(self._valued, inputs, areas, times, self.output((inputs[0].schema,)))

    def _valued(self, parts: tuple[Part, ...], region: Region) -> Part:
        rows = in_places(parts[0], self.order)
        copies, ends = ints(rows.changes, DIFF), ints(rows.changes, TO)
        numbered = any(isinstance(call, Number) for call in self.calls)
        found = looks(
            events(rows, region.groups), self._reach(rows), ends, rows.peers, region.now, numbered
        )
        every = np.repeat(np.arange(len(found.places)), copies[found.places])
        places = found.places[every]
        entered = entries(found.windows[every], places, rows.peers[places])
        valued = np.flatnonzero(found.valued[every])
        taken = rows.changes.take(pa.array(places[valued]))
        times = [
            found.valid_from[every[valued]],
            found.valid_to[every[valued]],
            np.ones(len(valued), np.int64),
        ]
        # Copies of a row stand next to each other, and each counts those before it.
        copy = np.arange(len(every)) - np.searchsorted(every, every)
        numbers = Numbers(found.numbers.rows[every] + copy, *(n[every] for n in found.numbers[1:]))
        made = self.columns(rows.changes, entered, numbers)
        columns = (values.take(pa.array(valued)) for values in made)
        changes = pa.Table.from_arrays(
            [*(taken.column(i) for i in payload(taken)), *columns, *map(pa.array, times)],
            schema=self.output((taken.schema,)),
        )
        return Part(changes, rows.groups[places[valued]])

    def _reach(self, rows: Ordered) -> Reach:
        """How far the values of the calls reach."""
        before, seen, after = 0, 0, 0
        for call in self.calls:
            match call:
                case Number():
                    before = FAR
                case Neighbour(distance=distance):
                    seen, after = max(seen, -distance), max(after, distance)
                case Framed() if self._framed.rows:
                    start, end = self._framed.start, self._framed.end
                    seen = max(seen, FAR if start is None else -start)
                    after = max(after, FAR if end is None else end)
                case Framed():
                    pass
        before = max(before, seen)
        places = np.arange(len(rows.groups))
        if self._framed.rows or not any(isinstance(call, Framed) for call in self.calls):
            return Reach(before, seen, after, places, places + 1, places, places + 1)
        every = entries(rows.groups, places, rows.peers)
        frames = bounds(every, self._framed, rows.changes, self.order)
        members = frame_spans(every, frames)
        return Reach(before, seen, after, *(every.firsts + part for part in (*members, *frames)))

    @property
    def _framed(self) -> Frame:
        """The frame, or what stands for none: all rows, or with an order those up to the peers."""
        return self.frame or Frame(False, None, 0 if self.order else None)

    def columns(self, rows: Batch, found: Entries, numbers: Numbers) -> list[Any]:
        """The values of the calls for rows in an order, and their numbers in it."""
        framed = [call.call for call in self.calls if isinstance(call, Framed)]
        aggregates = iter(self._aggregates(tuple(framed), rows, found)) if framed else iter(())
        result = []
        for call in self.calls:
            match call:
                case Number(ranking=ranking):
                    result.append(pa.array(_numbers(ranking, numbers)))
                case Neighbour():
                    result.append(_neighbours(call, rows, found))
                case Framed():
                    result.append(next(aggregates))
        return result

    def _aggregates(self, calls: tuple[Call, ...], rows: Batch, found: Entries) -> list[Any]:
        if not len(found.rows):
            return [pa.nulls(0, call.type) for call in calls]
        start, end = frame_spans(found, bounds(found, self._framed, rows, self.order))
        # Numbers are the instants here.  What is in the last frame does not end at any of them.
        end = np.where(end < found.sizes, end, INF)
        ones = np.ones(len(start), np.int64)
        spans = Spans(found.segments, start, end, ones, found.rows)
        marks = Marks(found.segments, found.numbers)
        seen = spans.chosen((start < end) & (start < found.sizes))
        return evaluate(calls, rows, seen, marks, int(found.sizes.max()) - 1)


def _numbers(ranking: Ranking, numbers: Numbers) -> Any:
    match ranking:
        case Ranking.ROW_NUMBER:
            return numbers.rows + 1
        case Ranking.RANK:
            return numbers.peers + 1
        case Ranking.DENSE_RANK:
            return numbers.values + 1


def _neighbours(call: Neighbour, rows: Batch, found: Entries) -> Any:
    """The column's values some places on; beyond the partition, the defaults, or NULL."""
    other = found.numbers + call.distance
    inside = (other >= 0) & (other < found.sizes)
    values = column(rows, call.value)
    there = found.rows[np.where(inside, found.firsts + other, 0)] if len(other) else other
    if call.default is None:
        return values.take(pa.array(there, mask=~inside))
    both = pa.concat_arrays([values, column(rows, call.default).cast(values.type)])
    return both.take(pa.array(np.where(inside, there, len(values) + found.rows)))
