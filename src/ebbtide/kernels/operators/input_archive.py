"""The archive of an input: the rows of a source that were accepted, each with its step.

Law: what is stored sums up to the accepted input of the source, as far as the rule keeps it; what
was accepted up to a step is what has that step or an earlier one.  If the archive is summarised, it
holds what ``archive_summary`` keeps of that, with weights in the place of steps.
State: the changes that came, and the step in which they did, or their weight, behind the row.
Emits: nothing.
Forgets: a row when the progress of its times has left it behind by the length of the archive.

Buckets of time are segments, and their zone map is the index by which whole buckets age out
(paper 3, section 4.1: the representation B_k).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ebbtide.core.structure import Structure
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.operators.archive_summary import Summarised
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, row_types
from ebbtide.state.layout import Layout

AREA = "archive"


def archive_layout(rows: Schema, keys: tuple[int, ...] = ()) -> Layout:
    """The area of an archive: rows by their time, and the step of each behind it; a row is found by
    its keys, or without any by its step."""
    types = row_types(rows)
    schema = batch_schema([*types, pa.int64()])
    return Layout(AREA, schema, keys or (len(types),), structure=Structure.BY_TIME)


@dataclass(frozen=True, slots=True)
class InputArchive:
    """Keeps what comes of a source, which is known by its number.

    ``keys`` are the columns of the key where the admission of the source looks for keys here.
    """

    source: int = field(default=0, compare=False)
    summary: Summarised | None = None
    keys: tuple[int, ...] = ()

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes, of which nothing goes on."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows, found by their keys or their step."""
        return (archive_layout(inputs[0], self.keys),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The archive after what came."""
        (changes,), (area,) = inputs, areas
        if self.summary is not None:
            stored = self.summary.kept(changes, times.step).cast(area.layout.schema)
            return Result(changes.slice(0, 0), (settled(area, stored, times.inputs[0]),))
        width = len(row_types(changes.schema))
        steps = pa.array(np.full(changes.num_rows, times.step, np.int64))
        stored = changes.add_column(width, f"c{width}", steps).cast(area.layout.schema)
        return Result(changes.slice(0, 0), (settled(area, stored, times.inputs[0]),))
