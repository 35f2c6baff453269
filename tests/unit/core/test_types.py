"""SQL types and values: their names, what they hold, how values are told apart and ordered."""

import math
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core import types
from ebbtide.core.types import (
    ArrayType,
    DecimalType,
    IntegerType,
    StructType,
    Type,
    admits,
    is_comparable,
    is_numeric,
    type_from_sql,
)
from ebbtide.core.values import NAN, Value, normalise, row, row_key, sort_key
from ebbtide.errors import QueryError

SIMPLE = [
    types.NULL,
    types.BOOLEAN,
    types.TINYINT,
    types.SMALLINT,
    types.INT,
    types.BIGINT,
    types.DOUBLE,
    types.STRING,
    types.BINARY,
    types.DATE,
    types.TIMESTAMP,
    types.INTERVAL,
]

decimals = st.integers(1, 38).flatmap(
    lambda precision: st.builds(DecimalType, st.just(precision), st.integers(0, precision))
)
any_type = st.recursive(
    st.sampled_from(SIMPLE) | decimals,
    lambda inner: (
        st.builds(ArrayType, inner)
        | st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: StructType(tuple((f"f{n}", part) for n, part in enumerate(parts)))
        )
    ),
    max_leaves=4,
)


@given(any_type)
def test_the_name_of_a_type_is_read_back(type_: Type) -> None:
    assert type_from_sql(type_.sql) == type_
    assert type_from_sql(f"  {type_.sql.replace(', ', ',')} ") == type_
    assert str(type_) == type_.sql


@pytest.mark.parametrize(
    ("written", "type_"),
    [
        ("integer", types.INT),
        ("Long", types.BIGINT),
        ("decimal", DecimalType(10, 0)),
        ("DECIMAL(5)", DecimalType(5, 0)),
        ("interval  day to second", types.INTERVAL),
        (
            "struct<a int, b: array<string>>",
            StructType((("a", types.INT), ("b", ArrayType(types.STRING)))),
        ),
    ],
)
def test_other_names_of_types(written: str, type_: Type) -> None:
    assert type_from_sql(written) == type_


@pytest.mark.parametrize("written", ["", "VARIANT", "ARRAY<", "ARRAY<NOTHING>", "STRUCT<>"])
def test_what_is_no_type(written: str) -> None:
    with pytest.raises(QueryError, match="unknown-type"):
        type_from_sql(written)


@pytest.mark.parametrize(("precision", "scale"), [(0, 0), (39, 0), (5, 6), (5, -1)])
def test_decimals_have_limits(precision: int, scale: int) -> None:
    with pytest.raises(QueryError, match="bad-decimal"):
        DecimalType(precision, scale)


@pytest.mark.parametrize(
    ("type_", "inside", "outside"),
    [
        (types.BOOLEAN, [True, False], [0, "true"]),
        (types.TINYINT, [-128, 127], [-129, 128, True, 1.0]),
        (types.BIGINT, [-(2**63), 2**63 - 1], [2**63]),
        (types.DOUBLE, [1.0, NAN, math.inf], [1, Decimal(1)]),
        (
            DecimalType(4, 2),
            [Decimal("99.99"), Decimal("-0.10")],
            [Decimal("100.00"), Decimal("1.5"), Decimal("NaN"), 1],
        ),
        (types.STRING, ["", "a"], [b"a", 1]),
        (types.BINARY, [b"a"], ["a"]),
        (types.DATE, [date(2026, 1, 1)], [datetime(2026, 1, 1), 0]),
        (types.TIMESTAMP, [0, 2**63 - 1], [2**63, datetime(2026, 1, 1), True]),
        (types.INTERVAL, [-1], [1.5]),
        (ArrayType(types.INT), [(), (1, None)], [[1], ("a",)]),
        (StructType((("a", types.INT), ("b", types.STRING))), [(1, None)], [(1,), (1, 2)]),
        (types.NULL, [], [0, False]),
    ],
)
def test_what_a_type_admits(type_: Type, inside: list[Value], outside: list[Value]) -> None:
    assert admits(type_, None)
    assert [value for value in inside if not admits(type_, value)] == []
    assert [value for value in outside if admits(type_, value)] == []


def test_integers_know_their_range() -> None:
    assert (IntegerType(16).least, IntegerType(16).greatest) == (-32768, 32767)


def test_kinds_of_types() -> None:
    assert [type_.sql for type_ in SIMPLE if is_numeric(type_)] == [
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "DOUBLE",
    ]
    assert is_numeric(DecimalType())
    assert [type_.sql for type_ in SIMPLE if not is_comparable(type_)] == ["VOID"]


# Values


def test_values_that_sql_groups_together_are_equal() -> None:
    assert row(float("nan"), -0.0, (float("nan"),)) == row(NAN, 0.0, (NAN,))
    assert hash(row(float("nan"), -0.0)) == hash(row(NAN, 0.0))
    assert str(normalise(-0.0)) == "0.0"
    assert row(None) == row(None)


def test_null_comes_first_and_nan_last() -> None:
    assert sorted([NAN, 1.0, None, -math.inf, math.inf], key=sort_key) == [
        None,
        -math.inf,
        1.0,
        math.inf,
        NAN,
    ]
    assert sorted([(1, "b"), (None, "z"), (1, None)], key=row_key) == [
        (None, "z"),
        (1, None),
        (1, "b"),
    ]


@given(st.lists(st.tuples(st.none() | st.floats(), st.none() | st.integers())))
def test_rows_have_one_order(rows: list[tuple[Value, ...]]) -> None:
    ordered = sorted((row(*values) for values in rows), key=row_key)
    backwards = ordered[::-1]
    assert sorted(backwards, key=row_key) == ordered
