"""Pipes inside tasks: filters, maps and windows between kernels, on Arrow columns.

Law: a change becomes the change that the pipe makes of it, or none: none where a condition is not
TRUE, or where nothing of its interval is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.columnar import Columnar
from ebbtide.compile.pipe import VALID_FROM, VALID_TO, Pipe
from ebbtide.core.schema import Schema
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, where
from ebbtide.state.columns import ints
from ebbtide.state.types import arrow_type


@dataclass(frozen=True, slots=True)
class TaskPipe:
    """A pipe over the columns of what produces the changes, ready to run."""

    conditions: tuple[Columnar, ...]
    columns: tuple[Columnar, ...]
    ends: tuple[Columnar, Columnar] | None

    @staticmethod
    def of(pipe: Pipe, given: Schema) -> TaskPipe:
        """The pipe on batches with the given columns."""
        schema = Schema((*given.columns, VALID_FROM.column, VALID_TO.column))
        ends = pipe.valid_from, pipe.valid_to
        return TaskPipe(
            tuple(Columnar(condition, schema) for condition in pipe.conditions),
            tuple(Columnar(column, schema) for column in pipe.columns),
            None
            if ends == (VALID_FROM, VALID_TO)
            else (Columnar(ends[0], schema), Columnar(ends[1], schema)),
        )

    def __call__(self, changes: Any) -> Any:
        """The changes behind the pipe."""
        for condition in self.conditions:
            changes = changes.filter(condition(changes), null_selection_behavior="drop")
        times = [changes.column(FROM), changes.column(TO)]
        if self.ends is not None:
            times = [end(changes) for end in self.ends]
        columns = [column(changes) for column in self.columns]
        schema = batch_schema([arrow_type(column.expression.type) for column in self.columns])
        if self.ends is None:
            return pa.Table.from_arrays([*columns, *times, changes.column(DIFF)], schema=schema)
        return _lasting([*columns, *times, changes.column(DIFF)], schema)


def _lasting(arrays: list[Any], schema: Any) -> Any:
    """The changes that have both ends, the first before the second."""
    names = schema.names
    table = pa.Table.from_arrays(arrays, names=names)
    for end in (FROM, TO):
        if table.column(end).null_count:
            table = table.filter(table.column(end).is_valid())
    table = table.cast(schema)
    return where(table, ints(table, FROM) < ints(table, TO))
