"""UNNEST: every row once for each item of its array.

Law: a row with ``n`` items is there ``n`` times, each with an item and its place from 1; one with
none, or without an array, is not there, or once with NULLs if the operator pads.
State: none.
Emits: each change at once, once per item, over the change's own interval.
Forgets: nothing, it holds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.stateless import Linear, repeated
from ebbtide.state.arrays import ranges
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, payload, row_types


@dataclass(frozen=True, slots=True)
class Unnest(Linear):
    """The items of the array in the last column, which is not passed on."""

    numbered: bool
    pads: bool

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The row without the array, then the item, then its place."""
        *row, array = row_types(inputs[0])
        return batch_schema([*row, array.value_type, *([pa.int64()] if self.numbered else [])])

    def changes(self, changes: Batch) -> Batch:
        """The changes, once for each item."""
        schema = self.output((changes.schema,))
        *row, last = payload(changes)
        arrays = changes.column(last).combine_chunks()
        items, counts = pc.list_flatten(arrays), _counts(arrays)
        shown = np.maximum(counts, 1) if self.pads else counts
        places = ranges(np.ones(len(shown), np.int64), shown)
        absent = np.repeat(counts == 0, shown)
        if absent.any():
            # Every row that is padded moves the items of later rows on by one.
            order = np.arange(len(absent)) - np.cumsum(absent)
            items = items.take(pa.array(order, mask=absent))
        rows = repeated(changes, shown)
        columns = [*(rows.column(place) for place in row), items]
        if self.numbered:
            columns.append(pa.array(places, mask=absent))
        times = [rows.column(name) for name in (FROM, TO, DIFF)]
        return pa.Table.from_arrays([*columns, *times], schema=schema)


def _counts(arrays: Any) -> Any:
    """How many items each array has; a NULL has none."""
    lengths = pc.fill_null(pc.list_value_length(arrays), 0)
    return lengths.to_numpy(zero_copy_only=False).astype(np.int64)
