"""TopN: the rows of each partition whose number in an order is in a range.

Law: at every instant, the rows of each partition, numbered by ROW_NUMBER (ties by all columns),
RANK or DENSE_RANK, whose number is greater than ``offset`` and at most ``offset + count``.
State: the rows of every partition that are not over by the horizon, and what was emitted of them.
Emits: per partition the segments that begin at or before ``now``; what spans ``now`` ends at the
partition's next known end point, and is shortened if something ends it early.
Forgets: rows, and emitted segments, that ended by the horizon: every later change begins after
them.  The whole partition stays until then, for a row that goes may let any other in.

    rows by order    a      |-----------------)
                     b  |-----------------------)
                     c          |---------------)
    first two        a      |=================)
                     b  |=======================)
                     c                        |=)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.ordering import SortColumn, in_order, sort_words
from ebbtide.kernels.stateless import wider, with_columns
from ebbtide.kernels.sweeps.numbering import Events, Ranking, Wanted, listed
from ebbtide.kernels.sweeps.rederivation import Part, Region, rederive
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, differs, order_by
from ebbtide.state.batch import DIFF, FROM, TO, payload, with_times
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout

_MOST = 2**62


@dataclass(frozen=True, slots=True)
class TopN:
    """``count`` rows after ``offset`` of each partition; ``numbered`` adds the number."""

    count: int
    order: tuple[SortColumn, ...]
    partition: tuple[int, ...] = ()
    ranking: Ranking = Ranking.ROW_NUMBER
    offset: int = 0
    numbered: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns, and the number if it is wanted."""
        return wider(inputs[0], [pa.int64()]) if self.numbered else inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows, and what was emitted."""
        return (
            Layout("rows", inputs[0], self.partition),
            Layout("output", self.output(inputs), self.partition),
        )

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What has changed in the numbering of the touched partitions."""
        return rederive(self.listed, inputs, areas, times, self.output((inputs[0].schema,)))

    @property
    def limit(self) -> int:
        """The last number of the range."""
        return min(min(self.offset, _MOST) + self.count, _MOST)

    @property
    def first(self) -> TopN:
        """The rows up to the end of the range, without their numbers."""
        return replace(self, count=self.limit, offset=0, numbered=False)

    def listed(self, parts: tuple[Part, ...], region: Region) -> Part:
        """The rows of each group whose number is in the range."""
        rows = in_places(parts[0], self.order)
        wanted = Wanted(self.ranking, min(self.offset, _MOST), self.limit, self.numbered)
        found = listed(events(rows, region.groups), rows.peers, wanted, region.now)
        taken = rows.changes.take(pa.array(found.places))
        if self.numbered:
            taken = with_columns(taken, [found.numbers])
        return Part(
            with_times(taken, found.valid_from, found.valid_to, found.counts),
            rows.groups[found.places],
        )


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows by group and order; rows that the order does not tell apart have one peer number."""

    changes: Batch
    groups: Ints
    peers: Ints


def in_places(part: Part, order: tuple[SortColumn, ...]) -> Ordered:
    """The rows of a part by group, order and all columns."""
    words = [part.groups, *(w for sort in order for w in sort_words(part.changes, sort))]
    places = in_order(part.changes, words, payload(part.changes))
    peers = np.cumsum(differs([word[places] for word in words]), dtype=np.int64)
    return Ordered(part.changes.take(pa.array(places)), part.groups[places], peers)


def events(rows: Ordered, groups: int) -> Events:
    """The end points of the rows."""
    count = len(rows.groups)
    ids = np.concatenate([rows.groups, rows.groups])
    at = np.concatenate([ints(rows.changes, FROM), ints(rows.changes, TO)])
    steps = np.concatenate([ints(rows.changes, DIFF), -ints(rows.changes, DIFF)])
    order = order_by(ids, at)
    starts = np.searchsorted(ids[order], np.arange(groups + 1))
    return Events(starts, at[order], order % count if count else order, steps[order])
