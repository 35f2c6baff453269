"""The reference against DuckDB, on random rows, where both mean the same."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.core.schema import Schema, schema
from ebbtide.core.time import duration, from_datetime
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluator
from scalars import const, f, op, to

R: Schema = schema(
    i="INT", j="INT", b="BIGINT", x="DOUBLE", p="DECIMAL(9, 2)", q="DECIMAL(7, 3)",
    s="STRING", u="STRING", d="DATE", e="DATE", t="TIMESTAMP",
)  # fmt: skip

SMALL = st.integers(-10, 10)
INTS = st.one_of(SMALL, st.integers(-(2**31), 2**31 - 1))
TEXTS = st.text("aAbB %_x1é ", max_size=8)
DAYS = st.dates(date(1600, 1, 1), date(2400, 1, 1))
TIMES = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))
DYADIC = st.integers(-1000, 1000).map(lambda n: n / 8)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value or NULL."""
    return st.one_of(values, values, values, st.none())


ROWS = st.tuples(
    *(maybe(INTS), maybe(SMALL), maybe(st.one_of(SMALL, st.integers(-(2**40), 2**40)))),
    *(maybe(DYADIC), maybe(st.decimals(-(10**6), 10**6, places=2))),
    *(maybe(st.decimals(-999, 999, places=3)), maybe(TEXTS), maybe(TEXTS)),
    *(maybe(DAYS), maybe(DAYS), maybe(TIMES)),
)


def c(name: str) -> Ref:
    """A column."""
    return Ref(R.column(name))


def case(*branches: Expression) -> Expression:
    """CASE WHEN a THEN b ELSE c END."""
    return coercion.case(((branches[0], branches[1]),), branches[2])


