"""A row per group, with the group's keys and aggregates.

Law: at every instant the row of a group is its keys and each call's value over the rows of the
group that are valid then; an empty group has none, except the one without keys.
State: the input's changes by group, the emitted rows that may still change, and, if all calls are
    sums or choices, each group's accumulators and heirs at ``now``.
Emits: per group the row over each stretch between end points that begins by ``now``; the one that
    spans ``now`` ends at the next end point.
Forgets: what ended by the horizon of the input; and if it folds, also what began by it and never
    ends: accumulators and exact totals stand for the sums, and of choices the best row is kept.

    rows of a group  |------- 3 -------)      |--- 4 ---)
                           |------- 5 -------)
    SUM              |- 3 -|---- 8 ----|- 5 -)|--- 4 ---)
                                     ^ now: the segment with 8 is emitted up to the end of 3

Two ways lead there.  If all calls are sums or choices, rows that come and go move the accumulators,
and only rows that begin or end in the region are read, except for choices by the order of the rows
(`incremental`).  Else the touched groups' valid rows are read and swept once in order (`rescan`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.kernels.aggregates.accumulation import Moment
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.choice import BestRows
from ebbtide.kernels.aggregates.evaluation import shared_moments
from ebbtide.kernels.aggregates.extremes import has_heirs, heirs_layout
from ebbtide.kernels.aggregates.incremental import move
from ebbtide.kernels.aggregates.rescan import sweep_groups
from ebbtide.kernels.aggregates.results import moment_of
from ebbtide.kernels.aggregates.totals import BYTES
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.layout import Endless, Layout


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The kernel of GROUP BY: key columns and calls, by position.

    It ``folds`` rows that never end.  All calls are sums or choices then, and if there are choices,
    no row that never ends is taken back.
    """

    keys: tuple[int, ...]
    calls: tuple[Call, ...]
    folds: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        types = [inputs[0].field(i).type for i in self.keys]
        return batch_schema([*types, *(call.type for call in self.calls)])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        own = tuple(range(len(self.keys)))
        moments = self.moments(inputs[0])
        stored = self._stored(inputs[0])
        emitted = Layout("output", self.output(inputs), own)
        if moments is None:
            return stored, emitted
        types = [inputs[0].field(i).type for i in self.keys]
        words = 1 + sum(moment.wholes + moment.reals for moment in moments)
        totals = [BYTES for moment in moments if self.folds and moment.reals]
        lines = batch_schema([*types, *(pa.int64() for _ in range(words)), *totals])
        heirs = (
            heirs_layout(f"heirs{i}", types, inputs[0].field(call.arguments[0]).type)
            for i, call in enumerate(self.calls)
            if has_heirs(call)
        )
        return stored, emitted, Layout("accumulators", lines, own, newest=True), *heirs

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        output = self.output(tuple(table.schema for table in inputs))
        moments = self.moments(inputs[0].schema)
        areas = times.seen(areas)
        if moments is None:
            return sweep_groups(self.keys, self.calls, inputs[0], areas, times, output)
        return move(self.keys, self.calls, moments, inputs[0], areas, times, output, self.folds)

    def _stored(self, schema: Schema) -> Layout:
        """The area of the input, and what becomes of rows in it that never end."""
        if not self.folds:
            return Layout("input", schema, self.keys)
        choices = tuple(call for call in self.calls if call.is_choice)
        if not choices:
            return Layout("input", schema, self.keys, endless=Endless.DROPPED)
        best = BestRows(self.keys, choices)
        return Layout("input", schema, self.keys, endless=Endless.CHOSEN, chooser=best)

    def moments(self, schema: Any) -> tuple[Moment, ...] | None:
        """What is summed, if all calls are sums or choices; else None."""
        if not all(call.is_sum or call.is_choice for call in self.calls):
            return None
        found = (moment_of(call, schema) for call in self.calls if call.is_sum)
        return shared_moments(moment for moment in found if moment is not None)
