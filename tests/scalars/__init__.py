"""Scalar expressions with the values that they have, a table per family.

The unit tests hold the reference and the columnar evaluator to the values; the conformance tests
hold the values to Spark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import Expression, Literal, Ref, literal
from ebbtide.algebra.literal_text import natural_decimal
from ebbtide.algebra.printing import sql
from ebbtide.core.schema import Schema, schema
from ebbtide.core.time import duration, from_datetime
from ebbtide.core.types import BINARY, DATE, DOUBLE, INTERVAL, NULL, TIMESTAMP, type_from_sql

T: Schema = schema(
    y="TINYINT",
    h="SMALLINT",
    i="INT",
    b="BIGINT",
    d="DECIMAL(5, 2)",
    f="DOUBLE",
    s="STRING",
    x="BINARY",
    o="BOOLEAN",
    dt="DATE",
    ts="TIMESTAMP",
    iv="INTERVAL DAY TO SECOND",
    a="ARRAY<INT>",
    st="STRUCT<x: INT, y: STRING>",
    n="INT",
)
"""A table with a column of every type."""


def at(text: str) -> int:
    """The instant of a text."""
    return from_datetime(datetime.fromisoformat(text))


ROW = (
    *(1, 2, 3, 4, Decimal("1.50"), 2.5, "5", b"\x01\x02", True),
    *(date(2020, 1, 31), at("2020-01-02 03:04:05.5"), duration("1 day 1 second"), (1, 2, 3)),
    *((7, "q"), None),
)
"""Its only row."""


@dataclass(frozen=True)
class Fails:
    """What is expected of an expression that is an error on the row."""

    code: str


@dataclass(frozen=True)
class Case:
    """An expression and its value on the row; `near` allows for another last digit."""

    expression: Expression
    expected: Any
    near: bool = False

    def __str__(self) -> str:
        return sql(self.expression)


def col(name: str) -> Ref:
    """A column of the table."""
    return Ref(T.column(name))


def const(value: Any, type_: str | None = None) -> Expression:
    """A constant; a tuple is an array."""
    if isinstance(value, Expression):
        return value
    if type_ is not None:
        return Literal(value, type_from_sql(type_))
    match value:
        case None:
            return Literal(None, NULL)
        case bool() | int() | str():
            return literal(value)
        case float():
            return Literal(value, DOUBLE)
        case Decimal():
            return Literal(value, natural_decimal(value))
        case bytes():
            return Literal(value, BINARY)
        case datetime():
            return Literal(from_datetime(value), TIMESTAMP)
        case date():
            return Literal(value, DATE)
        case timedelta():
            return Literal(duration(value), INTERVAL)
        case tuple():
            return coercion.call("ARRAY", tuple(map(const, value)))
        case _:
            raise TypeError(value)


def f(name: str, *arguments: Any) -> Expression:
    """A call; the arguments are constants or expressions."""
    return coercion.call(name, tuple(map(const, arguments)))


def op(left: Any, operator: str, right: Any) -> Expression:
    """An operator of arithmetic or comparison between constants or expressions."""
    build = (
        coercion.arithmetic if operator in ("+", "-", "*", "/", "%", "DIV") else coercion.compare
    )
    return build(operator, const(left), const(right))


def to(value: Any, type_: str, safe: bool = False) -> Expression:
    """A cast."""
    return coercion.cast(const(value), type_from_sql(type_), safe=safe)


def dec(text: str) -> Decimal:
    """A decimal."""
    return Decimal(text)


def day(text: str) -> date:
    """A day."""
    return date.fromisoformat(text)


def time(text: str) -> Literal:
    """A constant instant."""
    return Literal(at(text), TIMESTAMP)


def cases(*rows: tuple[Any, ...]) -> tuple[Case, ...]:
    """Cases from pairs of an expression and its value, or triples with `near`."""
    return tuple(Case(*row) for row in rows)


def same(left: object, right: object) -> bool:
    """Whether two values are the same, NaN and the type of a number included."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right and str(left) == str(right)


def names(rows: Iterable[Case]) -> set[str]:
    """The functions that occur in the cases."""
    from ebbtide.algebra.expression import Call
    from ebbtide.core.tree import find

    return {call.name for row in rows for call in find(row.expression, Call)}