SAME: dict[str, Expression] = {
    # truth values and choice
    "i < j": op(c("i"), "<", c("j")),
    "i = j OR i > b": coercion.or_(op(c("i"), "=", c("j")), op(c("i"), ">", c("b"))),
    "i <= j AND NOT (x > 1)": coercion.and_(
        op(c("i"), "<=", c("j")), coercion.not_(op(c("x"), ">", 1))
    ),
    "i IS NOT DISTINCT FROM j": op(c("i"), "<=>", c("j")),
    "i IS NULL": coercion.is_null(c("i")),
    "j IN (1, 2, i)": coercion.in_list(c("j"), (const(1), const(2), c("i"))),
    "j NOT IN (1, 2, i)": coercion.not_(coercion.in_list(c("j"), (const(1), const(2), c("i")))),
    "j BETWEEN i AND b": coercion.between(c("j"), c("i"), c("b")),
    "CASE WHEN i < j THEN s ELSE u END": case(op(c("i"), "<", c("j")), c("s"), c("u")),
    "COALESCE(i, j, 7)": f("COALESCE", c("i"), c("j"), 7),
    "NULLIF(i, j)": f("NULLIF", c("i"), c("j")),
    "IF(i < j, i, j)": f("IF", op(c("i"), "<", c("j")), c("i"), c("j")),
    "GREATEST(i, j, b)": f("GREATEST", c("i"), c("j"), c("b")),
    "LEAST(s, u)": f("LEAST", c("s"), c("u")),
    "p < q": op(c("p"), "<", c("q")),
    "s < u": op(c("s"), "<", c("u")),
    "d <= t": op(c("d"), "<=", c("t")),
    # numbers
    "j + 1": op(c("j"), "+", 1),
    "i + b": op(c("i"), "+", c("b")),
    "b - i": op(c("b"), "-", c("i")),
    "j * b": op(c("j"), "*", c("b")),
    "-j": coercion.negate(c("j")),
    "x + j": op(c("x"), "+", c("j")),
    "x * x - j": op(op(c("x"), "*", c("x")), "-", c("j")),
    "i / NULLIF(j, 0)": op(c("i"), "/", f("NULLIF", c("j"), 0)),
    "i % NULLIF(j, 0)": op(c("i"), "%", f("NULLIF", c("j"), 0)),
    "CASE WHEN j = 0 THEN NULL ELSE divide(i, j) END": op(c("i"), "DIV", f("NULLIF", c("j"), 0)),
    "p + q": op(c("p"), "+", c("q")),
    "p - q": op(c("p"), "-", c("q")),
    "p * q": op(c("p"), "*", c("q")),
    "ABS(j)": f("ABS", c("j")),
    "ABS(p)": f("ABS", c("p")),
    "CAST(FLOOR(x) AS BIGINT)": f("FLOOR", c("x")),
    "CAST(CEIL(x) AS BIGINT)": f("CEIL", c("x")),
    "ROUND(x)": f("ROUND", c("x")),
    "ROUND(p, 1)": f("ROUND", c("p"), 1),
    "CASE WHEN x < 0 THEN NULL ELSE SQRT(x) END": case(
        op(c("x"), "<", 0), const(None, "DOUBLE"), f("SQRT", c("x"))
    ),
    "i & j": f("BIT_AND", c("i"), c("j")),
    "i | j": f("BIT_OR", c("i"), c("j")),
    "xor(i, j)": f("BIT_XOR", c("i"), c("j")),
    "~j": f("BIT_NOT", c("j")),
    # texts
    "UPPER(s)": f("UPPER", c("s")),
    "LOWER(s)": f("LOWER", c("s")),
    "LENGTH(s)": f("LENGTH", c("s")),
    "s || u": f("CONCAT", c("s"), c("u")),
    "CONCAT_WS('-', s, u)": f("CONCAT_WS", "-", c("s"), c("u")),
    "SUBSTRING(s, 2)": f("SUBSTRING", c("s"), 2),
    "SUBSTRING(s, 2, 3)": f("SUBSTRING", c("s"), 2, 3),
    "SUBSTRING(s, -2)": case(op(f("LENGTH", c("s")), "<", 2), c("s"), f("SUBSTRING", c("s"), -2)),
    "LEFT(s, 2)": f("LEFT", c("s"), 2),
    "RIGHT(s, 2)": f("RIGHT", c("s"), 2),
    "TRIM(s)": f("TRIM", c("s")),
    "LTRIM(s, 'ab')": f("LTRIM", c("s"), "ab"),
    "RTRIM(s, 'ab')": f("RTRIM", c("s"), "ab"),
    "REPLACE(s, 'a', 'xy')": f("REPLACE", c("s"), "a", "xy"),
    "TRANSLATE(s, 'ab', 'x')": f("TRANSLATE", c("s"), "ab", "x"),
    "REVERSE(s)": f("REVERSE", c("s")),
    "REPEAT(s, 2)": f("REPEAT", c("s"), 2),
    "LPAD(s, 5, 'xy')": f("LPAD", c("s"), 5, "xy"),
    "RPAD(s, 5, 'xy')": f("RPAD", c("s"), 5, "xy"),
    "STARTS_WITH(s, u)": f("STARTSWITH", c("s"), c("u")),
    "ENDS_WITH(s, u)": f("ENDSWITH", c("s"), c("u")),
    "CONTAINS(s, u)": f("CONTAINS", c("s"), c("u")),
    "INSTR(s, 'b')": f("INSTR", c("s"), "b"),
    "SPLIT_PART(s, 'a', 2)": f("SPLIT_PART", c("s"), "a", 2),
    # DuckDB counts the bytes of a character, so it is asked about ASCII.
    "LEVENSHTEIN(REPLACE(s, 'é', 'e'), REPLACE(u, 'é', 'e'))": f(
        "LEVENSHTEIN", f("REPLACE", c("s"), "é", "e"), f("REPLACE", c("u"), "é", "e")
    ),
    "s LIKE 'a%'": coercion.like(c("s"), const("a%")),
    "s LIKE '_a%b_'": coercion.like(c("s"), const("_a%b_")),
    "s NOT LIKE '%#_%' ESCAPE '#'": coercion.not_(coercion.like(c("s"), const("%#_%"), "#")),
    "REGEXP_MATCHES(s, '^[aA]+.?b')": f("RLIKE", c("s"), "^[aA]+.?b"),
    "REGEXP_REPLACE(s, '[ab]+', '-', 'g')": f("REGEXP_REPLACE", c("s"), "[ab]+", "-"),
    "MD5(s)": f("MD5", c("s")),
    # dates and times
    "YEAR(d)": f("YEAR", c("d")),
    "QUARTER(d)": f("QUARTER", c("d")),
    "MONTH(t)": f("MONTH", c("t")),
    "WEEKOFYEAR(d)": f("WEEKOFYEAR", c("d")),
    "ISOYEAR(d)": f("EXTRACT", "YEAROFWEEK", c("d")),
    "DAY(t)": f("DAY", c("t")),
    "DAYOFYEAR(d)": f("DAYOFYEAR", c("d")),
    "DAYOFWEEK(d) + 1": f("DAYOFWEEK", c("d")),
    "HOUR(t)": f("HOUR", c("t")),
    "MINUTE(t)": f("MINUTE", c("t")),
    "SECOND(t)": f("SECOND", c("t")),
    "EPOCH_US(t)": f("UNIX_MICROS", c("t")),
    "d - e": f("DATEDIFF", c("d"), c("e")),
    "d + j": op(c("d"), "+", c("j")),
    "LAST_DAY(d)": f("LAST_DAY", c("d")),
    "CAST(d + INTERVAL 1 MONTH * j AS DATE)": f("ADD_MONTHS", c("d"), c("j")),
    "DATE_TRUNC('hour', t)": f("DATE_TRUNC", "HOUR", c("t")),
    "DATE_TRUNC('week', t)": f("DATE_TRUNC", "WEEK", c("t")),
    "DATE_TRUNC('quarter', t)": f("DATE_TRUNC", "QUARTER", c("t")),
    "t + INTERVAL 90 MINUTES": op(c("t"), "+", timedelta(minutes=90)),
    "EPOCH_US(t - CAST(d AS TIMESTAMP))": op(c("t"), "-", c("d")),
    "STRFTIME(t, '%Y-%m-%d %H:%M:%S %p %I')": f("DATE_FORMAT", c("t"), "yyyy-MM-dd HH:mm:ss a hh"),
    # casts
    "CAST(i AS VARCHAR)": to(c("i"), "STRING"),
    "CAST(CAST(i AS VARCHAR) AS INT)": to(to(c("i"), "STRING"), "INT"),
    "CAST(p AS VARCHAR)": to(c("p"), "STRING"),
    "CAST(d AS VARCHAR)": to(c("d"), "STRING"),
    "CAST(CAST(t AS VARCHAR) AS TIMESTAMP)": to(to(c("t"), "STRING"), "TIMESTAMP"),
    "CAST(t AS DATE)": to(c("t"), "DATE"),
    "CAST(d AS TIMESTAMP)": to(c("d"), "TIMESTAMP"),
    "CAST(p AS DOUBLE)": to(c("p"), "DOUBLE"),
    "CAST(q AS DECIMAL(5, 1))": to(c("q"), "DECIMAL(5, 1)"),
    "TRY_CAST(i AS TINYINT)": to(c("i"), "TINYINT", safe=True),
    "CAST(j <> 0 AS INT)": to(op(c("j"), "<>", 0), "INT"),
}

