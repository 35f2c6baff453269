"""Constants: what numbers, texts, bytes and durations in SQL stand for."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from ebbtide.algebra.expression import Literal
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    STRING,
    DecimalType,
    admits,
)
from ebbtide.errors import BindError
from ebbtide.sql import nodes

__all__ = ["constant", "number"]


def constant(node: exp.Expr) -> Literal | None:
    """The constant that a node is, or None."""
    match node:
        case exp.Literal():
            return Literal(str(node.this), STRING) if node.is_string else number(str(node.this))
        case exp.Null():
            return Literal(None, NULL)
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN)
        case exp.HexString():
            return _bytes(str(node.this))
        case nodes.Duration():
            return Literal(node.us, INTERVAL)
        case _:
            return None


def number(text: str) -> Literal:
    """The constant that a number stands for: INT, BIGINT, DECIMAL, or DOUBLE with an E.

    >>> number("1.50")
    Literal(value=Decimal('1.50'), of=DecimalType(precision=3, scale=2))
    """
    if "e" in text.lower():
        return Literal(float(text), DOUBLE)
    value = Decimal(text)
    if "." not in text:
        for type_ in (INT, BIGINT):
            if admits(type_, int(value)):
                return Literal(int(value), type_)
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return Literal(value, DecimalType(max(1, len(digits), scale), scale))


def _bytes(digits: str) -> Literal:
    try:
        return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}"), BINARY)
    except ValueError:
        raise BindError("bad-literal", f"X'{digits}' has other than hexadecimal digits") from None
