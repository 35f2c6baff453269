"""A file that was empty or half copied when it was seen first was never read again, in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT
from ebbtide.files import HowToRead, is_whole_file

SCHEMA = Schema((Column("a", BIGINT),))
BEGUN = {"csv": b"a\n1\n2\n", "json": b'{"a": 1}\n{"a": 2}\n'}


@pytest.mark.parametrize("format_", BEGUN)
def test_a_file_that_grows_while_it_is_read_is_told(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(BEGUN[format_])
    rows = HowToRead(format_, "UTC").reader(SCHEMA).rows(str(file))
    assert next(rows).num_rows == 2
    with file.open("ab") as still_written:
        still_written.write(BEGUN[format_][-4:])
    *_, told = rows
    assert is_whole_file(told)
    assert "rows: it was written to while it was read" in str(told.column(1)[0])


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_an_empty_file_is_told_where_its_rows_may_come_later(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.touch()
    reader = HowToRead(format_, "UTC").reader(SCHEMA)
    (told,) = reader.rows(str(file), may_be_empty=False)
    assert is_whole_file(told)
    (again,) = reader.rows(str(file), b"", may_be_empty=False)
    assert again == told


@pytest.mark.parametrize("format_", BEGUN)
def test_a_file_that_is_whole_is_read(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(BEGUN[format_])
    os.utime(file, (0, 0))
    batches = HowToRead(format_, "UTC").reader(SCHEMA).rows(str(file), may_be_empty=False)
    assert [batch.num_rows for batch in batches] == [2]
