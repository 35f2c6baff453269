"""TopN on facts of which none is ever taken back: the first rows of each partition.

Law: that of TopN.  A fact that comes moves others back and none ahead, so one whose number is
beyond the range never comes back into it.
State: of each partition the rows whose number is at most ``offset + count``.
Emits: the rows that enter the range, and takes back those that leave it; where the number is part
of a row, also those whose number changes.  What was emitted follows from the stored rows.
Forgets: a row when others have moved it out of the range, and by the rule of its input.

    first two, by order        stored        a late b
    a, c, d                    a, c          a, b; takes back c
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import sort_words
from ebbtide.kernels.sweeps.numbering import Ranking
from ebbtide.kernels.sweeps.rederivation import Part, Region
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import differs, distinct
from ebbtide.state.batch import codes, concat, minus, net
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class TopFacts:
    """The rows that a TopN lists of facts that only come."""

    top: TopN

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, and the number if it is wanted."""
        return self.top.output(inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The first rows."""
        return (Layout("rows", inputs[0], self.top.partition),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What the new facts change among the first rows of their partitions."""
        (area,) = times.seen(areas)
        new = self._promising(inputs[0])
        if not new.num_rows:
            nothing = self.output((inputs[0].schema,)).empty_table()
            return Result(nothing, (area.reorganize(times.inputs[0]),))
        stored = net(area.query(distinct(area.hash(new))))
        first = self._listed(net(concat([stored, new], new.schema)), self.top.first, times)
        changes = minus(
            times.open.of(self._listed(first, self.top, times)),
            times.open.of(self._listed(stored, self.top, times)),
        )
        return Result(changes, (settled(area, minus(first, stored), times.inputs[0]),))

    def _promising(self, changes: Batch) -> Batch:
        """The new facts that are among the first of their partition, as far as these tell.

        Most facts are far behind: they are left out by their order alone, before anything else is
        read of them.
        """
        if not changes.num_rows:
            return changes
        groups = codes(changes, self.top.partition).ids
        words = [groups, *(w for sort in self.top.order for w in sort_words(changes, sort))]
        order = np.lexsort(tuple(words[::-1]))
        begins = differs([groups[order]])
        peers = np.flatnonzero(differs([word[order] for word in words]))
        # So many rows, or so many different places, are before those of one place.
        before = np.arange(len(peers)) if self.top.ranking is Ranking.DENSE_RANK else peers
        starts = begins[peers]
        before = before - before[starts][np.cumsum(starts) - 1]
        promising = np.repeat(before < self.top.limit, np.diff(np.append(peers, len(order))))
        return changes.take(pa.array(np.sort(order[promising])))

    def _listed(self, rows: Batch, top: TopN, times: Times) -> Batch:
        groups = codes(rows, top.partition)
        region = Region(rows.select([]), np.zeros(groups.count, np.int64), times.now)
        return top.listed((Part(rows, groups.ids),), region).changes
