"""Recursion: facts that follow from earlier facts of their own, up to ``now``.

Law: after every step, the facts that were emitted are those that follow from them and from what
enters from outside, as far as their time is at or before ``now``.  What follows is later by a gain,
so that all facts within a gain of the first ones that have not been followed can be followed in
one round: whatever comes of them is later than they are.
State: the facts that are later than ``now``.
Emits: a fact in the round in which it is followed; what a late row changes is taken back and added
from there on.
Forgets: what it has emitted; what others have to remember of it is in their areas.

    enters          a
    followed            b       c       d   |
                    └─gain─┴─gain─┴─gain─┘  now    d + gain waits

The rounds of a step are run by its task: see ``dataflow.cycle``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Duration, Instant, shift
from ebbtide.kernels.kernel import Batch, Kernel, Result, Schema, Times
from ebbtide.kernels.operators.anti_join import AntiJoin
from ebbtide.kernels.operators.join import Join
from ebbtide.kernels.operators.outer_join import OuterJoin
from ebbtide.kernels.operators.semi_join import SemiJoin
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, cancel, concat, payload, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep, times_of
from ebbtide.state.layout import Layout, by_rows
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Recursion:
    """The kernel of a recursion in the time of a column.

    Without a gain all facts that there are can be followed at once.
    """

    on: int
    gain_us: Duration | None = None

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What is derived is what is followed."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The facts that are later than ``now``; in the area each ends when it is due."""
        return (by_rows("later", inputs[0]),)

    def due(self, area: SweepArea, times: Times) -> Batch:
        """The facts that have waited and are due."""
        if times.now <= times.before:
            return area.none.changes
        return _times_set(area.moved(times.before + 1, times.now).changes, None)

    def parted(self, changes: Batch, now: Instant) -> tuple[Batch, Batch]:
        """Facts up to ``now``, and those that are later."""
        due = times_of(changes, self.on) <= now
        if due.all():
            return changes, changes.slice(0, 0)
        return where(changes, due), where(changes, ~due)

    def earliest(self, changes: Batch) -> Instant:
        """The first time of some facts."""
        return int(times_of(changes, self.on).min())

    def first(self, changes: Batch) -> tuple[Batch, Batch]:
        """The facts that can be followed next, and the rest."""
        if self.gain_us is None or not changes.num_rows:
            return changes, changes.slice(0, 0)
        return self.parted(changes, shift(self.earliest(changes), self.gain_us - 1))

    def left(self, later: Batch, area: SweepArea, now: Instant) -> SweepArea:
        """The area after a step: without what was due, with more that is later than ``now``."""
        ends = times_of(later, self.on)
        keep = Keep(((After(ENDS, now),),))
        return area.insert(_times_set(later, ends), keep=keep).reorganize(keep)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """A step in which nothing follows: facts wait until they are due."""
        due = self.due(areas[0], times)
        new, later = self.parted(inputs[0], times.now)
        changes = cancel(concat([due, new], new.schema))
        return Result(changes, (self.left(later, areas[0], times.now),))


def seeks_singly(kernel: Kernel, side: int) -> bool:
    """Whether each row of an input looks for its partners by itself.

    Then what is stored of that input is read by changes of the other one alone.
    """
    match kernel:
        case Join():
            return True
        case SemiJoin() | AntiJoin():
            return side == 0
        case OuterJoin(keeps_left=left, keeps_right=right):
            return not (right if side == 0 else left)
        case _:
            return False


def _times_set(changes: Batch, ends: Ints | None) -> Batch:
    """Facts that end at some time, or never."""
    start: Ints = np.full(changes.num_rows, NEG_INF, np.int64)
    stop: Ints = np.full(changes.num_rows, INF, np.int64) if ends is None else ends
    rows = [changes.column(i) for i in payload(changes)]
    times = [pa.array(start), pa.array(stop), pa.array(ints(changes, DIFF))]
    return pa.Table.from_arrays([*rows, *times], schema=changes.schema)
