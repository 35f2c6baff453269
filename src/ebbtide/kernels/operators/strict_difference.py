"""The left rows that are no right rows, once.

Law: the multiplicity of a row is 1 where the left has it and the right does not, else 0.
State: the changes of both inputs, and the emitted ones that may still change, by row.
Emits: a row, once, up to the next end point of either input.
Forgets: what ended by the least horizon of the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.sweeps.counting import Rule, count_areas, count_step
from ebbtide.state.area import SweepArea
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class StrictDifference:
    """The kernel of EXCEPT."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        return count_areas(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        return count_step(Rule.STRICT_DIFFERENCE, inputs, areas, times)
