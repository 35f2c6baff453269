"""TUMBLE: every fact with the section of time that it lies in.

Law: a fact at ``ts`` gets ``window_start = FLOOR(ts TO size)``, on a grid that an offset
may move, and ``window_end`` one size later.
State: none.
Emits: each change of a fact with a time at once, over the change's own interval.
Forgets: nothing, it holds nothing.

    ts           x
    grid   |-----------|-----------|
    window |===========|
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ebbtide.core.time import Duration
from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.stateless import Linear, timed, wider, with_columns
from ebbtide.kernels.sweeps.timeline import floor_to, shift


@dataclass(frozen=True, slots=True)
class Tumble(Linear):
    """Windows of ``size_us`` on the time in column ``on``."""

    on: int
    size_us: Duration
    offset_us: Duration = 0

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, then start and end of the window."""
        return wider(inputs[0], [pa.int64(), pa.int64()])

    def changes(self, changes: Batch) -> Batch:
        """The facts with their window."""
        facts, ts = timed(changes, self.on)
        start = floor_to(ts, self.size_us, self.offset_us)
        return with_columns(facts, [start, shift(start, self.size_us)])
