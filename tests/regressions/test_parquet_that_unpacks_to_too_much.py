"""A file of Parquet of some hundred bytes took all memory: nothing bounded what it unpacks to."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import STRING, ArrayType, StructType, Type
from ebbtide.files.parquet import ParquetReader

COUNT, LENGTH = 65536, 1 << 20
SHARED = pa.DictionaryArray.from_arrays(pa.array([0] * COUNT, pa.int32()), pa.array(["x" * LENGTH]))
PAIRS = pa.array(range(0, COUNT + 1, 2), pa.int32())


def content_of(values: Any) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table({"v": values}), content, compression="zstd", row_group_size=COUNT)
    return content.getvalue()


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (SHARED, STRING),
        (pa.ListArray.from_arrays(PAIRS, SHARED), ArrayType(STRING)),
        (pa.StructArray.from_arrays([SHARED], ["f"]), StructType((("f", STRING),))),
    ],
)
def test_it_is_unreadable_before_it_is_unpacked(values: Any, type_: Type) -> None:
    content = content_of(values)
    assert len(content) < 2000
    reader = ParquetReader(Schema((Column("v", type_),)), "UTC", {}, 1 << 30)
    before = pa.total_allocated_bytes()
    (batch,) = reader.rows("f", content)
    assert batch.column("malformed").to_pylist() == [
        "f: unreadable after 0 rows: it unpacks to more than 1,073,741,824 bytes,"
        " which EBBTIDE_MAX_UNPACKED allows"
    ]
    assert pa.total_allocated_bytes() - before < 1 << 24


def test_what_is_allowed_comes_in_parts() -> None:
    reader = ParquetReader(Schema((Column("v", STRING),)), "UTC", {}, COUNT * LENGTH)
    first = next(iter(reader.rows("f", content_of(SHARED))))
    assert 1 <= first.num_rows <= 128
    assert first.column("v")[0].as_py() == "x" * LENGTH


def test_rows_before_the_limit_count() -> None:
    values = pa.array([f"{number:0100}" for number in range(200_000)])
    reader = ParquetReader(Schema((Column("v", STRING),)), "UTC", {}, 1 << 24)
    assert len(content_of(values)) < 1 << 24
    *good, last = reader.rows("f", content_of(values))
    assert [batch.num_rows for batch in good] == [COUNT, COUNT]
    assert "it unpacks to more than 16,777,216 bytes" in last.column("malformed")[0].as_py()
