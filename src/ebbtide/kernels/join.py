"""Join: every pair of a left and a right row that meets the condition.

Law: join is bilinear: with ``L`` and ``R`` stored and ``dL`` and ``dR`` new, the change of the
output is ``dL x (R + dR) + L x dR``, where a pair counts over the common instants of its rows,
as often as the product of their diffs says (paper 4, algorithm 5; paper 2, section 5.5).
State: the rows of both sides that changes of the other can still meet.
Emits: each pair once, with the whole common interval; a negative input takes back what its
positive brought.  What is emitted does not depend on ``now``.
Forgets: a row of one side once it has ended by the horizon of the other: every later change there
begins after its end.

    left         |------------)
    right   |---------)   |--------)
    out          |----)   |---)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.kernels.condition import Condition, Side, hashed, joined_rows, joined_schema, partners
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.state.area import Found, SweepArea
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
        left = hashed(inputs[0], self.condition.left)
        right = hashed(inputs[1], self.condition.right)
        before = partners(areas[0], right), partners(areas[1], left)
        changes = paired(self.condition, Side(left, before[0]), Side(right, before[1]))
        return Result(
            changes,
            (
                settled(areas[0], left.changes, times.horizons[1], left.hashes),
                settled(areas[1], right.changes, times.horizons[0], right.hashes),
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
    rows = joined_rows(mine, other, pairs)
    times = [
        np.maximum(ints(mine, FROM)[pairs.left], ints(other, FROM)[pairs.right]),
        np.minimum(ints(mine, TO)[pairs.left], ints(other, TO)[pairs.right]),
        ints(mine, DIFF)[pairs.left] * ints(other, DIFF)[pairs.right],
    ]
    schema = joined_schema(mine.schema, other.schema)
    return pa.Table.from_arrays([*rows.columns, *map(pa.array, times)], schema=schema)
