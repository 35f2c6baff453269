"""Operators on operands of different types: what is cast to what.

A whole constant beside a decimal is a decimal of just its digits; other integers are decimals of
all the digits that their type has.  A string takes on the type of what it meets.
"""

from __future__ import annotations

from decimal import Decimal

from ebbtide.algebra.casts import coerce
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Case,
    Comparison,
    Expression,
    InList,
    IsNull,
    Like,
    Literal,
    Negation,
    Not,
    Or,
)
from ebbtide.algebra.literal_text import natural_decimal
from ebbtide.algebra.printing import sql
from ebbtide.algebra.type_rules import can_coerce, common_type, common_type_of, decimal_for
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTERVAL,
    NULL,
    STRING,
    TIMESTAMP,
    DecimalType,
    IntegerType,
    Type,
    admits,
    is_numeric,
)
from ebbtide.errors import BindError


def arithmetic(op: str, left: Expression, right: Expression) -> Expression:
    """``left op right``."""
    l_type, r_type = _operand_types(op, left, right)
    try:
        return Arithmetic(op, coerce(left, l_type), coerce(right, r_type))
    except BindError:
        raise BindError(
            "type-mismatch",
            f"{sql(left)} {op} {sql(right)} is not defined",
            detail=f"it is {left.type} {op} {right.type}",
            hint=_arithmetic_hint(op, left, right),
        ) from None


def negate(operand: Expression) -> Expression:
    """``-operand``; of a constant number it is the opposite constant."""
    if operand.type in (NULL, STRING):
        operand = coerce(operand, DOUBLE)
    if isinstance(operand, Literal) and operand.value is not None:
        negated = Negation(operand).type
        if admits(negated, -operand.value):
            return Literal(-operand.value, negated)
    return Negation(operand)


def compare(op: str, left: Expression, right: Expression) -> Expression:
    """``left op right`` for a comparison."""
    common = common_type(*exact_types(left, right))
    if common is None:
        raise BindError(
            "type-mismatch",
            f"cannot compare {sql(left)} with {sql(right)}",
            detail=f"they are {left.type} and {right.type}",
            hint=_comparable(left, right),
        )
    return Comparison(op, coerce(left, common), coerce(right, common))


def _comparable(left: Expression, right: Expression) -> str:
    """What to write of two operands that cannot be compared."""
    for time, number in ((left, right), (right, left)):
        if time.type == TIMESTAMP and isinstance(number.type, IntegerType):
            text = sql(number)
            return (
                f"TIMESTAMP_MILLIS({text}) takes it for milliseconds since 1970, "
                f"TIMESTAMP_SECONDS({text}) for seconds"
            )
    return f"CAST({sql(right)} AS {left.type})"


def between(operand: Expression, low: Expression, high: Expression) -> Expression:
    """``operand BETWEEN low AND high``: both ends are included."""
    return And(compare(">=", operand, low), compare("<=", operand, high))


def in_list(operand: Expression, options: tuple[Expression, ...]) -> Expression:
    """``operand IN (options)``."""
    common = _common("IN", (operand, *options))
    return InList(coerce(operand, common), tuple(coerce(option, common) for option in options))


def like(operand: Expression, pattern: Expression, escape: str = "\\") -> Expression:
    """``operand LIKE pattern``."""
    for side in (operand, pattern):
        if not can_coerce(side.type, STRING):
            raise BindError("type-mismatch", f"LIKE needs a text, and {sql(side)} is {side.type}")
    return Like(coerce(operand, STRING), coerce(pattern, STRING), escape)


def case(
    branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression | None = None
) -> Expression:
    """``CASE WHEN condition THEN value ... ELSE otherwise END``; without ELSE it is NULL."""
    default = Literal(None, NULL) if otherwise is None else otherwise
    common = _common("CASE", (*(value for _, value in branches), default))
    return Case(
        tuple((_condition(when), coerce(value, common)) for when, value in branches),
        coerce(default, common),
    )


def and_(left: Expression, right: Expression) -> Expression:
    """``left AND right``."""
    return And(_truth("AND", left), _truth("AND", right))


