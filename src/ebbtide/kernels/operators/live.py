"""Live: the answer of a view, as it is now.

Law: at every instant from ``now`` on, what is stored sums up to what was emitted so far.
State: the changes that end after ``now``, as if they had begun long ago.
Emits: nothing.
Forgets: what has ended.

    now          |
    emitted  |---------)    stored, without its beginning
                 |-------)
             |-)            gone

That a change has begun is all that counts from now on, so a row and its end cancel out, however
far apart they came: what is stored follows the size of the answer, not its history.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbtide.core.time import NEG_INF
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, FROM, TO, cancel, where, with_times
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout, by_rows
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Live:
    """Keeps what is valid from now on."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes, of which nothing goes on."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The answer."""
        return (by_rows("live", inputs[0]),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The answer after what was emitted."""
        (changes,), (area,) = inputs, areas
        empty = changes.slice(0, 0)
        # Most of what a step of many rows emits has ended within it.
        changes = where(changes, ints(changes, TO) > times.now)
        start = ints(changes, FROM)
        begun = np.where(start <= times.now, NEG_INF, start)
        stored = cancel(with_times(changes, begun, ints(changes, TO), ints(changes, DIFF)))
        keep = Keep(((After(ENDS, times.now),),))
        return Result(empty, (area.insert(stored, keep=keep).reorganize(keep),))
