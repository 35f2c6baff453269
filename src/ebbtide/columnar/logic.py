"""Truth values, and the expressions that choose among their operands.

Law: FALSE decides AND and TRUE decides OR, whatever the other side is, a failure included, and in
either order.  A branch of CASE or an argument of COALESCE that is not reached does not count, nor
does its failure.  ``x IN (a, b)`` is ``x = a OR x = b`` of an ``x`` that is not NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.comparison import compared
from ebbtide.columnar.vectors import (
    Failures,
    Mask,
    Vector,
    earliest,
    rows_of,
    without,
)
from ebbtide.core.types import ArrayType, DoubleType, NullType, StructType, Type


def conjunction(left: Vector, right: Vector) -> Vector:
    """``left AND right``."""
    return _connected(pc.and_kleene, left, right)


def disjunction(left: Vector, right: Vector) -> Vector:
    """``left OR right``."""
    return _connected(pc.or_kleene, left, right)


def _connected(connect: Callable[[Any, Any], Any], left: Vector, right: Vector) -> Vector:
    rows = rows_of((left, right))
    values = connect(*operands((left, right)))
    failures = earliest(*failures_on(rows, (left, right)))
    if failures is not None:
        # A failing side is NULL, so what the other side has not decided is NULL.
        failures = failures.only(values.is_null().to_numpy(zero_copy_only=False))
    return Vector(values, failures, rows is None)


def operands(vectors: tuple[Vector, ...]) -> list[Any]:
    """The values as arguments of an Arrow function: constants as scalars, unless all are."""
    if all(vector.constant for vector in vectors):
        return [vector.values for vector in vectors]
    return [vector.values[0] if vector.constant else vector.values for vector in vectors]


def failures_on(rows: int | None, vectors: tuple[Vector, ...]) -> list[Failures | None]:
    """The failures of vectors, those of constants on all rows."""
    return [
        vector.failures.repeated(rows)
        if vector.failures is not None and vector.constant and rows is not None
        else vector.failures
        for vector in vectors
    ]


def case(*vectors: Vector) -> Vector:
    """CASE of conditions and values in turn, and the value of ELSE."""
    rows = rows_of(vectors)
    *branches, result = operands(vectors)
    for condition, value in zip(branches[-2::-2], branches[::-2], strict=True):
        result = pc.if_else(pc.fill_null(condition, False), value, result)
    if all(vector.failures is None for vector in vectors):
        return Vector(result, None, rows is None)
    return _case_with_failures(result, rows, vectors)


def _case_with_failures(result: Any, rows: int | None, vectors: tuple[Vector, ...]) -> Vector:
    length = 1 if rows is None else rows
    several = failures_on(rows, vectors)
    open_ = np.ones(length, np.bool_)
    found: list[Failures | None] = []
    for place in range(0, len(vectors) - 1, 2):
        asked = several[place]
        if asked is not None:
            found.append(asked.only(open_))
            open_ = open_ & ~asked.mask
        taken = open_ & _truth(vectors[place], length)
        found.append(_only(several[place + 1], taken))
        open_ = open_ & ~taken
    found.append(_only(several[-1], open_))
    failures = earliest(*found)
    if failures is not None:
        result = without(result, failures.mask)
    return Vector(result, failures, rows is None)


def _only(failures: Failures | None, mask: Mask) -> Failures | None:
    return None if failures is None else failures.only(mask)


def _truth(vector: Vector, rows: int) -> Mask:
    truth: Mask = pc.fill_null(vector.repeated(rows).values, False).to_numpy(zero_copy_only=False)
    return truth


def coalesce(*vectors: Vector) -> Vector:
    """The first value that is not NULL."""
    rows = rows_of(vectors)
    result = pc.coalesce(*operands(vectors))
    if all(vector.failures is None for vector in vectors):
        return Vector(result, None, rows is None)
    length = 1 if rows is None else rows
    open_ = np.ones(length, np.bool_)
    found: list[Failures | None] = []
    for vector, failures in zip(vectors, failures_on(rows, vectors), strict=True):
        if failures is not None:
            found.append(failures.only(open_))
            open_ = open_ & ~failures.mask
        values = vector.repeated(length).values
        open_ = open_ & values.is_null().to_numpy(zero_copy_only=False)
    whole = earliest(*found)
    if whole is not None:
        result = without(result, whole.mask)
    return Vector(result, whole, rows is None)


def in_list(type_: Type, operand: Vector, *options: Vector) -> Vector:
    """Whether the operand equals an option; NULL if that is unknown."""
    if not isinstance(type_, DoubleType | ArrayType | StructType | NullType) and all(
        option.constant and option.values[0].is_valid for option in options
    ):
        found = pc.is_in(operand.values, value_set=pa.concat_arrays([o.values for o in options]))
        if operand.values.null_count:
            found = without(found, operand.values.is_null().to_numpy(zero_copy_only=False))
        return Vector(found, operand.failures, operand.constant)
    rows = rows_of((operand, *options))
    if rows is None:
        return _any_equal(type_, True, operand, *options)
    return _any_equal(type_, False, *(vector.repeated(rows) for vector in (operand, *options)))


def _any_equal(type_: Type, constant: bool, operand: Vector, *options: Vector) -> Vector:
    found = pa.nulls(len(operand.values), pa.bool_())
    if not isinstance(type_, NullType):
        first, *rest = (compared("=", type_, operand.values, o.values) for o in options)
        found = reduce(pc.or_kleene, rest, first)
    failures = earliest(*(option.failures for option in options))
    if failures is not None:
        there = operand.values.is_valid().to_numpy(zero_copy_only=False)
        failures = failures.only(there & found.is_null().to_numpy(zero_copy_only=False))
    return Vector(found, earliest(operand.failures, failures), constant)
