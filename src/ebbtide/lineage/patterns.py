"""Rows of which not every value is known.

Law: a pattern stands for all rows that have its known values.  Whether a condition holds on one is
TRUE, not TRUE, or open; only what is certain refutes.  Values that depend on which inputs are
deleted, such as a sum, are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Final

from ebbtide.algebra.expression import Expression, Ref, conjuncts
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find
from ebbtide.core.values import Row, normalise
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate


class _Unknown(Enum):
    """The one value that is not known."""

    UNKNOWN = "?"


UNKNOWN: Final = _Unknown.UNKNOWN


def is_known(row: Iterable[Any]) -> bool:
    """Whether every value is known."""
    return all(value is not UNKNOWN for value in row)


def fits(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether a row can be both."""
    return all(
        a is b or a is UNKNOWN or b is UNKNOWN or a == b for a, b in zip(one, other, strict=True)
    )


def value(expression: Expression, schema: Schema, row: Row) -> Any:
    """The value of an expression on a pattern, if what it reads is known."""
    if any(row[schema.index(ref.column)] is UNKNOWN for ref in find(expression, Ref)):
        return UNKNOWN
    try:
        return normalise(evaluate(expression, schema, row))
    except EvaluationError:
        # A row that is not there may be one on which the expression would fail.
        return UNKNOWN


def values(expressions: Iterable[Expression], schema: Schema, row: Row) -> Row:
    """The values of several expressions."""
    return tuple(value(expression, schema, row) for expression in expressions)


def refuted(predicate: Expression, schema: Schema, row: Row) -> bool:
    """Whether a condition is certain not to be TRUE."""
    return any(
        known is not True and known is not UNKNOWN
        for known in (value(part, schema, row) for part in conjuncts(predicate))
    )
