"""Files of Parquet as rows: what fits is a value, what does not is text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    ArrayType,
    DecimalType,
)
from ebbtide.errors import SourceError
from ebbtide.files.arrow_values import fitted
from ebbtide.files.parquet import ParquetReader

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
PLAIN = dt.datetime(2026, 1, 1, 12)
MONEY = DecimalType(5, 2)


@pytest.mark.parametrize(
    ("values", "given", "type_", "expected"),
    [
        ([1, None], pa.int32(), BIGINT, [1, None]),
        ([1, 2**40], pa.int64(), INT, [1, None]),
        (["12", "x", None], pa.string(), BIGINT, [12, None, None]),
        ([1.0, 1.5], pa.float64(), BIGINT, [1, None]),
        ([1, 2], pa.int64(), DOUBLE, [1.0, 2.0]),
        ([1], pa.int64(), STRING, ["1"]),
        ([b"a", b"\xff"], pa.binary(), STRING, ["a", None]),
        (["true", "so"], pa.string(), BOOLEAN, [True, None]),
        (["2026-01-01", "soon"], pa.string(), DATE, [dt.date(2026, 1, 1), None]),
        ([Decimal("1.5"), Decimal("1.555")], pa.decimal128(9, 3), MONEY, [Decimal("1.50"), None]),
        ([["1"], ["a"]], pa.list_(pa.string()), ArrayType(BIGINT), [[1], None]),
        ([{"a": 1}], pa.struct([("a", pa.int64())]), BIGINT, [None]),
        ([PLAIN], pa.timestamp("ms"), TIMESTAMP, [NOON - dt.timedelta(hours=1)]),
        ([NOON], pa.timestamp("ns", "America/New_York"), TIMESTAMP, [NOON]),
        ([PLAIN.date()], pa.date32(), TIMESTAMP, [NOON - dt.timedelta(hours=13)]),
        (["2026-01-01 13:00:00", "soon"], pa.string(), TIMESTAMP, [NOON, None]),
        ([5], pa.int64(), TIMESTAMP, [None]),
    ],
)
def test_a_value_fits_if_nothing_of_it_is_lost(
    values: list[Any], given: Any, type_: Any, expected: Any
) -> None:
    found = fitted(pa.array(values, given), type_, "Europe/Berlin")
    assert shown(found, type_) == expected


def shown(values: Any, type_: Any) -> list[Any]:
    return (values.cast(pa.timestamp("us", "UTC")) if type_ == TIMESTAMP else values).to_pylist()


SCHEMA = Schema((Column("a", BIGINT), Column("day", DATE), Column("at", TIMESTAMP)))
ROWS = ParquetReader(SCHEMA, "UTC", {})


def test_columns_go_by_their_names_and_by_directories(tmp_path: Path) -> None:
    directory = tmp_path / "day=2026-01-02"
    directory.mkdir()
    file = directory / "f.parquet"
    pq.write_table(pa.table({"other": ["x"], "A": ["7"], "at": [NOON]}), file)
    (batch,) = ROWS.rows(str(file))
    assert [column.to_pylist() for column in batch.columns[:2]] == [[7], [dt.date(2026, 1, 2)]]
    assert shown(batch.column(2), TIMESTAMP) == [NOON]
    assert batch.column(3).to_pylist() == [None]
    (same,) = ROWS.rows("hdfs://place/day=2026-01-02/f", file.read_bytes())
    assert same.equals(batch)


def test_times_of_96_bits_are_in_utc(tmp_path: Path) -> None:
    file = tmp_path / "f"
    table = pa.table({"a": [1], "at": pa.array([PLAIN], pa.timestamp("ns"))})
    pq.write_table(table, file, use_deprecated_int96_timestamps=True)
    (batch,) = ParquetReader(SCHEMA, "Asia/Tokyo", {}).rows(str(file))
    assert shown(batch.column(2), TIMESTAMP) == [NOON]


def test_what_is_no_row_is_text(tmp_path: Path) -> None:
    odd = tmp_path / "odd name"
    pq.write_table(pa.table({"a": ["x", "1"], "at": [NOON, NOON]}), odd)
    (batch,) = ROWS.rows(str(odd))
    assert batch.column(0).to_pylist() == [None, 1]
    text, nothing = batch.column(3).to_pylist()
    assert '"a": "x"' in text
    assert nothing is None

    broken = tmp_path / "broken"
    broken.write_bytes(b"PAR1 no more")
    (batch,) = ROWS.rows(str(broken))
    assert batch.num_rows == 1
    assert str(broken) in batch.column(3)[0].as_py()

    with pytest.raises(SourceError, match="unreadable-source"):
        list(ROWS.rows(str(tmp_path / "gone")))


def test_a_file_that_breaks_off_gives_the_rows_before(tmp_path: Path) -> None:
    file = tmp_path / "f"
    table = pa.table({"a": list(range(200_000)), "at": [NOON] * 200_000})
    pq.write_table(table, file, row_group_size=100_000, compression=None, use_dictionary=False)
    content = bytearray(file.read_bytes())
    start = pq.read_metadata(file).row_group(1).column(0).data_page_offset
    content[start : start + 60] = b"\xff" * 60
    file.write_bytes(content)
    *good, last = ROWS.rows(str(file))
    assert sum(batch.num_rows for batch in good) >= 65536
    assert "unreadable after" in last.column(3)[0].as_py()
