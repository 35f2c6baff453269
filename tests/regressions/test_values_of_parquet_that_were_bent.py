"""Values of Parquet that do not fit stopped the reader, or became others."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import HOUR, MILLISECOND, instant
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    TIMESTAMP,
    ArrayType,
    DecimalType,
    StructType,
    Type,
)
from ebbtide.files.parquet import ParquetReader

NOON = instant("2026-01-01 12:00:00")
MIDNIGHT = instant("2026-01-01 00:00:00")
FIRST, LAST = instant("0001-01-01 00:00:00"), instant("9999-12-31 23:59:59.999")
MONEY = DecimalType(10, 2)
BAD = object()


def raw(type_: Any, *numbers: int) -> Any:
    """Times and days by the numbers that a file has."""
    width = pa.int32() if pa.types.is_date32(type_) else pa.int64()
    return pa.array(numbers, width).cast(type_)


def of(type_: Any, *values: Any) -> Any:
    return pa.array(values, type_)


def read(values: Any, type_: Type, zone: str = "UTC", **options: Any) -> list[Any]:
    """The values of a column, ``BAD`` for those of malformed rows."""
    content = io.BytesIO()
    pq.write_table(pa.table({"v": values}), content, **options)
    reader = ParquetReader(Schema((Column("v", type_),)), zone, {})
    rows = [row for batch in reader.rows("f", content.getvalue()) for row in batch.to_pylist()]
    return [row["v"] if row["malformed"] is None else BAD for row in rows]


MILLIS, MICROS, NANOS = (pa.timestamp(unit) for unit in ("ms", "us", "ns"))
CASES: list[tuple[Any, Type, list[Any]]] = [
    # microseconds that are called milliseconds, and what wraps around
    (raw(MILLIS, NOON, NOON // MILLISECOND), TIMESTAMP, [BAD, NOON]),
    (raw(MILLIS, 2**62, -(2**63), LAST // MILLISECOND), TIMESTAMP, [BAD, BAD, LAST]),
    (raw(MILLIS, FIRST // MILLISECOND, FIRST // MILLISECOND - 1), TIMESTAMP, [FIRST, BAD]),
    (raw(MICROS, 2**62, NOON, -(2**62)), TIMESTAMP, [BAD, NOON, BAD]),
    (raw(NANOS, NOON * 1000, NOON * 1000 + 1, -1), TIMESTAMP, [NOON, BAD, BAD]),
    (raw(pa.date32(), 10**7, 0), TIMESTAMP, [BAD, 0]),
    # days
    (raw(pa.date32(), 10**7, 0, -(10**6)), DATE, [BAD, dt.date(1970, 1, 1), BAD]),
    (raw(pa.date32(), 2932896, 2932897), DATE, [dt.date.max, BAD]),
    (raw(pa.date32(), -719162, -719163), DATE, [dt.date.min, BAD]),
    (raw(MICROS, MIDNIGHT, NOON, MIDNIGHT + 1), DATE, [dt.date(2026, 1, 1), BAD, BAD]),
    # numbers
    (of(pa.float64(), 1.005, 1.1, 5.0, float("nan"), 1e20), MONEY, [BAD, "1.10", "5.00", BAD, BAD]),
    (of(pa.int64(), 5, 10**12), MONEY, ["5.00", BAD]),
    (of(pa.int64(), 5, 0, 1), BOOLEAN, [BAD, BAD, BAD]),
    (of(pa.float64(), 0.5), BOOLEAN, [BAD]),
    (of(pa.bool_(), True, False), BOOLEAN, [True, False]),
    (of(pa.int64(), 2**53 + 1, 2**60), DOUBLE, [BAD, 2.0**60]),
    (of(pa.float64(), 2.0**63, -(2.0**63), float("nan"), 3.0), BIGINT, [BAD, -(2**63), BAD, 3]),
    (of(pa.decimal128(9, 1), Decimal("1.1")), DOUBLE, [1.1]),
    (of(pa.decimal128(38, 20), Decimal("0.1"), Decimal("-2.3")), DOUBLE, [0.1, -2.3]),
    (of(pa.decimal128(38, 0), Decimal(2**53), Decimal(2**53 + 1)), DOUBLE, [2.0**53, BAD]),
    (of(pa.decimal128(38, 20), Decimal("0.12345678901234567890")), DOUBLE, [BAD]),
    (raw(MILLIS, 1), BIGINT, [BAD]),
    (raw(pa.date32(), 1), BIGINT, [BAD]),
    # texts
    (raw(MICROS, 2**62, 0), STRING, [BAD, "1970-01-01 00:00:00.000000"]),
    (raw(pa.date32(), 10**7, 0), STRING, [BAD, "1970-01-01"]),
    (of(pa.binary(), b"\xff", b"a").view(pa.string()), STRING, [BAD, "a"]),
]


@pytest.mark.parametrize(("values", "type_", "expected"), CASES)
def test_a_value_that_does_not_fit_is_malformed(
    values: Any, type_: Type, expected: list[Any]
) -> None:
    assert _shown(read(values, type_)) == expected


@pytest.mark.parametrize(("values", "type_", "expected"), CASES)
def test_inside_of_others_as_well(values: Any, type_: Type, expected: list[Any]) -> None:
    count = len(values)
    lists = pa.ListArray.from_arrays(list(range(count + 1)), values)
    found = read(lists, ArrayType(type_))
    assert _shown([one if one is BAD else one[0] for one in found]) == expected
    structs = pa.StructArray.from_arrays([values], ["F"])
    found = read(structs, StructType((("f", type_),)))
    assert _shown([one if one is BAD else one["f"] for one in found]) == expected
    both = pa.ListArray.from_arrays([0, count], structs)
    (one,) = read(both, ArrayType(StructType((("f", type_),))))
    assert (one is BAD) == (BAD in expected)


def _shown(values: list[Any]) -> list[Any]:
    return [str(value) if isinstance(value, Decimal) else value for value in values]


def test_times_inside_of_others_have_their_zone() -> None:
    naive = pa.array([[dt.datetime(2026, 1, 1, 12)], None, []], pa.list_(MILLIS))
    assert read(naive, ArrayType(TIMESTAMP), "Europe/Berlin") == [[NOON - HOUR], None, []]
    zoned = pa.array([[dt.datetime(2026, 1, 1, 12)]], pa.list_(pa.timestamp("ns", "UTC")))
    assert read(zoned, ArrayType(TIMESTAMP), "Europe/Berlin") == [[NOON]]
    nanos = pa.array([[dt.datetime(2026, 1, 1, 12)]], pa.list_(NANOS))
    old = {"use_deprecated_int96_timestamps": True}
    assert read(nanos, ArrayType(TIMESTAMP), "Europe/Berlin", **old) == [[NOON]]


def test_lists_and_structs_that_are_null_stay_so() -> None:
    pair = StructType((("a", BIGINT), ("b", ArrayType(STRING))))
    values = [{"A": 1, "b": ["x", None]}, None, {"A": None, "b": None}, {"A": 2, "b": []}]
    given = pa.array(values, pa.struct([("A", pa.int32()), ("b", pa.large_list(pa.string()))]))
    expected = [None if v is None else {"a": v["A"], "b": v["b"]} for v in values]
    assert read(given, pair) == expected
    assert read(pa.array([[1, 2], None], pa.list_(pa.int32(), 2)), ArrayType(BIGINT)) == [
        [1, 2],
        None,
    ]
