"""HOP: every fact with each window of a sliding grid that it lies in.

Law: a fact at ``ts`` is there once for each multiple ``start`` of the slide with
``start <= ts < start + size``, with ``window_start`` and ``window_end``; never, if a slide longer
than the size leaves it in a gap.
State: none.
Emits: each change of a fact with a time at once, once per window, over the change's own interval.
Forgets: nothing, it holds nothing.

    ts               x
    slide  |---|---|---|---|
    windows    |===========|
           |===========|
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import Duration
from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.stateless import Linear, repeated, timed, wider, with_columns
from ebbtide.kernels.sweeps.timeline import floor_to, shift, since
from ebbtide.state.arrays import ranges


@dataclass(frozen=True, slots=True)
class Hop(Linear):
    """Windows of ``size_us`` that begin every ``slide_us``, on the time in column ``on``."""

    on: int
    slide_us: Duration
    size_us: Duration
    offset_us: Duration = 0

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, then start and end of the window."""
        return wider(inputs[0], [pa.int64(), pa.int64()])

    def changes(self, changes: Batch) -> Batch:
        """The facts with each of their windows."""
        facts, ts = timed(changes, self.on)
        last = floor_to(ts, self.slide_us, self.offset_us)
        # Starts are last, last - slide, ... as long as the window still reaches ts.
        passed = since(ts, self.slide_us, self.offset_us)
        counts = (self.size_us - passed - 1) // self.slide_us + 1
        back = ranges(np.zeros(len(counts), np.int64), counts)
        start = np.repeat(last, counts) - back * self.slide_us
        return with_columns(repeated(facts, counts), [start, shift(start, self.size_us)])
