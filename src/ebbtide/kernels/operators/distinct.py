"""Every row once.

Law: the multiplicity of a row is 1 where the input has it, else 0 (paper 4, algorithm 6).
State: the input's changes, and the emitted ones that may still change, by row.
Emits: a row over the instants up to the next end point at which the input has it.
Forgets: what ended by the horizon of the input.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.sweeps.counting import Rule, count_areas, count_step
from ebbtide.state.area import SweepArea
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Distinct:
    """The kernel of DISTINCT."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        return count_areas(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        return count_step(Rule.DISTINCT, inputs, areas, times)
