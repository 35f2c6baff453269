"""Random expressions on random tables: columns and the reference agree row by row.

The expressions are those of the conformance tables with other operands in the places of their
constants and columns, nested in each other, so every function and every way to fail is among
them.  The reference evaluates from the left and stops at the first error; ``judged`` adds what
the law says beyond that, that a side which decides does so in either order.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    InList,
    Literal,
    Or,
    Ref,
)
from ebbtide.algebra.printing import sql
from ebbtide.columnar import Columnar, arrow_type
from ebbtide.columnar.arrays import array_of, python
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import rewrite
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    ArrayType,
    DecimalType,
    Type,
)
from ebbtide.core.values import Row, Value, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate
from ebbtide.testing.strategies.expressions import expressions
from ebbtide.testing.strategies.values import few_values, rows, schemas, values
from scalars import T, const, f, op, same, to
from scalars.tables import ALL

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
COUNTS = {"REPEAT", "LPAD", "RPAD"}
"""Functions of a number that had better not be large."""

TEXTS = st.sampled_from(
    ["", " ", "a", "ab", "é😀", "12", " -7 ", "2.5", "1e3", "x", "true", "2020-01-02", "%", "a%"]
    + ["2021-12-31 23:59:59.5", "NaN", "YEAR", "day", "yyyy-MM-dd", "(a)", "$1", "1 02:03:04"]
)
TIMES = st.integers(-(10**17), 3 * 10**17) | st.integers(1_500_000_000, 1_700_000_000).map(
    lambda seconds: seconds * 1_000_000
)


def cells(type_: Type) -> st.SearchStrategy[Value]:
    """Values of a type, ordinary ones and its edges."""
    if "VOID" in type_.sql:
        return values(type_)
    own = {STRING: TEXTS, TIMESTAMP: TIMES, INT: st.integers(-3, 5), DOUBLE: few_values(DOUBLE)}
    return st.one_of(own.get(type_, few_values(type_)), few_values(type_), values(type_))


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
    form = draw(st.integers(0, 5))
    if form == 0 or depth == 0 or type_ not in TEMPLATES:
        if columns and draw(st.booleans()):
            return draw(st.sampled_from(columns))
        return Literal(draw(cells(type_)), type_)

    def operand(node: Expression) -> Expression:
        if isinstance(node, Call) and node.name in COUNTS:
            count = Literal(draw(st.integers(-1, 6)), INT)
            return Call(node.name, (node.arguments[0], count, *node.arguments[2:]))
        if not isinstance(node, Literal | Ref) or draw(st.integers(0, 3)) == 0:
            return node
        return draw(templated(node.type, depth - 1))

    return rewrite(draw(st.sampled_from(TEMPLATES[type_])), operand)


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
            assert error.code == theirs.code, (sql(expression), row, theirs, error)
            assert ours is None
        else:
            assert error is None, (sql(expression), row, theirs, error)
            assert same(ours, theirs), (sql(expression), row, theirs, ours)


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


@given(st.data(), st.sampled_from(["+", "-", "*", "/", "%", "DIV"]))
def test_arithmetic(data: st.DataObject, sign: str) -> None:
    pairs = [
        (left, right)
        for left in NUMBERS
        for right in NUMBERS
        if _is_defined(sign, left, right)
    ]
    left, right = data.draw(st.sampled_from(pairs))
    schema = Schema((Column("a", left), Column("b", right)))
    expression = Arithmetic(sign, Ref(schema[0]), Ref(schema[1]))
    check(expression, schema, data.draw(st.lists(st.tuples(cells(left), cells(right)))))


NUMBERS = tuple(
    dict.fromkeys(
        [*(column.type for column in T), DecimalType(38, 10), DecimalType(20, 0), DATE, INTERVAL]
    )
)


def _is_defined(sign: str, left: Type, right: Type) -> bool:
    from ebbtide.errors import BindError

    try:
        return Arithmetic(sign, Literal(None, left), Literal(None, right)).type is not None
    except BindError:
        return False


@given(st.data())
def test_casts(data: st.DataObject) -> None:
    from ebbtide.algebra.expression import Cast
    from ebbtide.algebra.type_rules import can_cast

    several = (*NUMBERS, DecimalType(10, 6), ArrayType(STRING))
    pairs = [(a, b) for a in several for b in several if can_cast(a, b) and a != b]
    source, target = data.draw(st.sampled_from(pairs))
    schema = Schema((Column("a", source),))
    expression = Cast(Ref(schema[0]), target, data.draw(st.booleans()))
    zone = data.draw(st.sampled_from(ZONES))
    check(expression, schema, data.draw(st.lists(st.tuples(cells(source)))), zone)


@given(st.data(), st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"]))
def test_comparisons(data: st.DataObject, sign: str) -> None:
    type_ = data.draw(st.sampled_from(NUMBERS))
    schema = Schema((Column("a", type_), Column("b", type_)))
    right = data.draw(st.one_of(st.just(Ref(schema[1])), cells(type_).map(lambda v: Literal(v, type_))))
    expression = Comparison(sign, Ref(schema[0]), right)
    check(expression, schema, data.draw(st.lists(st.tuples(cells(type_), cells(type_)))))


_ = (example, pytest, coercion, const, f, op, to)
