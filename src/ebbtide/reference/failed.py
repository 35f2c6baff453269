"""An error as a value of a row: that of a subquery, until somebody reads it."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.core.values import Row, Value
from ebbtide.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Failed:
    """The value of a subquery that is an error."""

    expression: str
    reason: str

    @property
    def error(self) -> EvaluationError:
        """The error of whoever reads it."""
        return EvaluationError.told(self.reason).of(self.expression)


def read(value: Value) -> Value:
    """A value of a row, or the error that it is."""
    if isinstance(value, Failed):
        raise value.error
    return value


def shown(row: Row) -> Row:
    """A row with NULL in the place of errors."""
    return tuple(None if isinstance(value, Failed) else value for value in row)
