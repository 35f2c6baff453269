"""A disk that failed to read a file made the file a bad row: it was never read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT
from ebbtide.errors import SourceError
from ebbtide.files import HowToRead

SCHEMA = Schema((Column("a", BIGINT),))
FAILING = "/proc/self/mem"
"""A file that can be opened, and that the system fails to read."""


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_a_read_that_fails_is_an_error(format_: str) -> None:
    with pytest.raises(SourceError) as caught:
        list(HowToRead(format_, "UTC").reader(SCHEMA).rows(FAILING))
    assert caught.value.code == "unreadable-source"
    assert caught.value.detail == "Input/output error"
    assert caught.value.hint


@pytest.mark.parametrize("format_", ["csv", "json", "parquet"])
def test_a_file_that_is_not_what_it_should_be_is_one_bad_row(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "file.gz"
    file.write_bytes(b"no gzip")
    (batch,) = HowToRead(format_, "UTC").reader(SCHEMA).rows(str(file))
    assert batch.num_rows == 1
    assert "unreadable after 0 rows" in batch.column(1)[0].as_py()
