"""Scalar expressions as SQL."""

import math
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    FloorTo,
    Item,
    Like,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
    literal,
)
from ebbtide.algebra.identifiers import identifier, type_text
from ebbtide.algebra.printing import sql
from ebbtide.algebra.relation import Map
from ebbtide.algebra.scalars import SCALARS, scalar
from ebbtide.core.schema import Column
from ebbtide.core.time import INF, MINUTE
from ebbtide.core.tree import find, rewrite
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    ArrayType,
    DecimalType,
    StructType,
)
from ebbtide.errors import InternalError
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog
from scalars import T, col, const, f, op, to
from scalars.tables import ALL


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (None, NULL, "NULL"),
        (None, INT, "CAST(NULL AS INT)"),
        (True, BOOLEAN, "TRUE"),
        (5, INT, "5"),
        (-5, INT, "-5"),
        (5, TINYINT, "5Y"),
        (5, SMALLINT, "5S"),
        (-5, BIGINT, "-5L"),
        (-128, TINYINT, "CAST('-128' AS TINYINT)"),
        (-(2**63), BIGINT, "CAST('-9223372036854775808' AS BIGINT)"),
        (1.5, DOUBLE, "1.5D"),
        (1e300, DOUBLE, "1.0E300D"),
        (-2.5e-7, DOUBLE, "-2.5E-7D"),
        (math.nan, DOUBLE, "CAST('NaN' AS DOUBLE)"),
        (-math.inf, DOUBLE, "CAST('-Infinity' AS DOUBLE)"),
        (Decimal("1.50"), DecimalType(3, 2), "1.50"),
        (Decimal("0.05"), DecimalType(2, 2), "0.05"),
        (Decimal("1.50"), DecimalType(10, 2), "CAST(1.50 AS DECIMAL(10, 2))"),
        (Decimal("5"), DecimalType(1, 0), "CAST(5 AS DECIMAL(1, 0))"),
        ("it's", STRING, r"'it\'s'"),
        ("a\\b\n", STRING, r"'a\\b\n'"),
        (b"\x1f", BINARY, "X'1F'"),
        (date(2020, 1, 2), DATE, "DATE '2020-01-02'"),
        (1_500_000, TIMESTAMP, "TIMESTAMP '1970-01-01 00:00:01.5'"),
        (INF, TIMESTAMP, "TIMESTAMP_MICROS(9223372036854775807L)"),
        (15 * MINUTE, INTERVAL, "INTERVAL 15 MINUTES"),
        (-1, INTERVAL, "INTERVAL -1 MICROSECONDS"),
        ((1, None), ArrayType(INT), "ARRAY(1, CAST(NULL AS INT))"),
        ((), ArrayType(INT), "CAST(ARRAY() AS ARRAY<INT>)"),
        ((), ArrayType(NULL), "ARRAY()"),
        ((1, "x"), StructType((("a", INT), ("b c", STRING))), "NAMED_STRUCT('a', 1, 'b c', 'x')"),
    ],
)
def test_constants(value, type_, text) -> None:
    assert sql(Literal(value, type_)) == text


A, B, C = col("i"), literal(1), literal(2)
Q, P = col("o"), Comparison("=", A, B)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Arithmetic("+", Arithmetic("+", A, B), C), "i + 1 + 2"),
        (Arithmetic("+", A, Arithmetic("+", B, C)), "i + (1 + 2)"),
        (Arithmetic("*", Arithmetic("+", A, B), C), "(i + 1) * 2"),
        (Arithmetic("+", Arithmetic("*", A, B), C), "i * 1 + 2"),
        (Arithmetic("-", A, literal(-1)), "i - -1"),
        (Negation(A), "-i"),
        (Negation(Negation(A)), "-(-i)"),
        (Negation(literal(5)), "-(5)"),
        (Negation(Arithmetic("*", A, B)), "-(i * 1)"),
        (Arithmetic("*", Negation(A), B), "-i * 1"),
        (And(And(Q, Q), Q), "o AND o AND o"),
        (And(Q, And(Q, Q)), "o AND (o AND o)"),
        (And(Or(Q, Q), Q), "(o OR o) AND o"),
        (Or(And(Q, Q), Q), "o AND o OR o"),
        (Not(Q), "NOT o"),
        (Not(Not(Q)), "NOT (NOT o)"),
        (Not(P), "NOT (i = 1)"),
        (And(Not(Q), Q), "NOT o AND o"),
        (Not(And(Q, Q)), "NOT (o AND o)"),
        (Comparison("=", P, Q), "(i = 1) = o"),
        (Comparison("=", Q, Not(Q)), "o = (NOT o)"),
        (coercion.is_null(P), "(i = 1) IS NULL"),
        (Not(coercion.is_null(A)), "i IS NOT NULL"),
        (coercion.in_list(A, (B, C)), "i IN (1, 2)"),
        (Not(coercion.in_list(A, (B,))), "i NOT IN (1)"),
        (Like(col("s"), literal("a%")), "s LIKE 'a%'"),
        (Not(Like(col("s"), literal("a#%"), "#")), "s NOT LIKE 'a#%' ESCAPE '#'"),
        (Comparison("=", Like(col("s"), literal("a")), Q), "(s LIKE 'a') = o"),
        (f("RLIKE", col("s"), "a"), "s RLIKE 'a'"),
        (Not(f("RLIKE", col("s"), "a")), "NOT (s RLIKE 'a')"),
        (f("BIT_AND", Arithmetic("+", A, B), A), "i + 1 & i"),
        (f("BIT_OR", f("BIT_AND", A, B), C), "(i & 1) | 2"),
        (Comparison("<", f("BIT_XOR", A, B), f("BIT_NOT", A)), "i ^ 1 < ~i"),
        (coercion.case(((Q, B),), C), "CASE WHEN o THEN 1 ELSE 2 END"),
        (coercion.case(((Q, B), (P, C))), "CASE WHEN o THEN 1 WHEN i = 1 THEN 2 END"),
        (Cast(A, STRING), "CAST(i AS STRING)"),
        (Cast(A, STRING, safe=True), "TRY_CAST(i AS STRING)"),
        (FloorTo(col("ts"), 15 * MINUTE), "FLOOR(ts TO 15 MINUTES)"),
        (Comparison("<", SnapshotTime(), col("ts")), "NOW() < ts"),
        (CeilTo(col("ts"), 90_000_000), "CEIL(ts TO 90 SECONDS)"),
        (Field(col("st"), "x"), "st.x"),
        (Field(Item(f("ARRAY", col("st")), B), "y"), "ARRAY(st)[1].y"),
        (Item(col("a"), Arithmetic("+", A, B)), "a[i + 1]"),
        (Negation(Item(col("a"), B)), "-a[1]"),
        (f("ROUND", col("d"), 1), "ROUND(d, 1)"),
        (Call("ROUND", (col("d"), B)), "CAST(ROUND(d, 1) AS DECIMAL(6, 2))"),
        (f("STRUCT", A, 1), "NAMED_STRUCT('i', i, 'col2', 1)"),
        (Call("STRUCT", (A,)), "NAMED_STRUCT('col1', i)"),
        (f("TRIM", col("s"), "x"), "TRIM(BOTH 'x' FROM s)"),
        (f("EXTRACT", "SECOND", col("ts")), "EXTRACT(SECOND FROM ts)"),
        (Ref(Column("price", INT, table="b")), "b.price"),
        (Ref(Column("order", INT, table="my table")), "`my table`.`order`"),
        (Cast(A, ArrayType(StructType((("a b", INT),)))), "CAST(i AS ARRAY<STRUCT<`a b`: INT>>)"),
    ],
)
def test_expressions(expression: Expression, text: str) -> None:
    assert sql(expression) == text


