"""Random expressions on random tables: columns and the reference agree row by row.

The expressions are those of the conformance tables with other operands in the places of their
constants and columns, nested in each other, so every function and every way to fail is among
them.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra.arithmetic import arithmetic_type
from ebbtide.algebra.expression import (
    ARITHMETIC,
    COMPARISONS,
    Arithmetic,
    Call,
    Cast,
    Comparison,
    Expression,
    Literal,
    Ref,
)
from ebbtide.algebra.type_rules import can_cast
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BIGINT, BOOLEAN, INT, STRING, TIMESTAMP, ArrayType, DecimalType, Type
from ebbtide.core.values import Row, Value
from ebbtide.errors import BindError
from scalars import T
from scalars.columns import COUNTS, ZONES, check, edges
from scalars.tables import ALL
from strategies.expressions import expressions
from strategies.values import rows, schemas, values


@cache
def cells(type_: Type) -> st.SearchStrategy[Value]:
    """Values of a type: where something ends or begins, few, and all."""
    known = edges(type_)
    return st.sampled_from([*known, None]) | values(type_) if known else values(type_)


def _templates() -> dict[Type, list[Expression]]:
    found: dict[Type, list[Expression]] = defaultdict(list)
    for case in ALL:
        found[case.expression.type].append(case.expression)
    return found


TEMPLATES = _templates()
RESULTS = sorted(TEMPLATES, key=str)


@st.composite
def templated(draw: st.DrawFn, type_: Type, depth: int) -> Expression:
    """An expression of a type: a column, a constant, or one of the tables with other operands."""
    columns = [Ref(column) for column in T if column.type == type_]
    form = draw(FORMS)
    if depth == 0 or form < 2 or type_ not in TEMPLATES:
        if columns and form % 2:
            return draw(st.sampled_from(columns))
        return Literal(draw(cells(type_)), type_)

    def operand(node: Expression) -> Expression:
        if isinstance(node, Call) and node.name in COUNTS:
            count = Literal(draw(FORMS), INT)
            return Call(node.name, (node.arguments[0], count, *node.arguments[2:]))
        if not isinstance(node, Literal | Ref) or draw(FORMS) == 0:
            return node
        return draw(templated(node.type, depth - 1))

    return rewrite(draw(st.sampled_from(TEMPLATES[type_])), operand)


FORMS = st.integers(0, 7)


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Some rows of the tables' schema."""
    return draw(st.lists(st.tuples(*(cells(column.type) for column in T)), max_size=4))


@given(st.data(), tables(), st.sampled_from(ZONES))
def test_templates(data: st.DataObject, given_: list[Row], zone: str) -> None:
    type_ = data.draw(st.sampled_from(RESULTS))
    check(data.draw(templated(type_, 3)), T, given_, zone)


@given(st.data(), schemas())
def test_expressions_of_plans(data: st.DataObject, schema: Schema) -> None:
    type_ = data.draw(st.sampled_from([BOOLEAN, BIGINT, TIMESTAMP, *(c.type for c in schema)]))
    expression = data.draw(expressions(schema, type_, 3))
    check(expression, schema, data.draw(st.lists(rows(schema), max_size=5)))


TYPES = tuple(
    dict.fromkeys(
        [*(column.type for column in T), DecimalType(38, 10), DecimalType(20, 0), DecimalType(38)]
    )
)


@given(st.data(), st.sampled_from(ARITHMETIC))
def test_arithmetic(data: st.DataObject, sign: str) -> None:
    pairs = [(a, b) for a in TYPES for b in TYPES if _is_defined(sign, a, b)]
    left, right = data.draw(st.sampled_from(pairs))
    schema = Schema((Column("a", left), Column("b", right)))
    expression = Arithmetic(
        sign, _ref_or_literal(data, schema[0]), _ref_or_literal(data, schema[1])
    )
    zone = data.draw(st.sampled_from(ZONES))
    check(expression, schema, data.draw(st.lists(st.tuples(cells(left), cells(right)))), zone)


def _is_defined(sign: str, left: Type, right: Type) -> bool:
    try:
        arithmetic_type(sign, left, right)
    except BindError:
        return False
    return True


def _ref_or_literal(data: st.DataObject, column: Column) -> Expression:
    if data.draw(FORMS):
        return Ref(column)
    return Literal(data.draw(cells(column.type)), column.type)


@given(st.data(), st.booleans(), st.sampled_from(ZONES))
def test_casts(data: st.DataObject, safe: bool, zone: str) -> None:
    several = (*TYPES, DecimalType(10, 6), ArrayType(STRING))
    pairs = [(a, b) for a in several for b in several if a != b and can_cast(a, b)]
    source, target = data.draw(st.sampled_from(pairs))
    schema = Schema((Column("a", source),))
    given_ = data.draw(st.lists(st.tuples(cells(source))))
    check(Cast(Ref(schema[0]), target, safe), schema, given_, zone)


@given(st.data(), st.sampled_from(COMPARISONS))
def test_comparisons(data: st.DataObject, sign: str) -> None:
    type_ = data.draw(st.sampled_from(TYPES))
    schema = Schema((Column("a", type_), Column("b", type_)))
    expression = Comparison(sign, Ref(schema[0]), _ref_or_literal(data, schema[1]))
    check(expression, schema, data.draw(st.lists(st.tuples(cells(type_), cells(type_)))))
