"""The edges of types, and the judgement of the columnar evaluator by the reference.

The reference evaluates from the left and stops at the first error; ``judged`` adds what the law
says beyond that, that a side which decides does so in either order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa

from ebbtide.algebra.expression import And, Expression, InList, Literal, Or
from ebbtide.algebra.printing import sql
from ebbtide.columnar import Columnar
from ebbtide.columnar.arrays import array_of, python
from ebbtide.core.decimals import EXACT
from ebbtide.core.schema import Schema
from ebbtide.core.time import DAY, HOUR
from ebbtide.core.tree import rewrite
from ebbtide.core.types import (
    BOOLEAN,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    Type,
)
from ebbtide.core.values import Row, Value, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate
from ebbtide.state.types import arrow_type
from scalars import same

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
COUNTS = {"REPEAT", "LPAD", "RPAD"}
"""Functions of a number that had better not be large."""

TEXTS = (
    *("", "a", "A b", "é😀x", "ẞ", "İ", "12", " -7 ", "+3", "2.5", "1e3", "NaN", "inf", "x", "no"),
    *("true", "%", "a%", "a_", "\\", "a\\%b", "2020-01-02", "2020-02-30", "0001-01-01", ",", "\n"),
    *("9999-12-31 23:59:59.999999", "2021-03-28 02:30:00", "2021-12-31 23:59:59.5+02:00", "ff"),
    *("YEAR", "day", "HOUR", "week", "MILLISECOND", "yyyy-MM-dd", "HH:mm", "(a)", "$1", "[a"),
    *("^a", "\\d+", "1 02:03:04", "a,b,c", "0x1F", "1" * 30),
    *('{"a": [1, {"b": null}]}', '[1.50, "x"]', "$.a", "$[0]", "$.a[1].b", "{"),
)
DAYS = ((1970, 1, 1), (1969, 12, 31), (2024, 2, 29), (2021, 3, 28), (1, 1, 1), (9999, 12, 31))
BERLIN_SPRING, BERLIN_AUTUMN = 1_616_893_200_000_000, 1_635_642_000_000_000
INSTANTS = (
    *(0, -1, -(2**63), 2**63 - 1, 1_577_934_245_500_000, -2_208_988_800_000_000),
    *(-62_135_596_800_000_000, -62_135_596_800_000_001),
    *(253_402_300_799_999_999, 253_402_300_800_000_000),
    *(BERLIN_SPRING - 1, BERLIN_SPRING, BERLIN_AUTUMN - 1, BERLIN_AUTUMN),
    *(BERLIN_AUTUMN + 1_800_000_000, 1_617_463_800_000_000, 1_633_188_600_000_000),
)
REALS = (
    *(0.0, 1.0, -1.0, 0.5, -2.5, 2.675, 1e-7, 1e20, -1e20, 1e308, -1e308, 5e-324, 2.0**53),
    *(math.inf, -math.inf, math.nan, 2.0**63, -(2.0**63), 127.5, 123456789.125),
)


def edges(type_: Type) -> Sequence[Value]:
    """Values of a type where something begins or ends; none of a nested type."""
    match type_:
        case BooleanType():
            return (True, False)
        case IntegerType(least=least, greatest=greatest):
            return (least, least + 1, -7, -2, -1, 0, 1, 2, 3, 10, 31, greatest - 1, greatest)
        case DoubleType():
            return REALS
        case DecimalType(precision=precision, scale=scale):
            most = 10**precision - 1
            units = (0, 1, -1, 5, -5, 15, 150, most // 3, most - 1, most, -most)
            return [Decimal(n).scaleb(-scale, EXACT) for n in units if abs(n) <= most]
        case StringType():
            return TEXTS
        case BinaryType():
            return (b"", b"\x00", b"a", b"\xff\xfe", b"abc")
        case DateType():
            return [date(*day) for day in DAYS]
        case TimestampType():
            return INSTANTS
        case IntervalType():
            return (0, 1, -1, 1_500_000, -1_500_000, DAY, HOUR, 2**63 - 1, -(2**63))
        case _:
            return ()


def outcome(expression: Expression, schema: Schema, row: Row, zone: tzinfo = UTC) -> Value:
    """The reference's value, or the error that it raises."""
    try:
        return evaluate(expression, schema, row, zone)
    except EvaluationError as error:
        return error


def judged(expression: Expression, schema: Schema, row: Row, zone: tzinfo) -> Value:
    """What the law says that an expression is on a row: a value or an error."""

    def decided(node: Expression) -> Expression:
        match node:
            case And() | Or():
                decisive = isinstance(node, Or)
                sides = (outcome(side, schema, row, zone) for side in (node.left, node.right))
                return Literal(decisive, BOOLEAN) if any(s is decisive for s in sides) else node
            case InList():
                value = outcome(node.operand, schema, row, zone)
                if value is None or isinstance(value, EvaluationError):
                    return node
                options = [outcome(option, schema, row, zone) for option in node.options]
                found = any(
                    sort_key(option) == sort_key(value)
                    for option in options
                    if not isinstance(option, EvaluationError)
                )
                return Literal(True, BOOLEAN) if found else node
            case _:
                return node

    return outcome(rewrite(expression, decided), schema, row, zone)


def check(expression: Expression, schema: Schema, given_: list[Row], zone: str = "UTC") -> None:
    """Columns and the reference agree on every row."""
    columns = [array_of([row[i] for row in given_], c.type) for i, c in enumerate(schema)]
    table = pa.table(columns, names=[f"c{i}" for i in range(len(schema))])
    evaluated = Columnar(expression, schema, zone).evaluate(table)
    assert evaluated.values.type == arrow_type(expression.type)
    found = python(evaluated.values, expression.type)
    assert len(found) == len(given_)
    assert evaluated.failures is None or evaluated.failures.mask.any()
    for place, (row, ours) in enumerate(zip(given_, found, strict=True)):
        theirs = judged(expression, schema, row, ZoneInfo(zone))
        error = None if evaluated.failures is None else evaluated.failures.at(place)
        if isinstance(theirs, EvaluationError):
            assert error is not None, (sql(expression), row, theirs, ours)
            assert error.reason == theirs.reason, (sql(expression), row, theirs, error)
            assert ours is None
        else:
            assert error is None, (sql(expression), row, theirs, error)
            assert same(ours, theirs), (sql(expression), row, theirs, ours)
