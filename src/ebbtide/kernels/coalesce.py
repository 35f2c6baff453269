"""Coalesce: fewer changes that say the same.

Law: the output is the input, at every instant (paper 4, section 4.2.4).
State: none.  What would have to wait for the next step is not merged with it.
Emits: the net effect of a step's changes, where neighbouring intervals of one row become one as
long as that is no longer than the limit.
Forgets: nothing, it holds nothing.

    in            |---)
                      |-----)
                            |-----)
    out           |---------------)
    with a limit  |---------)-----)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import Duration
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.linear import Linear
from ebbtide.kernels.timeline import shift
from ebbtide.state.arrays import Ints, differs, order_by
from ebbtide.state.batch import DIFF, FROM, TO, codes, net, payload, with_times
from ebbtide.state.columns import ints


@dataclass(frozen=True, slots=True)
class Coalesce(Linear):
    """Merges up to ``limit_us``; None is without limit."""

    limit_us: Duration | None = None

    def changes(self, changes: Batch) -> Batch:
        """The net effect of the changes."""
        if not changes.num_rows:
            return changes
        return net(changes) if self.limit_us is None else _merged(changes, self.limit_us)


def _merged(changes: Batch, limit_us: Duration) -> Batch:
    rows = codes(changes, payload(changes))
    ids = np.concatenate([rows.ids, rows.ids])
    at = np.concatenate([ints(changes, FROM), ints(changes, TO)])
    steps = np.concatenate([ints(changes, DIFF), -ints(changes, DIFF)])
    order = order_by(ids, at)
    begins = np.flatnonzero(differs([ids[order], at[order]]))
    ids, at = ids[order][begins], at[order][begins]
    # The steps of one row add up to 0, so the running sum starts anew with every row.
    level = np.cumsum(np.add.reduceat(steps[order], begins))
    first, last = _joined(at, level, shift(at, limit_us))
    taken = changes.take(pa.array(rows.first[ids[first]]))
    return with_times(taken, at[first], at[last], level[first])


@njit(cache=True)
def _joined(at: Ints, level: Ints, limit: Ints) -> Any:
    """Runs of neighbouring stretches with one level, none of several longer than the limit."""
    first = np.empty(len(at), np.int64)
    last = np.empty(len(at), np.int64)
    count = 0
    place = 0
    while place < len(at):
        if level[place] == 0:
            place += 1
            continue
        start = place
        place += 1
        while level[place] == level[start] and at[place + 1] <= limit[start]:
            place += 1
        first[count], last[count] = start, place
        count += 1
    return first[:count], last[:count]
