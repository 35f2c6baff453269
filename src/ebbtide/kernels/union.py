"""The rows of both inputs; multiplicities add.

Law: union is linear, so the output's changes are the changes of both inputs.
State: none.
Emits: every change at once, with its whole interval.
Forgets: everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import concat
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Union:
    """The kernel of UNION ALL."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        return ()

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        return Result(concat(inputs, inputs[0].schema), ())
