"""Values in the names of directories meant one thing in CSV and another in JSON."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT
from ebbtide.files import FileReader, HowToRead

SCHEMA = Schema((Column("v", BIGINT), Column("day", BIGINT)))


def _parquet(**columns: Any) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()


WITHOUT = {"csv": b"v\n1\n", "json": b'{"v": 1}\n', "parquet": _parquet(v=[1])}
WITH = {
    "csv": b"v,Day\n1,3\n1,\n",
    "json": b'{"v": 1, "Day": 3}\n{"v": 1, "Day": null}\n',
    "parquet": _parquet(v=[1, 1], Day=[3, None]),
}


def read(format_: str, day: str, content: bytes) -> list[tuple[Any, ...]]:
    reader = HowToRead(format_, "UTC").reader(SCHEMA)
    assert isinstance(reader, FileReader)
    found = [row for batch in reader.rows(f"/in/day={day}/f", content) for row in batch.to_pylist()]
    return [(row["day"], row["malformed"] is None) for row in found]


@pytest.mark.parametrize("format_", WITHOUT)
def test_one_that_does_not_fit_makes_rows_malformed(format_: str) -> None:
    assert read(format_, "7", WITHOUT[format_]) == [(7, True)]
    assert read(format_, "zz", WITHOUT[format_]) == [(None, False)]
    assert read(format_, "__HIVE_DEFAULT_PARTITION__", WITHOUT[format_]) == [(None, True)]


@pytest.mark.parametrize("format_", WITH)
def test_what_a_row_says_itself_comes_first(format_: str) -> None:
    for day in ("7", "zz"):
        assert read(format_, day, WITH[format_]) == [(3, True), (None, True)]
