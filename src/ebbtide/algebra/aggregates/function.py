"""An aggregate: five functions, so that users can add theirs.

Law: for every bag of values, ``result`` of ``accumulate`` over the bag in any order is the
aggregate of the bag; ``merge`` of two bags' states is the state of their union; ``retract``
undoes ``accumulate``.  States are immutable values.

An aggregate that is ``ordered`` gets, after its arguments, each row's place in the order
(time, key, all columns), a comparable value; ties in that order are equal rows.  Unless it
``keeps_nulls``, an aggregate never sees a row in which an argument is NULL.  One that is
``idempotent`` is the same whether equal arguments come once or often.  ``fold`` says what may stand
in for rows that stay for ever.  The functions of one that is the user's ``own`` may fail on any
row; one that ``reports`` has that as a part of its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ebbtide.core.folds import Fold
from ebbtide.core.types import NullType, Type
from ebbtide.core.values import Row, Value
from ebbtide.errors import BindError

Types: TypeAlias = tuple[Type, ...]


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
    idempotent: bool = False
    fold: Fold = Fold.ROWS
    own: bool = False
    reports: bool = False


Maker: TypeAlias = Callable[[Types], AggregateFunction]


def arity(name: str, types: Types, count: int) -> Types:
    """The types of the arguments, if there are ``count`` and the first is known."""
    if len(types) != count:
        raise BindError(
            "wrong-arguments", f"{name} takes {count} argument{'s' * (count > 1)}, not {len(types)}"
        )
    if isinstance(types[0], NullType):
        raise refused(name, types[0])
    return types


def refused(name: str, type_: Type) -> BindError:
    """The error of an aggregate that a type does not have."""
    return BindError("type-mismatch", f"{name} is not defined on {type_}")
