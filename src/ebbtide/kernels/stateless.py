"""What operators have in common that treat every change by itself.

Law: ``op(a + b) = op(a) + op(b)``, so a step's output is the operator on the step's changes; there
is no state, nothing to wait for and nothing to forget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, payload, row_types, where
from ebbtide.state.columns import column, fixed, present
from ebbtide.state.layout import Layout


class Linear:
    """An operator on one input that needs no state."""

    __slots__ = ()

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The schema of the input, unless the operator changes it."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """None."""
        return ()

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The operator on the step's changes."""
        return Result(self.changes(*inputs), ())

    def changes(self, changes: Batch) -> Batch:
        """The operator on some changes."""
        raise NotImplementedError


def rows(changes: Batch) -> Any:
    """The row's columns alone, as expressions see them."""
    return changes.select(list(payload(changes)))


def timed(changes: Batch, on: int) -> tuple[Batch, Ints]:
    """The changes whose time is not NULL, and that time."""
    known = present(column(changes, on))
    if known is not None:
        changes = where(changes, known)
    return changes, fixed(column(changes, on))


def with_columns(changes: Batch, columns: list[Ints]) -> Batch:
    """The changes with further columns of whole numbers at the end of their rows."""
    before = [changes.column(i) for i in payload(changes)]
    times = [changes.column(name) for name in (FROM, TO, DIFF)]
    added = [pa.array(values) for values in columns]
    return pa.Table.from_arrays(
        [*before, *added, *times], schema=wider(changes.schema, [pa.int64()] * len(columns))
    )


def wider(schema: Schema, types: list[Any]) -> Schema:
    """The schema with further columns at the end of the row."""
    return batch_schema([*row_types(schema), *types])


def repeated(changes: Batch, counts: Ints) -> Batch:
    """Every change as often as its count says."""
    if (counts == 1).all():
        return changes
    return changes.take(pa.array(np.repeat(np.arange(len(counts)), counts)))
