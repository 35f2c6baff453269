"""The rows of both inputs; the greater multiplicity counts.

Law: the multiplicity of a row is ``max(left, right)``.
State: the changes of both inputs, and the emitted ones that may still change, by row.
Emits: a row, as often as one of the inputs has it, up to the next end point of either.
Forgets: what ended by the least horizon of the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.sweeps.counting import Rule, count_areas, count_step
from ebbtide.state.area import SweepArea
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class MaxUnion:
    """The kernel of UNION on multisets."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        return count_areas(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        return count_step(Rule.MAX_UNION, inputs, areas, times)
