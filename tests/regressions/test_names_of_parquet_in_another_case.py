"""Of two columns of Parquet one counted in silence; a field in another case was NULL."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, StructType
from ebbtide.files.parquet import ParquetReader

SCHEMA = Schema((Column("v", BIGINT), Column("s", StructType((("a", BIGINT),)))))


def read(**columns: Any) -> list[dict[str, Any]]:
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    reader = ParquetReader(SCHEMA, "UTC", {})
    return [row for batch in reader.rows("f", content.getvalue()) for row in batch.to_pylist()]


def test_names_are_found_in_any_case() -> None:
    structs = [{"A": 7, "other": 1}]
    assert read(V=[1], S=structs) == [{"v": 1, "s": {"a": 7}, "malformed": None}]


def test_a_name_that_is_there_twice_is_told() -> None:
    (row,) = read(v=[1, 2], V=[3, 4])
    assert row["malformed"] == "f: unreadable after 0 rows: it has the column v twice"
    both = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "A"])
    (row,) = read(v=[1], s=both)
    assert row["malformed"] == "f: unreadable after 0 rows: it has the field a twice"
    assert [row["v"] for row in read(v=[1], other=[2], OTHER=[3])] == [1]
