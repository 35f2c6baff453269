"""AntiJoin: the left rows that have no partner.

Law: at every instant, each left row for which no right row meets the condition, as often as the
left row is there.  It is linear in the left input (see ``coverage``).
State: the rows of both sides that changes to come can meet.
Emits: each left row over the stretches in which no partner is there, known as they are now;
partners that come and go take back and add parts.  What is emitted does not depend on ``now``.  A
row with a NULL in its key has no partner ever, and passes as it is.
Forgets: by the rules of its inputs: a left row once no right row to come can cover it; a right row
once, besides, no left row, new or stored, can meet it.

    left      |-------------------------)
    right        |-----)  |------)
    out       |==)     |==)      |======)
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.condition import Condition, Side, hashed, keyless, partners
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.sweeps.coverage import changed
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import concat, net
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """The kernel of NOT EXISTS; without key columns, the right side is broadcast."""

    condition: Condition

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The columns of the left side."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows of each side."""
        return self.condition.layouts(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The left rows that have lost or found their partners."""
        areas = times.seen(areas)
        left = hashed(inputs[0], self.condition.left)
        right = hashed(inputs[1], self.condition.right)
        mine = Side(left, partners(areas[0], right))
        other = Side(right, partners(areas[1], left, right))
        changes = changed(self.condition, mine, other, partnered=False)
        alone = keyless(inputs[0], self.condition.left)
        return Result(
            net(concat([changes, alone], changes.schema)),
            (
                settled(areas[0], left.changes, times.inputs[0], left.hashes),
                settled(areas[1], right.changes, times.inputs[1], right.hashes),
            ),
        )
