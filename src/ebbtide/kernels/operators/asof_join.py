"""AsofJoin: each left row with the nearest of its partners, or with NULLs.

Law: at every instant, a left row is paired with the first of the right rows that are there and
meet the condition, in the order (sort columns, all columns); without one it is padded with NULLs,
or left out.  That is linear in the left side: with ``L`` and ``R`` stored and ``dL`` and ``dR``
new, the output changes by ``dL x nearest(R + dR) + L x (nearest(R + dR) - nearest(R))``.  Only
stored left rows that meet a changed right row can have a second term, and only while that is
there; elsewhere both are the same, whatever they are.
State: the rows of both sides that changes to come can meet.
Emits: each pair over the stretches in which it is the nearest, known as they are now; a nearer row
takes them back.  What is emitted does not depend on ``now``.
Forgets: by the rules of its inputs: a left row once no change of the right to come can meet it; a
right row once it can be the partner of no left row, new or stored.

    left                 |------------------------)
    right, at 1     |----------------)
    right, at 2              |----)
    with that of 1       |===)    |==)
    with that of 2           |====)
    padded                           |============)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.kernels.condition import (
    Condition,
    Side,
    hashed,
    joined_rows,
    joined_schema,
    keyless,
    partners,
    together,
)
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.matching import Pairs
from ebbtide.kernels.operators.outer_join import padded
from ebbtide.kernels.ordering import SortColumn, in_order, sort_words
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, FROM, TO, concat, net, payload, where, with_times
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class AsofJoin:
    """The nearest is the first by ``order``, columns of the right side.

    Left rows without a partner are kept if it ``pads``.  Without key columns the right side is
    broadcast.
    """

    condition: Condition
    order: tuple[SortColumn, ...]
    pads: bool

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The columns of both sides."""
        return joined_schema(*inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows of each side."""
        return self.condition.layouts(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The pairs that have come and gone."""
        areas = times.seen(areas)
        new = (
            hashed(inputs[0], self.condition.left),
            hashed(inputs[1], self.condition.right),
        )
        left = Side(new[0], partners(areas[0], new[1]))
        right = Side(new[1], partners(areas[1], *new))
        parts = self._changed(left, right)
        if self.pads:
            alone = keyless(inputs[0], self.condition.left)
            parts.append(padded(alone, (inputs[0].schema, inputs[1].schema), 0))
        stored = tuple(
            settled(area, found.changes, keep, found.hashes)
            for area, found, keep in zip(areas, new, times.inputs, strict=True)
        )
        return Result(net(concat(parts, self.output((inputs[0].schema, inputs[1].schema)))), stored)

    def _changed(self, left: Side, right: Side) -> list[Batch]:
        met = np.unique(self.condition.pairs(left.before, right.new).left)
        touched = Found(left.before.changes.take(pa.array(met)), left.before.hashes[met])
        before, after = self._there(right.before), self._there(right.all)
        return [
            *self._nearest(together(left.new, touched), after, 1),
            *self._nearest(touched, before, -1),
        ]

    def _there(self, rows: Found) -> Found:
        """When each row is there, its changes netted."""
        changes = net(rows.changes)
        return hashed(where(changes, ints(changes, DIFF) > 0), self.condition.right)

    def _nearest(self, left: Found, right: Found, sign: int) -> list[Batch]:
        """The left rows with their nearest partners."""
        pairs = self.condition.pairs(left, right)
        ranks = self._ranks(right.changes)
        order = np.lexsort((ranks[pairs.right], pairs.left))
        mine, other = pairs.left[order], pairs.right[order]
        rows, found, starts, ends = _swept(
            ints(left.changes, FROM),
            ints(left.changes, TO),
            np.searchsorted(mine, np.arange(left.changes.num_rows + 1)),
            other,
            ints(right.changes, FROM)[other],
            ints(right.changes, TO)[other],
        )
        diff = sign * ints(left.changes, DIFF)[rows]
        with_partner = found >= 0
        chosen = Pairs(rows[with_partner], found[with_partner])
        schema = joined_schema(left.changes.schema, right.changes.schema)
        times = (part[with_partner] for part in (starts, ends, diff))
        columns = joined_rows(left.changes, right.changes, chosen).columns
        parts = [pa.Table.from_arrays([*columns, *map(pa.array, times)], schema=schema)]
        if self.pads:
            alone = np.flatnonzero(~with_partner)
            some = left.changes.take(pa.array(rows[alone]))
            kept = with_times(some, starts[alone], ends[alone], diff[alone])
            parts.append(padded(kept, (left.changes.schema, right.changes.schema), 0))
        return parts

    def _ranks(self, right: Batch) -> Ints:
        """The place of each right row in the order, the nearest first."""
        if not right.num_rows:
            return np.empty(0, np.int64)
        words = [word for sort in self.order for word in sort_words(right, sort)]
        order = in_order(right, words, payload(right))
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places


@njit(cache=True)
def _swept(
    starts: Ints, ends: Ints, first: Ints, partners: Ints, partner_from: Ints, partner_to: Ints
) -> Any:
    """Each row's interval cut up among its partners, the nearest first; what is left has -1.

    ``first`` says where the partners of a row begin, and ends with their number.
    """
    room = len(partners) + len(starts) + 8
    rows = np.empty(room, np.int64)
    found = np.empty(room, np.int64)
    valid_from = np.empty(room, np.int64)
    valid_to = np.empty(room, np.int64)
    open_from, open_to = np.empty(8, np.int64), np.empty(8, np.int64)
    left_from, left_to = np.empty(8, np.int64), np.empty(8, np.int64)
    count = 0
    for row in range(len(starts)):
        width = 0
        if starts[row] < ends[row]:
            open_from[0], open_to[0] = starts[row], ends[row]
            width = 1
        for pair in range(first[row], first[row + 1]):
            if width == 0:
                break
            if 2 * width > len(left_from):
                left_from = np.empty(4 * width, np.int64)
                left_to = np.empty(4 * width, np.int64)
            if count + width > len(rows):
                more = len(rows) + width
                rows = np.concatenate((rows, np.empty(more, np.int64)))
                found = np.concatenate((found, np.empty(more, np.int64)))
                valid_from = np.concatenate((valid_from, np.empty(more, np.int64)))
                valid_to = np.concatenate((valid_to, np.empty(more, np.int64)))
            remaining = 0
            for k in range(width):
                since = max(open_from[k], partner_from[pair])
                until = min(open_to[k], partner_to[pair])
                if since >= until:
                    left_from[remaining], left_to[remaining] = open_from[k], open_to[k]
                    remaining += 1
                    continue
                rows[count], found[count] = row, partners[pair]
                valid_from[count], valid_to[count] = since, until
                count += 1
                if open_from[k] < since:
                    left_from[remaining], left_to[remaining] = open_from[k], since
                    remaining += 1
                if until < open_to[k]:
                    left_from[remaining], left_to[remaining] = until, open_to[k]
                    remaining += 1
            width = remaining
            open_from, left_from = left_from, open_from
            open_to, left_to = left_to, open_to
        if count + width > len(rows):
            more = len(rows) + width
            rows = np.concatenate((rows, np.empty(more, np.int64)))
            found = np.concatenate((found, np.empty(more, np.int64)))
            valid_from = np.concatenate((valid_from, np.empty(more, np.int64)))
            valid_to = np.concatenate((valid_to, np.empty(more, np.int64)))
        for k in range(width):
            rows[count], found[count] = row, -1
            valid_from[count], valid_to[count] = open_from[k], open_to[k]
            count += 1
    return rows[:count], found[:count], valid_from[:count], valid_to[:count]
