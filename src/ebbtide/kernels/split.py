"""Split: the input's changes, cut into pieces on a grid.

Law: the output is the input, at every instant (paper 4, section 4.2.4).
State: none.
Emits: each change in pieces that end on the multiples of the size; a change without beginning or
end stays whole, for it has no number of pieces.
Forgets: nothing, it holds nothing.

    grid  |-----|-----|-----|-----|
    in       |===========)   |=============== ...
    out      |==|=====|==)   |=============== ...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.linear import Linear, repeated
from ebbtide.state.arrays import ranges
from ebbtide.state.batch import DIFF, FROM, TO, with_times
from ebbtide.state.columns import ints


@dataclass(frozen=True, slots=True)
class Split(Linear):
    """Pieces of ``size_us``."""

    size_us: Duration

    def changes(self, changes: Batch) -> Batch:
        """The changes in pieces."""
        start, end = ints(changes, FROM), ints(changes, TO)
        finite = (start > NEG_INF) & (end < INF)
        low = np.where(finite, start, 0) // self.size_us
        counts = np.where(finite, end - 1, 0) // self.size_us - low + 1
        if (counts == 1).all():
            return changes
        section = ranges(low, counts) * self.size_us
        first, last = np.repeat(start, counts), np.repeat(end, counts)
        cut = np.repeat(finite, counts)
        valid_from = np.where(cut, np.maximum(first, section), first)
        valid_to = np.where(cut, np.minimum(last, section + self.size_us), last)
        pieces = repeated(changes, counts)
        return with_times(pieces, valid_from, valid_to, ints(pieces, DIFF))
