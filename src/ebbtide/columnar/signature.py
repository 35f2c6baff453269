"""What the implementation of a function is given, and the forms in which one is written.

Law: an implementation gets operands of equal length, at least one of them a column, the others
scalars that are not NULL; a strict one need not look at NULLs beyond passing them on.  It answers
with a column, or with an ``Outcome`` if it can fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, TypeAlias

from ebbtide.columnar.arrays import each
from ebbtide.columnar.vectors import Computed
from ebbtide.core.types import Type
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Context:
    """The types of the arguments and of the result, and the session's zone."""

    types: tuple[Type, ...]
    type: Type
    zone: tzinfo


Implementation: TypeAlias = Callable[..., Any]
"""From a context and operands to a column or an ``Outcome``."""


def by_value(function: Callable[..., Value]) -> Implementation:
    """A function of the values, one row after the other."""

    def compute(context: Context, *operands: Any) -> Computed:
        return each(function, context.types, context.type, *operands)

    return compute


def by_value_in_context(function: Callable[..., Value]) -> Implementation:
    """A function of the context and the values, one row after the other."""

    def compute(context: Context, *operands: Any) -> Computed:
        def of_values(*values: Value) -> Value:
            return function(context, *values)

        return each(of_values, context.types, context.type, *operands)

    return compute


def by_value_with_nulls(function: Callable[..., Value]) -> Implementation:
    """A function of the values, NULLs among them, one row after the other."""

    def compute(context: Context, *operands: Any) -> Computed:
        return each(function, context.types, context.type, *operands, strict=False)

    return compute


def bad_argument(message: str) -> EvaluationError:
    """The error for a value that the function is not defined on."""
    return EvaluationError("bad-argument", message)
