"""A row per group, with the group's keys and aggregates.

Law: at every instant the row of a group is its keys and each call's value over the rows of the
group that are valid then; an empty group has none, except the one without keys.
State: the input's changes by group, the emitted rows that may still change, and, if all calls are
    sums or extremes, each group's accumulators and heirs at ``now``.
Emits: per group the row over each stretch between end points that begins by ``now``; the one that
    spans ``now`` ends at the next end point.
Forgets: what ended by the horizon of the input; also what began by it and never ends, if whole
    numbers are summed, which the accumulators stand for.

    rows of a group  |------- 3 -------)      |--- 4 ---)
                           |------- 5 -------)
    SUM              |- 3 -|---- 8 ----|- 5 -)|--- 4 ---)
                                     ^ now: the segment with 8 is emitted up to the end of 3

Two ways lead there.  If all calls are sums (COUNT, SUM, AVG, the variances) or extremes (MIN, MAX,
BOOL_AND, BOOL_OR), rows that come and go move the accumulators, and only rows that begin or end in
the region are read (`moving`).  Else the touched groups' valid rows are read and swept once in
order (`sweeping`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.kernels.aggregates.accumulation import Moment
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.evaluation import shared_moments
from ebbtide.kernels.aggregates.extremes import EXTREMES, heirs_layout
from ebbtide.kernels.aggregates.incremental import move
from ebbtide.kernels.aggregates.rescan import sweep_groups
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.layout import Endless, Layout


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The kernel of GROUP BY: key columns and calls, by position."""

    keys: tuple[int, ...]
    calls: tuple[Call, ...]

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        types = [inputs[0].field(i).type for i in self.keys]
        return batch_schema([*types, *(call.type for call in self.calls)])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        own = tuple(range(len(self.keys)))
        moments = self.moments(inputs[0])
        stored = Layout("input", inputs[0], self.keys, endless=self._endless(moments))
        emitted = Layout("output", self.output(inputs), own)
        if moments is None:
            return stored, emitted
        types = [inputs[0].field(i).type for i in self.keys]
        words = 1 + sum(moment.wholes + moment.reals for moment in moments)
        lines = batch_schema([*types, *(pa.int64() for _ in range(words))])
        heirs = (
            heirs_layout(f"heirs{i}", types, inputs[0].field(call.arguments[0]).type)
            for i, call in enumerate(self.calls)
            if call.function in EXTREMES
        )
        return stored, emitted, Layout("accumulators", lines, own, newest=True), *heirs

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        output = self.output(tuple(table.schema for table in inputs))
        moments = self.moments(inputs[0].schema)
        areas = times.seen(areas)
        if moments is None:
            return sweep_groups(self.keys, self.calls, inputs[0], areas, times, output)
        return move(self.keys, self.calls, moments, inputs[0], areas, times, output)

    def _endless(self, moments: tuple[Moment, ...] | None) -> Endless:
        """Sums of whole numbers stand for rows that never end; others may have to be made anew."""
        extreme = any(call.function in EXTREMES for call in self.calls)
        if moments is None or extreme or any(moment.reals for moment in moments):
            return Endless.KEPT
        return Endless.DROPPED

    def moments(self, schema: Any) -> tuple[Moment, ...] | None:
        """What is summed, if all calls are sums or extremes; else None."""
        calls = [call for call in self.calls if call.function not in EXTREMES]
        found = [None if call.distinct else call.moment(schema) for call in calls]
        known = [moment for moment in found if moment is not None]
        return shared_moments(known) if len(known) == len(found) else None