def or_(left: Expression, right: Expression) -> Expression:
    """``left OR right``."""
    return Or(_truth("OR", left), _truth("OR", right))


def not_(operand: Expression) -> Expression:
    """``NOT operand``."""
    return Not(_truth("NOT", operand))


def is_null(operand: Expression) -> Expression:
    """``operand IS NULL``."""
    return IsNull(operand)


def _truth(op: str, operand: Expression) -> Expression:
    if operand.type in (BOOLEAN, NULL, STRING):
        return coerce(operand, BOOLEAN)
    raise BindError("type-mismatch", f"{op} needs a BOOLEAN, and {sql(operand)} is {operand.type}")


def _condition(operand: Expression) -> Expression:
    return operand if operand.type == STRING else _truth("WHEN", operand)


def _common(what: str, expressions: tuple[Expression, ...]) -> Type:
    common = common_type_of(expression.type for expression in expressions)
    if common is None:
        raise BindError(
            "type-mismatch",
            f"{what} needs values of one type",
            detail=", ".join(f"{sql(each)} is {each.type}" for each in expressions),
        )
    return common


def exact_types(left: Expression, right: Expression) -> tuple[Type, Type]:
    """The types, a whole constant beside a decimal being a decimal of its digits."""
    return _beside(left, right), _beside(right, left)


def _beside(mine: Expression, other: Expression) -> Type:
    if not isinstance(other.type, DecimalType) or not isinstance(mine.type, IntegerType):
        return mine.type
    if isinstance(mine, Literal) and mine.value is not None:
        return natural_decimal(Decimal(mine.value))
    return decimal_for(mine.type) or mine.type


def _operand_types(op: str, left: Expression, right: Expression) -> tuple[Type, Type]:
    """What the operands of an arithmetic operator are cast to."""
    a, b = exact_types(left, right)
    if NULL in (a, b):
        a, b = _beside_null(op, a, b)
    if STRING in (a, b) and a != b:
        a, b = _beside_string(op, a, b)
    if is_numeric(a) and is_numeric(b) and a != b:
        integers = isinstance(a, IntegerType) and isinstance(b, IntegerType)
        decimals = isinstance(a, DecimalType) and isinstance(b, DecimalType)
        if not decimals and not (integers and op in ("/", "DIV")):
            common = common_type(a, b) or a
            return common, common
    return a, b


def _beside_null(op: str, a: Type, b: Type) -> tuple[Type, Type]:
    """NULL is what makes sense beside the other operand."""
    if a == b:
        return (BIGINT, BIGINT) if op == "DIV" else (DOUBLE, DOUBLE)
    other = b if a == NULL else a
    if other == INTERVAL and op in ("*", "/"):
        meant: Type = DOUBLE
    elif other in (TIMESTAMP, DATE) and op == "+":
        meant = INTERVAL
    else:
        meant = other
    return (meant, b) if a == NULL else (a, meant)


def _beside_string(op: str, a: Type, b: Type) -> tuple[Type, Type]:
    """A string is what makes sense beside the other operand, or stays one and is refused."""
    other = b if a == STRING else a
    if is_numeric(other):
        common = common_type(a, b) or other
        return common, common
    if other == INTERVAL and op in ("*", "/"):
        meant: Type = DOUBLE
    elif other in (TIMESTAMP, DATE) and op == "-":
        meant = other
    else:
        return a, b
    return (meant, b) if a == STRING else (a, meant)


def _arithmetic_hint(op: str, left: Expression, right: Expression) -> str | None:
    """Something like it that is defined."""
    for side, other in ((left, right), (right, left)):
        if side.type == STRING and other.type == INTERVAL and op in ("+", "-"):
            return f"CAST({sql(side)} AS TIMESTAMP)"
        if side.type == STRING and other.type == STRING:
            return f"CAST({sql(left)} AS DOUBLE) {op} CAST({sql(right)} AS DOUBLE)"
        if side.type == TIMESTAMP and is_numeric(other.type) and op in ("+", "-"):
            return f"{sql(other)} * INTERVAL 1 SECOND"
    if op == "DIV":
        return f"FLOOR({sql(left)} / {sql(right)})"
    return None
