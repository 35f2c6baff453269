"""Map: for every change, the same change of the row of the expressions' values.

Law: at every instant, for each row the row of the values.
State: none.
Emits: each change with its own interval and diff; changes that come to concern one row add up.
Forgets: nothing, it holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.linear import Linear, rows
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema


@dataclass(frozen=True, slots=True)
class Map(Linear):
    """``expressions`` makes columns of the given types of a table of rows."""

    expressions: Callable[[Any], Sequence[Any]]
    types: tuple[Any, ...]

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """A column per expression."""
        return batch_schema(self.types)

    def changes(self, changes: Batch) -> Batch:
        """The changes of the mapped rows."""
        times = [changes.column(name) for name in (FROM, TO, DIFF)]
        values = self.expressions(rows(changes))
        return pa.Table.from_arrays([*values, *times], schema=batch_schema(self.types))
