"""Aggregates: five functions each, so that users can add theirs.

Law: for every bag of values, ``result`` of ``accumulate`` over the bag in any order is the
aggregate of the bag; ``merge`` of two bags' states is the state of their union; ``retract``
undoes ``accumulate``.  States are immutable values.

An aggregate that is ``ordered`` gets, after its arguments, each row's place in the order
(time, key, all columns), a comparable value; ties in that order are equal rows.  Unless it
``keeps_nulls``, an aggregate never sees a row in which an argument is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbtide.algebra.expression import Expression
from ebbtide.core.types import Type
from ebbtide.core.values import Row, Value
from ebbtide.errors import BindError, QueryError


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate for arguments of known types: the type of its result and five functions."""

    type: Type
    initial: Any
    accumulate: Callable[[Any, Row], Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Value]
    retract: Callable[[Any, Row], Any] | None = None
    ordered: bool = False
    keeps_nulls: bool = False
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of an order; NULLs come first ascending and last descending, unless told."""

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


AGGREGATES: dict[str, Callable[[tuple[Type, ...]], AggregateFunction]] = {}


def aggregate(name: str, types: tuple[Type, ...]) -> AggregateFunction:
    """The aggregate of that name for arguments of those types."""
    if name not in AGGREGATES:
        raise BindError("unknown-function", f'there is no aggregate "{name}"')
    return AGGREGATES[name](types)


def register(name: str, make: Callable[[tuple[Type, ...]], AggregateFunction]) -> None:
    """Adds an aggregate of the user's own to the library."""
    if name != name.upper():
        raise QueryError("bad-name", f'"{name}" must be in upper case', hint=name.upper())
    if name in AGGREGATES:
        raise QueryError("duplicate-name", f'there is an aggregate "{name}" already')
    AGGREGATES[name] = make
