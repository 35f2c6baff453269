"""Strategies for scalar expressions over a schema, of a wanted type.

Nothing here fails on the small values of generated data: no division, no cast that can go wrong,
no overflow within the depth of a generated plan.

The functions that end in ``_from`` draw one expression at once: building strategies for branches
that are not taken would cost more than everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from ebbtide.algebra.expression import (
    COMPARISONS,
    And,
    Arithmetic,
    Call,
    Case,
    CeilTo,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
    SnapshotTime,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, BOOLEAN, INTERVAL, TIMESTAMP, ArrayType, StructType, Type
from strategies.values import few_values

T = TypeVar("T")


@st.composite
def expressions(draw: st.DrawFn, schema: Schema, type_: Type, depth: int = 1) -> Expression:
    """Expressions of a type: mostly columns that have it, else constants and small terms."""
    return expression_from(draw, schema, type_, depth)


@st.composite
def predicates(draw: st.DrawFn, schema: Schema, depth: int = 1) -> Expression:
    """Conditions on a row: comparisons, NULL tests, lists, and combinations of them."""
    return predicate_from(draw, schema, depth)


@st.composite
def join_predicates(draw: st.DrawFn, left: Schema, right: Schema) -> Expression:
    """Conditions on a pair of rows: an equality of two columns, mostly, and something more."""
    return join_predicate_from(draw, left, right)


def choose(draw: st.DrawFn, options: Sequence[T]) -> T:
    """One of the options; the first is the simplest."""
    return options[draw(_index(len(options)))]


def expression_from(draw: st.DrawFn, schema: Schema, type_: Type, depth: int = 1) -> Expression:
    """An expression of a type."""
    columns = [Ref(column) for column in schema if column.type == type_]
    form = draw(_index(8))
    if form < 5 and columns:
        return choose(draw, columns)
    if form < 6 or depth == 0:
        return Literal(draw(_few(type_)), type_)
    if form == 6:
        condition = predicate_from(draw, schema, depth - 1)
        first = expression_from(draw, schema, type_, depth - 1)
        return Case(((condition, first),), expression_from(draw, schema, type_, depth - 1))
    if type_ == BOOLEAN:
        return predicate_from(draw, schema, depth - 1)
    below = expression_from(draw, schema, type_, depth - 1)
    if type_ == BIGINT:
        other = expression_from(draw, schema, type_, depth - 1)
        return Arithmetic(choose(draw, "+-"), below, other)
    if type_ == TIMESTAMP:
        if draw(_index(2)):
            return FloorTo(below, choose(draw, [2, 5, 10]))
        return Arithmetic("+", below, Literal(draw(_index(6)), INTERVAL))
    return below


def predicate_from(draw: st.DrawFn, schema: Schema, depth: int = 1) -> Expression:
    """A condition on a row."""
    form = draw(_index(8 if depth > 0 else 6))
    if form == 6:
        return Not(predicate_from(draw, schema, depth - 1))
    if form == 7:
        left = predicate_from(draw, schema, depth - 1)
        return choose(draw, [And, Or])(left, predicate_from(draw, schema, depth - 1))
    if form == 5:
        return Literal(choose(draw, [True, True, False, None]), BOOLEAN)
    pairs = [(a, b) for a in schema for b in schema if a != b and a.type == b.type]
    if form == 4 and pairs:
        left_column, right_column = choose(draw, pairs)
        return Comparison(choose(draw, COMPARISONS), Ref(left_column), Ref(right_column))
    return _on_column(draw, choose(draw, schema.columns))


def now_predicate_from(draw: st.DrawFn, schema: Schema, depth: int = 2) -> Expression:
    """A condition on a row in which NOW() stands, or may stand."""
    form = draw(_index(8 if depth > 0 else 4))
    if form < 4:
        return _compared_with_now(draw, schema)
    if form == 4:
        return Not(now_predicate_from(draw, schema, depth - 1))
    if form == 5:
        condition = predicate_from(draw, schema, 0)
        first = now_predicate_from(draw, schema, depth - 1)
        return Case(((condition, first),), now_predicate_from(draw, schema, depth - 1))
    left = now_predicate_from(draw, schema, depth - 1)
    other = predicate_from if form == 6 else now_predicate_from
    return choose(draw, [And, Or])(left, other(draw, schema, depth - 1))


def _compared_with_now(draw: st.DrawFn, schema: Schema) -> Expression:
    """NOW(), moved or rounded, compared with a time."""
    now: Expression = SnapshotTime()
    length = Literal(draw(_index(12)) - 4, INTERVAL)
    time = expression_from(draw, schema, TIMESTAMP, 0)
    op = choose(draw, COMPARISONS)
    match draw(_index(8)):
        case 0:
            return Comparison(op, Arithmetic("-", now, time), length)
        case 1:
            return Comparison(op, Arithmetic("-", time, now), length)
        case 2:
            return Comparison(op, FloorTo(now, choose(draw, [2, 5])), time)
        case 3:
            return Comparison(op, Arithmetic("+", time, length), CeilTo(now, 3))
        case 4:
            return Comparison(op, Call("UNIX_MICROS", (now,)), Call("UNIX_MICROS", (time,)))
        case 5:
            return InList(now, (time, Arithmetic("+", time, length)))
        case 6:
            return Comparison(op, time, Arithmetic("-", now, length))
        case _:
            return Comparison(op, now, Arithmetic("+", time, length))


def join_predicate_from(draw: st.DrawFn, left: Schema, right: Schema) -> Expression:
    """A condition on a pair of rows."""
    pairs = [(a, b) for a in left for b in right if a.type == b.type]
    if not pairs:
        return predicate_from(draw, left + right, 0)
    a, b = choose(draw, pairs)
    form = draw(_index(6))
    times = [(a, b) for a, b in pairs if a.type == TIMESTAMP]
    if form > 3 and times:
        return _band(draw, *choose(draw, times))
    if form == 3:
        return Comparison(choose(draw, COMPARISONS), Ref(a), Ref(b))
    equal = Comparison("=", Ref(a), Ref(b))
    return And(equal, predicate_from(draw, left + right, 0)) if form == 2 else equal


def is_nested(type_: Type) -> bool:
    """Whether a type holds others."""
    return isinstance(type_, ArrayType | StructType)


def _band(draw: st.DrawFn, a: Column, b: Column) -> Expression:
    """One time within some distance of another."""
    low, length = draw(_index(8)) - 4, draw(_index(6))
    first = Arithmetic("+", Ref(a), Literal(low, INTERVAL))
    last = Arithmetic("+", Ref(a), Literal(low + length, INTERVAL))
    return And(Comparison(">=", Ref(b), first), Comparison("<=", Ref(b), last))


def _on_column(draw: st.DrawFn, column: Column) -> Expression:
    ref = Ref(column)
    form = draw(_index(5))
    if form == 4 or is_nested(column.type):
        return IsNull(ref)
    if form == 3:
        options = draw(st.lists(_few(column.type), min_size=1, max_size=2))
        return InList(ref, tuple(Literal(option, column.type) for option in options))
    constant = Literal(draw(_few(column.type)), column.type)
    return Comparison(choose(draw, (">=", "<>", *COMPARISONS)), ref, constant)


@cache
def _index(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


@cache
def _few(type_: Type) -> st.SearchStrategy[object]:
    return few_values(type_)
