"""Casts, explicit and implicit.

Law: a cast of a constant is a constant wherever nothing is lost by it; an explicit cast that
rounds or fails stays a CAST, which is evaluated when its turn comes.
"""

from __future__ import annotations

from ebbtide.algebra.expression import Cast, Expression, Literal
from ebbtide.algebra.printing import sql
from ebbtide.algebra.type_rules import can_cast, can_coerce
from ebbtide.core.conversion import convert
from ebbtide.core.types import TIMESTAMP, NullType, StringType, Type
from ebbtide.core.values import normalise, sort_key
from ebbtide.core.words import with_article
from ebbtide.errors import BindError, EvaluationError


def cast(expression: Expression, to: Type, *, safe: bool = False) -> Expression:
    """``CAST(expression AS to)``, or TRY_CAST if ``safe``.

    >>> from ebbtide.core.types import BIGINT, INT
    >>> cast(Literal(5, INT), BIGINT)
    Literal(value=5, of=IntegerType(bits=64))
    """
    if expression.type == to:
        return expression
    if not can_cast(expression.type, to):
        raise BindError(
            "type-mismatch",
            f"{sql(expression)} is {expression.type}, and no {expression.type} is a {to}",
        )
    folded = _constant(expression, to) if isinstance(expression, Literal) else None
    if folded is not None and _is_exact(expression, folded):
        return folded
    return Cast(expression, to, safe)


def coerce(expression: Expression, to: Type) -> Expression:
    """The expression as an operand that must have the type; a constant that cannot is refused."""
    if expression.type == to:
        return expression
    if not isinstance(expression, Literal):
        return Cast(expression, to)
    folded = _constant(expression, to)
    if folded is None:
        raise BindError("type-mismatch", f"{sql(expression)} is not {with_article(to)}")
    return folded


def as_timestamp(expression: Expression) -> Expression:
    """The expression as an instant, where SQL takes it for one."""
    if not can_coerce(expression.type, TIMESTAMP):
        raise BindError(
            "type-mismatch", f"{sql(expression)} is {expression.type}, and not a TIMESTAMP"
        )
    return coerce(expression, TIMESTAMP)


def _constant(literal: Literal, to: Type) -> Literal | None:
    try:
        return Literal(normalise(convert(literal.value, literal.of, to)), to)
    except EvaluationError:
        return None


def _is_exact(literal: Expression, folded: Literal) -> bool:
    """Whether the constant of the new type still says what the old one said."""
    assert isinstance(literal, Literal)
    if isinstance(literal.of, StringType | NullType) or literal.value is None:
        return True
    if not can_cast(folded.of, literal.of):
        return True
    back = _constant(folded, literal.of)
    return back is not None and sort_key(back.value) == sort_key(normalise(literal.value))
