"""ISTREAM: the facts that rows came, and when.

Law: for every ``t <= now`` the fact ``(row, t)``, ``max(0, q(t) - q(t - 1))`` times.
State: the steps ``q(t) - q(t - 1)`` of every row that are still to come or may be revised.
Emits: a fact when ``now`` reaches its instant; revisions of ``q`` take facts back and add others.
Forgets: the steps at or before the horizon: every later change begins, and so ends, after it.

    q            |----------------)
                         |---)
    out          x       x
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.sweeps.appearances import turn_layout, turn_schema, turned
from ebbtide.state.area import SweepArea
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Istream:
    """Runs in shards by all columns of its input."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The input's columns and the instant."""
        return turn_schema(inputs[0])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The steps of the rows."""
        return (turn_layout(inputs[0]),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The rows that came by now, and corrections."""
        return turned(inputs[0], areas[0], times, sign=1)