# Data that one of the two refuses, the other must refuse as well.
REFUSING: dict[str, Expression] = {
    "i + i": op(c("i"), "+", c("i")),
    "i * j": op(c("i"), "*", c("j")),
    "CAST(i AS SMALLINT)": to(c("i"), "SMALLINT"),
    "CAST(s AS INT)": to(f("TRIM", c("s")), "INT"),
}


@pytest.fixture(scope="module")
def ask() -> Callable[[list[tuple[Any, ...]], str], list[Any]]:
    """Asks DuckDB for an expression, or several, on rows."""
    connection = duckdb.connect(config={"threads": 1})
    columns = ", ".join(f"{column.name} {column.type}" for column in R)
    connection.execute(f"CREATE TABLE r (n INT, {columns})")

    def answer(rows: list[tuple[Any, ...]], text: str) -> list[Any]:
        connection.execute("DELETE FROM r")
        if rows:
            marks = ", ".join("?" for _ in range(len(R) + 1))
            numbered = [(n, *row) for n, row in enumerate(rows)]
            connection.executemany(f"INSERT INTO r VALUES ({marks})", numbered)
        return connection.execute(f"SELECT {text} FROM r ORDER BY n").fetchall()

    return answer


def ours(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as the reference has it."""
    return tuple(map(_value, row))


def _value(value: Any) -> Any:
    match value:
        case datetime():
            return from_datetime(value.replace(tzinfo=UTC))
        case timedelta():
            return duration(value)
        case Decimal():
            return value
        case float():
            return value + 0.0
        case _:
            return value


@settings(max_examples=max(10, settings.default.max_examples // 5))
@given(rows=st.lists(ROWS, max_size=30))
def test_the_same_values(ask, rows) -> None:
    theirs = ask(rows, ", ".join(SAME))
    for place, (text, expression) in enumerate(SAME.items()):
        known = evaluator(expression, R)
        for row, answers in zip(rows, theirs, strict=True):
            mine, other = known(ours(row)), _value(answers[place])
            assert mine == other, f"{text} on {row}"


@given(row=ROWS, text=st.sampled_from(sorted(REFUSING)))
def test_the_same_refusals(ask, row, text) -> None:
    try:
        ((theirs,),) = ask([row], text)
    except duckdb.Error:
        theirs = duckdb.Error
    try:
        mine = evaluator(REFUSING[text], R)(ours(row))
    except EvaluationError:
        mine = duckdb.Error
    assert mine == theirs
