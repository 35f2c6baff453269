"""Pipes inside tasks: filters, maps and windows between kernels, on Arrow columns.

Law: a change becomes the change that the pipe makes of it, or none: none where a condition is not
TRUE, or where nothing of its interval is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.expression import Expression, Succeeds
from ebbtide.columnar import Columnar
from ebbtide.compile.pipe import VALID_FROM, VALID_TO, Pipe
from ebbtide.core.schema import Schema
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, where
from ebbtide.state.columns import ints
from ebbtide.state.types import arrow_type


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on rows that some expressions do not fail on them.

    What a guard computes is what the projection behind it wants, so that is computed once.
    """

    operands: tuple[Columnar, ...]

    @staticmethod
    def none(changes: Any) -> Any:
        """No row at all."""
        return np.zeros(changes.num_rows, np.bool_)


@dataclass(frozen=True, slots=True)
class TaskPipe:
    """A pipe over the columns of what produces the changes, ready to run."""

    conditions: tuple[Columnar | Guard, ...]
    columns: tuple[Columnar, ...]
    ends: tuple[Columnar, Columnar] | None
    width: int
    """How many columns its expressions know, before the ends of the change's interval."""

    @staticmethod
    def of(pipe: Pipe, given: Schema) -> TaskPipe:
        """The pipe on batches with the given columns."""
        schema = Schema((*given.columns, VALID_FROM.column, VALID_TO.column))
        ends = pipe.valid_from, pipe.valid_to
        return TaskPipe(
            tuple(_condition(condition, schema) for condition in pipe.conditions),
            tuple(Columnar(column, schema) for column in pipe.columns),
            None
            if ends == (VALID_FROM, VALID_TO)
            else (Columnar(ends[0], schema), Columnar(ends[1], schema)),
            len(given),
        )

    def __call__(self, changes: Any) -> Any:
        """The changes behind the pipe."""
        # What is said about unused rows stands between a row of an admission and its interval.
        changes = changes.select([*range(self.width), FROM, TO, DIFF])
        known: dict[Expression, Any] = {}
        for condition in self.conditions:
            keeps, known = _judged(condition, changes)
            if not pc.all(keeps, skip_nulls=False).as_py():
                changes, known = changes.filter(keeps, null_selection_behavior="drop"), {}
        times = [changes.column(FROM), changes.column(TO)]
        if self.ends is not None:
            times = [end(changes) for end in self.ends]
        columns = [
            known[column.expression] if column.expression in known else column(changes)
            for column in self.columns
        ]
        schema = batch_schema([arrow_type(column.expression.type) for column in self.columns])
        if self.ends is None:
            return pa.Table.from_arrays([*columns, *times, changes.column(DIFF)], schema=schema)
        return _lasting([*columns, *times, changes.column(DIFF)], schema)


def _condition(condition: Expression, schema: Schema) -> Columnar | Guard:
    if isinstance(condition, Succeeds):
        return Guard(tuple(Columnar(operand, schema) for operand in condition.operands))
    return Columnar(condition, schema)


def _judged(condition: Columnar | Guard, changes: Any) -> tuple[Any, dict[Expression, Any]]:
    """Which changes a condition lets pass, and what it has computed of them on the way."""
    if isinstance(condition, Columnar):
        return condition(changes), {}
    found = {operand.expression: operand.evaluate(changes) for operand in condition.operands}
    failures = [evaluated.failures for evaluated in found.values()]
    failed = reduce(or_, (f.mask for f in failures if f is not None), condition.none(changes))
    return pa.array(~failed), {e: evaluated.values for e, evaluated in found.items()}


def _lasting(arrays: list[Any], schema: Any) -> Any:
    """The changes that have both ends, the first before the second."""
    names = schema.names
    table = pa.Table.from_arrays(arrays, names=names)
    for end in (FROM, TO):
        if table.column(end).null_count:
            table = table.filter(table.column(end).is_valid())
    table = table.cast(schema)
    return where(table, ints(table, FROM) < ints(table, TO))
