"""The types of arithmetic: Spark SQL's rules in ANSI mode.

Law: ``arithmetic_type`` gives the type of ``left op right`` for operands that need no cast any
more, and refuses all others.  Integers of ``+ - * %`` have one width, the division ``/`` of
integers is a DOUBLE, DIV is a BIGINT.  Decimals follow Hive: the exact result's digits, and past
38 of them scale is given up, down to 6.

Every INTERVAL is one of DAY TO SECOND, so DATE + INTERVAL is a TIMESTAMP, whatever its unit.
"""

from __future__ import annotations

from ebbtide.core.decimals import MAX_PRECISION
from ebbtide.core.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    SMALLINT,
    TIMESTAMP,
    TINYINT,
    DecimalType,
    IntegerType,
    Type,
    is_numeric,
)
from ebbtide.errors import BindError

MINIMUM_SCALE = 6

_DAY_COUNTS = (TINYINT, SMALLINT, INT)
_TIMES: dict[tuple[str, Type, Type], Type] = {
    ("+", TIMESTAMP, INTERVAL): TIMESTAMP,
    ("+", INTERVAL, TIMESTAMP): TIMESTAMP,
    ("+", DATE, INTERVAL): TIMESTAMP,
    ("+", INTERVAL, DATE): TIMESTAMP,
    ("+", INTERVAL, INTERVAL): INTERVAL,
    ("-", TIMESTAMP, INTERVAL): TIMESTAMP,
    ("-", DATE, INTERVAL): TIMESTAMP,
    ("-", INTERVAL, INTERVAL): INTERVAL,
    ("-", TIMESTAMP, TIMESTAMP): INTERVAL,
    ("-", DATE, DATE): INTERVAL,
    ("-", TIMESTAMP, DATE): INTERVAL,
    ("-", DATE, TIMESTAMP): INTERVAL,
    ("DIV", INTERVAL, INTERVAL): BIGINT,
    **{("+", DATE, count): DATE for count in _DAY_COUNTS},
    **{("+", count, DATE): DATE for count in _DAY_COUNTS},
    **{("-", DATE, count): DATE for count in _DAY_COUNTS},
}


def arithmetic_type(op: str, left: Type, right: Type) -> Type:
    """The type of ``left op right``.

    >>> str(arithmetic_type("/", DecimalType(10, 2), DecimalType(5, 1)))
    'DECIMAL(17, 8)'
    """
    result = _TIMES.get((op, left, right))
    if result is None and is_numeric(left) and is_numeric(right):
        result = _number_type(op, left, right)
    if result is None and (
        (op in ("*", "/") and left == INTERVAL and is_numeric(right))
        or (op == "*" and right == INTERVAL and is_numeric(left))
    ):
        result = INTERVAL
    if result is None:
        raise BindError("type-mismatch", f"{left} {op} {right} is not defined")
    return result


def _number_type(op: str, left: Type, right: Type) -> Type | None:
    if isinstance(left, IntegerType) and isinstance(right, IntegerType):
        if op in ("/", "DIV"):
            return DOUBLE if op == "/" else BIGINT
        return left if left == right and op in ("+", "-", "*", "%") else None
    if isinstance(left, DecimalType) and isinstance(right, DecimalType):
        return BIGINT if op == "DIV" else decimal_type(op, left, right)
    return DOUBLE if left == right and op in ("+", "-", "*", "/", "%") else None


def decimal_type(op: str, left: DecimalType, right: DecimalType) -> DecimalType | None:
    """The type of an operation on decimals."""
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    match op:
        case "+" | "-":
            scale = max(s1, s2)
            return adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "*":
            return adjusted(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(MINIMUM_SCALE, s1 + p2 + 1)
            return adjusted(p1 - s1 + s2 + scale, scale)
        case "%":
            scale = max(s1, s2)
            return adjusted(min(p1 - s1, p2 - s2) + scale, scale)
        case _:
            return None


def adjusted(precision: int, scale: int) -> DecimalType:
    """The decimals of that many digits; past 38, digits after the point are given up, down to 6.

    >>> str(adjusted(50, 20)), str(adjusted(77, 20))
    ('DECIMAL(38, 8)', 'DECIMAL(38, 6)')
    """
    if precision <= MAX_PRECISION:
        return DecimalType(max(precision, 1), scale)
    kept = max(MAX_PRECISION - (precision - scale), min(scale, MINIMUM_SCALE))
    return DecimalType(MAX_PRECISION, kept)


def rounded_type(type_: DecimalType, digits: int) -> DecimalType:
    """The type of a decimal rounded to so many digits after the point.

    >>> str(rounded_type(DecimalType(5, 2), 1)), str(rounded_type(DecimalType(5, 2), -1))
    ('DECIMAL(5, 1)', 'DECIMAL(4, 0)')
    """
    whole = type_.precision - type_.scale + 1
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, max(whole, 1 - digits)), 0)
    scale = min(type_.scale, digits)
    return DecimalType(min(MAX_PRECISION, whole + scale), scale)
