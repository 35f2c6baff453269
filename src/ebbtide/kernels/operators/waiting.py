"""Rows of a source that wait to be replayed.

Law: a row that operators have forgotten is held until its source is revised; then it goes on if
the archive still reaches it, and else it is unused.  Until then it counts for nothing.
State: the rows that wait, as they arrived.
Emits: all of them in a step that revises the source, those that came in it among them.
Forgets: what it has emitted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.admission import Op, Reason, UnusedRow
from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.core.row_text import row_text
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import negated, net, to_changes, where
from ebbtide.state.keep import times_of
from ebbtide.state.layout import Layout, by_rows

AREA = "waiting"


@dataclass(frozen=True, slots=True)
class WaitingRows:
    """Holds rows of a source; ``due`` says whether the step revises it, by the frontier before."""

    declaration: Declaration
    source: int
    before: InputFrontier | None = None
    due: bool = False

    def between(self, before: InputFrontier, due: bool) -> WaitingRows:
        """The kernel of a step."""
        return replace(self, before=before, due=due)

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The rows as they arrived."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows that wait."""
        return (by_rows(AREA, inputs[0]),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """Holds what comes, or lets all go."""
        (came,), (area,) = inputs, areas
        if not self.due:
            return Result(came.slice(0, 0), (area.insert(came).reorganize(),))
        held = net(area.query(None))
        if held.num_rows:
            area = area.insert(negated(held)).reorganize()
        return Result(pa.concat_tables([held, came]).combine_chunks(), (area,))

    def judged(self, changes: Batch) -> tuple[Batch, Batch]:
        """What has waited: rows that the archive still reaches, and others."""
        frontier = self.before or first_frontier(self.declaration)
        late = np.zeros(changes.num_rows, np.bool_)
        for line in frontier.settling:
            place = self.declaration.schema.position(line.attribute)
            late |= times_of(changes, place) <= line.horizon
        return where(changes, ~late), where(changes, late)

    def texts(self, changes: Batch) -> list[str]:
        """What is said of rows that have waited too long, each as a list in JSON."""
        schema = self.declaration.schema
        said = []
        for change in to_changes(changes):
            op: Any = change.row[len(schema)]
            text = row_text(schema, change.row[: len(schema)])
            word = Op.INSERT.value if op is None else op
            told = UnusedRow(self.declaration.name, Reason.LATE.value, text, word)
            said += [told.json] * change.diff
        return said
