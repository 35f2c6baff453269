"""Held: changes wait until they begin.

Law: after every step, the changes that were emitted are those that came, without the ones that
begin after ``now``; snapshots up to ``now`` are the input's.
State: the changes that begin after ``now``.
Emits: a change when ``now`` reaches its beginning, with its whole interval.
Forgets: what it has emitted.

    now      |
    in   |-------)      emitted
              |------)  held until now is there

What is shown of the time after ``now`` is an upper bound: a change that cuts a row short later on
waits for its own beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import NEG_INF
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, cancel, payload, row_types, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Held:
    """Lets pass what has begun."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes goes."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The waiting changes; each ends where it begins, so that it is found and goes then."""
        types = row_types(inputs[0])
        schema = batch_schema([*types, pa.int64()])
        return (Layout("held", schema, tuple(range(len(types)))),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The changes that have begun by now."""
        (changes,), (area,) = inputs, areas
        if times.now > times.before:
            due = area.moved(times.before + 1, times.now).changes
            if due.num_rows:
                changes = cancel(pa.concat_tables([changes, _woken(due, changes.schema)]))
        begun = ints(changes, FROM) <= times.now
        # In the area a change ends where it begins.
        keep = Keep(((After(ENDS, times.now),),))
        area = area.insert(_waiting(where(changes, ~begun), area.layout.schema))
        return Result(where(changes, begun), (area.reorganize(keep),))


def _waiting(changes: Batch, schema: Schema) -> Batch:
    """Changes as they wait: their end is a column, and their beginning is when they go."""
    start: Ints = np.full(changes.num_rows, NEG_INF, np.int64)
    rows = [changes.column(i) for i in payload(changes)]
    times = [pa.array(start), changes.column(FROM), changes.column(DIFF)]
    return pa.Table.from_arrays([*rows, changes.column(TO), *times], schema=schema)


def _woken(waiting: Batch, schema: Schema) -> Batch:
    """Changes as they were before they waited."""
    *rows, end = [waiting.column(i) for i in payload(waiting)]
    times = [waiting.column(TO), end, waiting.column(DIFF)]
    return pa.Table.from_arrays([*rows, *times], schema=schema)
