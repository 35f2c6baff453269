"""Times in text lost digits, and some depended on the lines beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import instant
from ebbtide.core.types import DATE, STRING, TIMESTAMP
from ebbtide.files.csv import CsvReader
from ebbtide.files.json import JsonReader

SCHEMA = Schema((Column("at", TIMESTAMP), Column("s", STRING)))
ODD = {"csv": '"s" s', "json": '\\u0041"}\n{"AT": null, "s": "A'}
"""Texts that make a reader look at every line of a block."""


def times(format_: str, zone: str, text: str, odd: str) -> list[Any]:
    if format_ == "csv":
        content = f"at,s\n{text},\n,{odd}\n"
        reader: CsvReader | JsonReader = CsvReader(SCHEMA, zone, {})
    else:
        content = f'{{"at": "{text}", "s": "{odd}"}}\n'
        reader = JsonReader(SCHEMA, zone, {})
    (batch,) = reader.rows("f", content.encode())
    return [batch.column("at")[0].as_py(), batch.column("malformed")[0].as_py() is None]


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 us", None),
        ("-5 us ", None),
        ("2026-01-01T00:00:00.1234567", None),
        ("2026-01-01T00:00:00.1234567+01:00", None),
        ("2026-01-01T00:00:00.12345600", "2026-01-01 00:00:00.123456"),
    ],
)
def test_no_digit_is_cut_off(format_: str, text: str, expected: str | None) -> None:
    read = None if expected is None else instant(expected)
    for odd in ("", ODD[format_]):
        assert times(format_, "UTC", text, odd) == [read, read is not None]


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-29 01:59:59", "2026-03-29 00:59:59"),
        ("2026-03-29 02:30:00", "2026-03-29 01:30:00"),  # clocks go from 2 to 3
        ("2026-03-29 03:00:00", "2026-03-29 01:00:00"),
        ("2026-10-25 02:30:00", "2026-10-25 00:30:00"),  # it is half past two twice
    ],
)
def test_what_a_clock_skips_or_shows_twice(format_: str, text: str, expected: str) -> None:
    for odd in ("", ODD[format_]):
        assert times(format_, "Europe/Berlin", text, odd) == [instant(expected), True]


BENT = [
    "2026-01-01+02:00",  # a day in a zone: it was two o'clock on that day
    "2026-01-01-05:00",
    "10001010",  # a number: it was a day of the year 1000
    "20260101",
    "2026-W01-1",  # it was in 2025
    "2026-01-01912:00:00",  # whatever stood between day and time
    "2026-01-01 1200",
]


@pytest.mark.parametrize("format_", ["csv", "json"])
@pytest.mark.parametrize("text", BENT)
def test_what_is_not_written_as_a_time_is_none(format_: str, text: str) -> None:
    for odd in ("", ODD[format_]):
        assert times(format_, "UTC", text, odd) == [None, False]


@pytest.mark.parametrize("text", ["20260101", "2026-W01-1", "2026-01-01 00:00:00"])
def test_what_is_not_written_as_a_day_is_none(text: str) -> None:
    schema = Schema((Column("d", DATE),))
    for reader, content in (
        (CsvReader(schema, "UTC", {}), f"d\n{text}\n"),
        (JsonReader(schema, "UTC", {}), f'{{"d": "{text}"}}\n'),
    ):
        (batch,) = reader.rows("f", content.encode())
        assert batch.column("malformed")[0].as_py() is not None


def test_nor_is_it_one_that_is_fed(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (d DATE, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT d FROM s [UNBOUNDED]", name="q")
    query.start()
    bent = [*BENT, "2026-01-01 00:00:00.1234567"]
    engine.feed("s", [(None, text) for text in bent])
    engine.feed("s", [("2026-W01-1", "2026-01-01 12:00:00")])
    engine.step()
    assert query.snapshot().num_rows == 0
    assert [row["reason"] for row in engine.late("s").to_pylist()] == ["malformed"] * 9
    engine.stop()
