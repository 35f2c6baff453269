"""Errors as values: where operands have one, and what it says.

Law: no operation here fails but ``failing_where``, which does nothing else.  Of several errors of a
row the one of the first operand counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.expression import Fails, FailurePart
from ebbtide.columnar.arrays import python
from ebbtide.columnar.logic import failures_on
from ebbtide.columnar.vectors import Failures, Mask, Vector, earliest, rows_of, without
from ebbtide.core.row_text import object_text
from ebbtide.core.types import Type
from ebbtide.errors import EvaluationError


def tried(operand: Vector) -> Vector:
    """The operand, NULL where it is an error."""
    return Vector(operand.values, None, operand.constant)


def failing_where(node: Fails, condition: Vector, *reasons: Vector) -> Vector:
    """An error where the condition is TRUE, else TRUE."""
    holds = pc.fill_null(condition.values, False).to_numpy(zero_copy_only=False)
    own = Failures.where(holds, EvaluationError(node.code, node.reason).of(node.text))
    if own is not None and reasons:
        own = _for_reasons(node, holds, reasons[0].repeated(len(holds)).values)
    values = pa.array(np.ones(len(holds), np.bool_))
    shown = values if own is None else without(values, own.mask)
    return Vector(shown, earliest(condition.failures, own), condition.constant)


def _for_reasons(node: Fails, holds: Mask, reasons: Any) -> Failures:
    """The error of each row by what is said of it."""
    coded = reasons.dictionary_encode()
    numbers = pc.fill_null(coded.indices, 0).to_numpy(zero_copy_only=False).astype(np.int32)
    said = [reason or f"{node.code}: {node.reason}" for reason in coded.dictionary.to_pylist()]
    errors_ = tuple(EvaluationError.told(reason).of(node.text) for reason in said)
    return Failures(np.where(holds, numbers + 1, 0).astype(np.int32), errors_)


def succeeding(operands: int, *vectors: Vector) -> Vector:
    """Whether none of the first so many vectors has an error."""
    rows = rows_of(vectors)
    failures = _first(vectors[:operands], rows)
    length = 1 if rows is None else rows
    good = np.ones(length, np.bool_) if failures is None else ~failures.mask
    return Vector(pa.array(good), None, rows is None)


def told(part: FailurePart, probe: Callable[[Any], Failures | None], *vectors: Vector) -> Vector:
    """What the first error of a probe on a table of the vectors says, or NULL."""
    rows = rows_of(vectors)
    length = 1 if rows is None else rows
    columns = [vector.repeated(length).values for vector in vectors]
    # A probe of constants still has rows.
    columns.append(pa.nulls(length))
    failures = probe(pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))]))
    if failures is None:
        return Vector(pa.nulls(length, pa.string()), None, rows is None)
    texts = pa.array([_text(part, error) for error in failures.errors], pa.string())
    places = pa.array(np.maximum(failures.which - 1, 0), mask=failures.which == 0)
    return Vector(texts.take(places), None, rows is None)


def row_texts(names: tuple[str, ...], types: tuple[Type, ...], *vectors: Vector) -> Vector:
    """The values of every row by their names, as JSON."""
    rows = rows_of(vectors)
    length = 1 if rows is None else rows
    columns: list[Any] = [
        python(vector.repeated(length).values, type_)
        for vector, type_ in zip(vectors, types, strict=True)
    ]
    texts = [object_text(names, types, [column[i] for column in columns]) for i in range(length)]
    return Vector(pa.array(texts, pa.string()), None, rows is None)


def _first(vectors: tuple[Vector, ...], rows: int | None) -> Failures | None:
    return earliest(*failures_on(rows, vectors))


def _text(part: FailurePart, error: EvaluationError) -> str:
    match part:
        case FailurePart.EXPRESSION:
            return error.expression or ""
        case FailurePart.ERROR:
            return error.reason
