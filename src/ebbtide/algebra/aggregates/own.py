"""Aggregates of the user's own: what they raise, as an error of ours and as a value.

Law: whatever one of the functions raises, and a result that is not of the declared type, is an
``EvaluationError``.  The outcome of an aggregate is a struct of its value and of what it raised, of
which one is NULL; it takes part in a plan that must not fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from ebbtide.algebra.aggregates.function import AggregateFunction
from ebbtide.core.folds import Fold
from ebbtide.core.types import STRING, DecimalType, DoubleType, StructType, Type, admits
from ebbtide.core.values import Value, normalise
from ebbtide.errors import EvaluationError

OUTCOME_OF = "OUTCOME OF "
"""What stands before the name of an aggregate whose outcome is wanted; nobody can write it."""
VALUE, ERROR = "value", "error"


@dataclass(frozen=True, slots=True)
class _Coded:
    """A function that raises errors with a code."""

    name: str
    function: Callable[..., Any]

    def __call__(self, *given: Any) -> Any:
        try:
            return self.function(*given)
        except (EvaluationError, MemoryError):
            raise
        except Exception as error:
            said = " ".join(f"{type(error).__name__} {error}".split())
            raise EvaluationError("failed-aggregate", f"{self.name} raises {said}") from error


@dataclass(frozen=True, slots=True)
class _Typed:
    """The results of an aggregate, if they are of its type."""

    name: str
    type: Type
    function: Callable[[Any], Any]

    def __call__(self, state: Any) -> Value:
        value = _fitted(self.function(state), self.type)
        if not admits(self.type, value):
            said = f"{self.name} gives {value!r}, which is not {self.type}"
            raise EvaluationError("failed-aggregate", said)
        return value


def _fitted(value: Any, type_: Type) -> Value:
    """A number in the form that its type has, where nothing is lost."""
    given = value.item() if hasattr(value, "item") else value
    if isinstance(type_, DoubleType) and isinstance(given, int) and not isinstance(given, bool):
        return float(given) if abs(given) <= 2**53 else given
    if isinstance(type_, DecimalType) and isinstance(given, Decimal) and given.is_finite():
        try:
            scaled = given.quantize(Decimal(1).scaleb(-type_.scale))
        except InvalidOperation:
            return given
        return scaled if scaled == given else given
    return normalise(tuple(given) if isinstance(given, list) else given)


def owned(name: str, function: AggregateFunction) -> AggregateFunction:
    """An aggregate of the user's own, whose rows are kept as long as they are valid."""
    retract = None if function.retract is None else _Coded(name, function.retract)
    return replace(
        function,
        accumulate=_Coded(name, function.accumulate),
        merge=_Coded(name, function.merge),
        result=_Typed(name, function.type, _Coded(name, function.result)),
        retract=retract,
        # Only the library's own states have a place among what is kept.
        fold=Fold.ROWS,
        own=True,
    )


def outcome(function: AggregateFunction) -> AggregateFunction:
    """The aggregate as a struct of its value and of its error."""
    type_ = StructType(((VALUE, function.type), (ERROR, STRING)))
    return replace(function, type=type_, nullable=False, own=False, reports=True)
