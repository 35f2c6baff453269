"""Orders, and calls of aggregates on expressions."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.aggregates import AggregateFunction, aggregate
from ebbtide.algebra.expression import Expression
from ebbtide.core.folds import Fold
from ebbtide.core.types import Type


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of an order; NULLs come first ascending and last descending, unless stated."""

    expression: Expression
    descending: bool = False
    nulls_first: bool | None = None

    @property
    def puts_nulls_first(self) -> bool:
        """Whether NULLs precede all values."""
        return not self.descending if self.nulls_first is None else self.nulls_first


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate of expressions over a group of rows.

    ``order`` precedes "all columns" in the order that an ordered aggregate sees.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    distinct: bool = False
    filter: Expression | None = None
    order: tuple[SortKey, ...] = ()

    @property
    def function(self) -> AggregateFunction:
        """The five functions, for the types of the arguments."""
        return aggregate(self.name, tuple(argument.type for argument in self.arguments))

    @property
    def type(self) -> Type:
        """The type of the result."""
        return self.function.type

    @property
    def is_distinct(self) -> bool:
        """Whether DISTINCT is there and changes anything."""
        return self.distinct and not self.function.idempotent

    @property
    def fold(self) -> Fold:
        """What may stand in for rows that stay for ever."""
        return Fold.ROWS if self.is_distinct else self.function.fold
