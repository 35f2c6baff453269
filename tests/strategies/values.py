"""Strategies for types, schemas, values and rows.

``values`` covers a type to its edges; ``few_values`` has a handful, so that rows are often equal.
Both include NULL unless told.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import cache, partial
from math import prod
from typing import TypeVar

from hypothesis import strategies as st

from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    ArrayType,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.core.values import NAN, Row, Value, normalise

T = TypeVar("T")

LAST = 30
"""Finite instants of generated data lie in ``[0, LAST]``."""

SCALARS: tuple[Type, ...] = (
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INT,
    BIGINT,
    DOUBLE,
    DecimalType(5, 2),
    DecimalType(38, 10),
    STRING,
    BINARY,
    DATE,
    TIMESTAMP,
    INTERVAL,
)


def instants(first: Instant = 0, last: Instant = LAST) -> st.SearchStrategy[Instant]:
    """Instants on a short line."""
    return st.integers(first, last)


def types(nested: bool = True) -> st.SearchStrategy[Type]:
    """Types of columns; arrays and structs among them unless told."""
    scalars = st.sampled_from(SCALARS)
    if not nested:
        return scalars
    arrays = st.builds(ArrayType, scalars)
    structs = st.builds(lambda a, b: StructType((("a", a), ("b", b))), scalars, scalars)
    return st.one_of(scalars, arrays, structs)


def schemas(
    of: st.SearchStrategy[Type] | None = None, max_columns: int = 3
) -> st.SearchStrategy[Schema]:
    """Schemas of one column or more, nullable or not."""
    columns = st.lists(st.tuples(of or types(), st.booleans()), min_size=1, max_size=max_columns)
    return columns.map(
        lambda drawn: Schema(
            tuple(Column(f"c{i}", type_, nullable) for i, (type_, nullable) in enumerate(drawn))
        )
    )


def values(type_: Type, nullable: bool = True) -> st.SearchStrategy[Value]:
    """Any value of a type: its edges, NaN, and NULL unless told."""
    found = _any(type_).map(normalise)
    return st.none() | found if nullable else found


def few_values(type_: Type, nullable: bool = True) -> st.SearchStrategy[Value]:
    """One of a handful of values of a type; NULL among them unless told."""
    return st.sampled_from(_few(type_, nullable))


def rows(schema: Schema, few: bool = True) -> st.SearchStrategy[Row]:
    """Rows of a schema, from few values or from all."""
    if not few:
        return st.tuples(*(values(column.type, column.nullable) for column in schema))
    # One draw for a row instead of one for each value: most of the time goes into drawing.
    domains = [_few(column.type, column.nullable) for column in schema]
    return st.integers(0, prod(map(len, domains)) - 1).map(partial(_row, domains))


def _row(domains: Sequence[Sequence[Value]], number: int) -> Row:
    found = []
    for domain in domains:
        number, place = divmod(number, len(domain))
        found.append(domain[place])
    return tuple(found)


def _decimal(units: int, scale: int) -> Decimal:
    # Decimal's own arithmetic would round to 28 digits.
    digits = tuple(int(digit) for digit in str(abs(units)))
    return Decimal((int(units < 0), digits, -scale))


def several(of: st.SearchStrategy[T], most: int) -> st.SearchStrategy[list[T]]:
    """Lists of up to ``most`` items, the greater part of them at least half full."""
    full = st.lists(of, min_size=most // 2, max_size=most)
    return st.one_of(st.lists(of, max_size=most), full, full)


def _any(type_: Type) -> st.SearchStrategy[Value]:
    match type_:
        case BooleanType():
            return st.booleans()
        case IntegerType(least=least, greatest=greatest):
            return st.sampled_from([least, -1, 0, 1, greatest]) | st.integers(least, greatest)
        case TimestampType():
            return st.sampled_from([NEG_INF, -1, 0, INF]) | st.integers(NEG_INF, INF)
        case IntervalType():
            return st.integers(NEG_INF, INF)
        case DoubleType():
            return st.floats()
        case DecimalType(precision=precision, scale=scale):
            limit = 10**precision - 1
            return st.integers(-limit, limit).map(lambda n: _decimal(n, scale))
        case StringType():
            return st.text(max_size=8) | st.sampled_from(["NULL", "'", "a|b", "\\n", "ẞ", "\n"])
        case BinaryType():
            return st.binary(max_size=8)
        case DateType():
            return st.dates()
        case ArrayType(element=element):
            return st.lists(values(element), max_size=3).map(tuple)
        case StructType(fields=fields):
            return st.tuples(*(values(field) for _, field in fields))
        case _:
            return st.none()


def _few(type_: Type, nullable: bool) -> Sequence[Value]:
    return (*_domain(type_), *([None] if nullable else []))


@cache
def _domain(type_: Type) -> Sequence[Value]:
    match type_:
        case BooleanType():
            return (True, False)
        case IntegerType():
            return (0, 1, 2, 3, -1)
        case TimestampType():
            return range(LAST + 1)
        case IntervalType():
            return (0, 1, 5)
        case DoubleType():
            # Small dyadic numbers: sums of them are exact in any order.
            return (0.0, 0.5, 1.5, -2.0, NAN)
        case DecimalType(scale=scale):
            return tuple(_decimal(n, scale) for n in (0, 1, 2, -1))
        case StringType():
            return ("", "a", "b", "ab")
        case BinaryType():
            return (b"", b"\x00", b"a")
        case DateType():
            return (date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29))
        case ArrayType(element=element):
            first, second, *_ = _domain(element)
            return ((), (first,), (second,), (second, None))
        case StructType(fields=fields):
            few = [(*_domain(field)[:2], None) for _, field in fields]
            return tuple(_row(few, number) for number in range(3 ** len(few)))
        case _:
            raise NotImplementedError(type_)