def test_names() -> None:
    assert identifier("Price_2") == "Price_2"
    assert identifier("2x") == "`2x`"
    assert identifier("select") == "`select`"
    assert identifier("") == "``"
    assert type_text(StructType((("a", INT),))) == "STRUCT<a: INT>"


GUARDS = {Tried, Fails, Succeeds, Failure, RowText}
"""What only plans that run have in them, and no text."""


def test_every_expression_class_is_printed() -> None:
    assert {type(node) for case in ALL for node in find(case.expression, Expression)} >= {
        *SCALARS
    } - {FloorTo, CeilTo, SnapshotTime} - GUARDS
    names = {each.__name__ for each in SCALARS}
    assert names == {each.__name__ for each in Expression.__subclasses__()}


def test_a_foreign_expression_is_not() -> None:
    with pytest.raises(InternalError):
        scalar(Expression.__new__(Expression))


# --- reading back ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    columns = ", ".join(f"{column.name} {column.type}" for column in T)
    return execute(parse(f"CREATE TABLE t ({columns})")[0], Catalog())


def read(text: str, catalog: Catalog) -> Expression:
    """What the binder makes of a text."""
    query = bind_query(parse_query(f"SELECT {text} AS v FROM t"), catalog)
    (item,) = next(find(query.plan, Map)).columns
    return rewrite(
        item.expression, lambda node: col(node.column.name) if isinstance(node, Ref) else node
    )


def is_plain(expression: Expression) -> bool:
    """Whether no cast of a constant is in it that the constructors would not have made."""
    return all(
        not isinstance(cast.operand, Literal) or to(cast.operand, cast.to.sql, cast.safe) == cast
        for cast in find(expression, Cast)
    )


@pytest.mark.parametrize("case", [c for c in ALL if is_plain(c.expression)], ids=str)
def test_the_text_reads_back(case, catalog: Catalog) -> None:
    assert read(str(case), catalog) == case.expression


NUMBERS = st.sampled_from([col("i"), const(1), const(-1), f("ABS", col("i")), Negation(col("i"))])
TRUTHS = st.sampled_from([col("o"), op(col("i"), "<", 1), coercion.is_null(col("i"))])
OPERATORS = st.sampled_from(["+", "-", "*", "%"])


def _numbers(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Arithmetic, OPERATORS, inner, inner),
        st.builds(coercion.negate, inner),
        st.builds(lambda a, b: f("BIT_AND", a, b), inner, inner),
    )


def _truths(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    numbers = st.recursive(NUMBERS, _numbers, max_leaves=4)
    return st.one_of(
        st.builds(And, inner, inner),
        st.builds(Or, inner, inner),
        st.builds(Not, inner),
        st.builds(coercion.is_null, inner),
        st.builds(lambda a, b: op(a, "=", b), inner, inner),
        st.builds(lambda a, b: op(a, ">=", b), numbers, numbers),
        st.builds(lambda a, b: coercion.in_list(a, (b, const(1))), numbers, numbers),
        st.builds(lambda a, b: f("IF", a, b, a), inner, inner),
    )


@given(st.recursive(TRUTHS, _truths, max_leaves=8))
def test_parentheses_stand_where_they_are_needed(expression: Expression) -> None:
    columns = ", ".join(f"{column.name} {column.type}" for column in T)
    known = execute(parse(f"CREATE TABLE t ({columns})")[0], Catalog())
    assert read(sql(expression), known) == expression
