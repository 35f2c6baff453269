"""Join: every pair of a left and a right row that meets the condition.

Law: join is bilinear: with ``L`` and ``R`` stored and ``dL`` and ``dR`` new, the change of the
output is ``dL x (R + dR) + L x dR``, where a pair counts over the common instants of its rows,
as often as the product of their diffs says (paper 4, algorithm 5; paper 2, section 5.5).
State: the rows of both sides that changes of the other can still meet.
Emits: each pair once, with the whole common interval; a negative input takes back what its
positive brought.  What is emitted does not depend on ``now``.
Forgets: by the rules of its inputs: a row of one side once no change of the other to come can meet
it, for want of a common instant or by a condition on their times.

    left         |------------)
    right   |---------)   |--------)
    out          |----)   |---)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.kernels.condition import Condition, Side, hashed, joined_rows, joined_schema, partners
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, FROM, TO, cancel
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Join:
    """The kernel of JOIN and of the product; without key columns, the right side is broadcast."""

    condition: Condition

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The columns of both sides."""
        return joined_schema(*inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows of each side."""
        return self.condition.layouts(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The pairs that have come and gone."""
        areas = times.seen(areas)
        left = hashed(inputs[0], self.condition.left)
        right = hashed(inputs[1], self.condition.right)
        before = partners(areas[0], right), partners(areas[1], left)
        changes = paired(self.condition, Side(left, before[0]), Side(right, before[1]))
        return Result(
            changes,
            (
                settled(areas[0], left.changes, times.inputs[0], left.hashes),
                settled(areas[1], right.changes, times.inputs[1], right.hashes),
            ),
        )


def paired(condition: Condition, left: Side, right: Side) -> Batch:
    """``dL x (R + dR) + L x dR``, net."""
    parts = [
        product(condition, left.new, right.all),
        product(condition, left.before, right.new),
    ]
    # There may be many pairs, so they are not copied into one piece.
    return cancel(pa.concat_tables(parts))


def product(condition: Condition, left: Found, right: Found) -> Batch:
    """Every matching pair over its common instants."""
    pairs = condition.pairs(left, right)
    mine, other = left.changes, right.changes
    times = _common(*pairs, *_times(mine), *_times(other))
    rows = joined_rows(mine, other, pairs)
    schema = joined_schema(mine.schema, other.schema)
    return pa.Table.from_arrays([*rows.columns, *map(pa.array, times)], schema=schema)


def _times(changes: Batch) -> tuple[Ints, Ints, Ints]:
    return ints(changes, FROM), ints(changes, TO), ints(changes, DIFF)


@njit(cache=True)
def _common(
    left: Ints, right: Ints,
    left_from: Ints, left_to: Ints, left_diff: Ints,
    right_from: Ints, right_to: Ints, right_diff: Ints,
) -> Any:  # fmt: skip
    """The common interval of each pair, and how often it counts."""
    valid_from = np.empty(len(left), np.int64)
    valid_to = np.empty(len(left), np.int64)
    diff = np.empty(len(left), np.int64)
    for pair in range(len(left)):
        mine, other = left[pair], right[pair]
        valid_from[pair] = max(left_from[mine], right_from[other])
        valid_to[pair] = min(left_to[mine], right_to[other])
        diff[pair] = left_diff[mine] * right_diff[other]
    return valid_from, valid_to, diff
