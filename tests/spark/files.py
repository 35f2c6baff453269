"""Directories of files for tests: one file a step, in the order of their times."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.time import format_instant

FIRST_MTIME = 1_700_000_000


def put(directory: Path, number: int, content: bytes) -> None:
    """Puts a file there as a whole; a higher number is a later time of writing."""
    directory.mkdir(parents=True, exist_ok=True)
    hidden = directory / f".{number:06d}"
    hidden.write_bytes(content)
    os.utime(hidden, (FIRST_MTIME + number, FIRST_MTIME + number))
    hidden.rename(directory / f"{number:06d}")


def as_json(names: Sequence[str], rows: Sequence[Sequence[Any]], *more: str) -> bytes:
    """Lines of JSON, the last column a time; ``more`` are lines as they are."""
    lines = [json.dumps(dict(zip(names, shown(row), strict=True))) for row in rows]
    return "\n".join([*lines, *more, ""]).encode()


def as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]], *more: str) -> bytes:
    """A CSV file with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else value for value in shown(row)] for row in rows)
    return (text.getvalue() + "".join(f"{line}\n" for line in more)).encode()


def as_parquet(columns: dict[str, Any]) -> bytes:
    """A Parquet file."""
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), buffer)
    return bytes(buffer.getvalue())


def shown(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row with its last column, microseconds, as text."""
    return (*row[:-1], None if row[-1] is None else format_instant(row[-1]))
