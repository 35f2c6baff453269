"""The left rows without the right ones, with multiplicities.

Law: the multiplicity of a row is ``max(0, left - right)`` (paper 4, algorithm 7).
State: the changes of both inputs, and the emitted ones that may still change, by row.
Emits: a row, as often as it is left, up to the next end point of either input.
Forgets: what ended by the least horizon of the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.sweeps.counting import Rule, count_areas, count_step
from ebbtide.state.area import SweepArea
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Difference:
    """The kernel of EXCEPT ALL."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        return count_areas(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        return count_step(Rule.DIFFERENCE, inputs, areas, times)
