"""SemiJoin: the left rows that have a partner.

Law: at every instant, each left row for which some right row meets the condition, as often as the
left row is there.  It is linear in the left input (see ``coverage``).
State: the rows of both sides that changes to come can meet.
Emits: each left row over the maximal stretches in which a partner is there, known as they are
now; partners that come and go add and take back parts.  What is emitted does not depend on
``now``, and a row with a NULL in its key never is.
Forgets: by the rules of its inputs: a left row once no right row to come can cover it; a right row
once, besides, no left row, new or stored, can meet it.

    left      |-------------------------)
    right        |-----)  |------)
    out          |=====)  |======)
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.condition import Condition, Side, hashed, partners
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.sweeps.coverage import changed
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import net
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """The kernel of EXISTS and IN; without key columns, the right side is broadcast."""

    condition: Condition

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The columns of the left side."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows of each side."""
        return self.condition.layouts(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The left rows that have found or lost their partners."""
        areas = times.seen(areas)
        left = hashed(inputs[0], self.condition.left)
        right = hashed(inputs[1], self.condition.right)
        mine = Side(left, partners(areas[0], right))
        other = Side(right, partners(areas[1], left, right))
        changes = net(changed(self.condition, mine, other, partnered=True))
        return Result(
            changes,
            (
                settled(areas[0], left.changes, times.inputs[0], left.hashes),
                settled(areas[1], right.changes, times.inputs[1], right.hashes),
            ),
        )
