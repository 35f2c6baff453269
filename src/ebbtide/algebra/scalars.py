"""The closed set of scalar expressions, so that a ``match`` over them can be exhaustive."""

from __future__ import annotations

from typing import TypeAlias, cast, get_args

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    FloorTo,
    InList,
    IsNull,
    Item,
    Like,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
)
from ebbtide.errors import InternalError

Scalar: TypeAlias = (
    Ref
    | Literal
    | SnapshotTime
    | Arithmetic
    | Negation
    | Comparison
    | And
    | Or
    | Not
    | IsNull
    | InList
    | Like
    | Case
    | Cast
    | FloorTo
    | CeilTo
    | Field
    | Item
    | Call
    | Tried
    | Fails
    | Succeeds
    | Failure
    | RowText
)

SCALARS: tuple[type[Expression], ...] = get_args(Scalar)


def scalar(expression: Expression) -> Scalar:
    """The expression as a member of the closed set."""
    if not isinstance(expression, SCALARS):
        raise InternalError("unknown-expression", f"{type(expression).__name__} is no expression")
    return cast(Scalar, expression)
