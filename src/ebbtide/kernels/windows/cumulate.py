"""CUMULATE: every fact with each growing window of its section that it lies in.

Law: a fact at ``ts`` is there once for each ``end`` on the grid of the step with
``ts < end <= FLOOR(ts TO size) + size``; ``window_start`` is where the section begins.
State: none.
Emits: each change of a fact with a time at once, once per window, over the change's own interval.
Forgets: nothing, it holds nothing.

    ts             x
    steps   |---|---|---|---|
    windows |=======|
            |===========|
            |===============|
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import Duration
from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.stateless import Linear, repeated, timed, wider, with_columns
from ebbtide.kernels.sweeps.timeline import floor_to
from ebbtide.state.arrays import ranges


@dataclass(frozen=True, slots=True)
class Cumulate(Linear):
    """Windows that grow by ``step_us`` up to ``size_us``, on the time in column ``on``."""

    on: int
    step_us: Duration
    size_us: Duration
    offset_us: Duration = 0

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, then start and end of the window."""
        return wider(inputs[0], [pa.int64(), pa.int64()])

    def changes(self, changes: Batch) -> Batch:
        """The facts with each of their windows."""
        facts, ts = timed(changes, self.on)
        start = floor_to(ts, self.size_us, self.offset_us)
        passed = (ts - start) // self.step_us
        counts = self.size_us // self.step_us - passed
        steps = ranges(passed + 1, counts)
        start = np.repeat(start, counts)
        return with_columns(repeated(facts, counts), [start, start + steps * self.step_us])
