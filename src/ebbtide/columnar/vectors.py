"""The value of an expression on every row of a table, and where it failed.

Law: a vector is NULL on every row on which it failed.  A constant has one item, which stands for
all rows, so an expression of constants is computed once whatever the number of rows.  A vector
without failures has none to look at: ``failures`` is None, not a mask of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ebbtide.errors import EvaluationError

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """Which rows failed, and how: row ``r`` with ``errors[which[r] - 1]``, or not if that is 0."""

    which: NDArray[np.int32]
    errors: tuple[EvaluationError, ...]

    @staticmethod
    def where(mask: Mask, error: EvaluationError) -> Failures | None:
        """One error on the rows of a mask."""
        return Failures(mask.astype(np.int32), (error,)) if mask.any() else None

    @property
    def mask(self) -> Mask:
        """The rows that failed."""
        return self.which > 0

    @property
    def first(self) -> EvaluationError:
        """The error of the first row that failed."""
        error = self.at(int(np.argmax(self.which > 0)))
        assert error is not None
        return error

    def __len__(self) -> int:
        return len(self.which)

    def at(self, row: int) -> EvaluationError | None:
        """The error of a row, or None."""
        number = int(self.which[row])
        return self.errors[number - 1] if number else None

    def only(self, mask: Mask) -> Failures | None:
        """The failures on the rows of a mask."""
        kept = np.where(mask, self.which, np.int32(0))
        return Failures(kept, self.errors) if kept.any() else None

    def repeated(self, rows: int) -> Failures | None:
        """The failure of a constant, on so many rows."""
        return Failures(np.repeat(self.which, rows), self.errors) if rows else None

    def told(self, tell: Callable[[EvaluationError], EvaluationError]) -> Failures:
        """The same failures in other words."""
        return Failures(self.which, tuple(map(tell, self.errors)))


def earliest(*several: Failures | None) -> Failures | None:
    """For each row the failure that comes first in the order given."""
    result: Failures | None = None
    for failures in several:
        if result is None or failures is None:
            result = result or failures
            continue
        later = np.where(failures.which > 0, failures.which + len(result.errors), 0)
        which = np.where(result.which > 0, result.which, later).astype(np.int32)
        result = Failures(which, result.errors + failures.errors)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A value per row, or one for all rows."""

    values: Any
    failures: Failures | None = None
    constant: bool = False

    def repeated(self, rows: int) -> Vector:
        """The same with a value for each of so many rows."""
        if not self.constant:
            return self
        failures = None if self.failures is None else self.failures.repeated(rows)
        return Vector(repeated(self.values[0], self.values.type, rows), failures)


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """What an operation makes of its operands: values, NULL where it failed, and its failures."""

    values: Any
    failures: Failures | None = None


def repeated(value: Any, type_: pa.DataType, rows: int) -> Any:
    """A column of one value."""
    return pa.repeat(value, rows) if value.is_valid and rows else pa.nulls(rows, type_)


def rows_of(vectors: tuple[Vector, ...]) -> int | None:
    """The number of rows of vectors; None if all of them are constants."""
    return next((len(vector.values) for vector in vectors if not vector.constant), None)


def without(values: Any, mask: Mask) -> Any:
    """The values with NULL on the rows of a mask."""
    return pc.if_else(pa.array(mask), pa.scalar(None, values.type), values)


def failing(values: Any, *failures: Failures | None) -> Computed:
    """The values, NULL on the rows of the failures; where several fail the first counts."""
    whole = earliest(*failures)
    return Computed(values if whole is None else without(values, whole.mask), whole)
