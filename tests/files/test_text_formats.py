"""Files of CSV and JSON as rows: each line is a row or is told, whatever stands beside it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import instant
from ebbtide.core.types import BIGINT, BOOLEAN, DOUBLE, STRING, TIMESTAMP, ArrayType, DecimalType
from ebbtide.errors import SourceError
from ebbtide.files import FileReader, HowToRead, reads

NOON = instant("2026-01-01 12:00:00")
SCHEMA = Schema(
    (
        Column("a", BIGINT),
        Column("x", DOUBLE),
        Column("s", STRING),
        Column("b", BOOLEAN),
        Column("m", DecimalType(10, 2)),
        Column("at", TIMESTAMP),
    )
)
SMALL = Schema((Column("a", BIGINT), Column("s", STRING), Column("at", TIMESTAMP)))


def reader(format_: str, schema: Schema, **options: str) -> FileReader:
    assert reads(format_, schema, options, False)
    return HowToRead(format_, "UTC", tuple(options.items())).reader(schema)


def read(reading: FileReader, content: bytes | str, place: str = "f") -> list[tuple[Any, ...]]:
    data = content.encode() if isinstance(content, str) else content
    return [tuple(row.values()) for batch in reading.rows(place, data) for row in batch.to_pylist()]


NUMBERS = ["5", "-7", " 5 ", "+5", "0x1F", "1.5", "1e400", "9223372036854775808", "", "many", "NaN"]
TIMES = [
    "2026-01-01 12:00:00",
    "2026-01-01T12:00:00Z",
    "2026-01-01 13:00:00+01:00",
    "12:00:00",
    "2026-02-30",
    "0000-01-01",
    "",
    "2026-01-01 12:00:00.1234567",
]
WORDS = [
    "plain",
    "",
    '""',
    '"a, b"',
    '"a ""b"" c"',
    '"a \\"b\\" c"',
    "C:\\dir\\",
    '"C:\\dir\\"',
    'mid"quote',
    '"open',
    '"shut"after',
    "zähler",
    "NA",
    '"NA"',
]
TRUTHS = ["true", "FALSE", "1", "", "so"]
MONEY = ["1.5", "1.005", "123456789.5", "1e2", ""]

csv_lines = st.one_of(
    st.tuples(*(st.sampled_from(v) for v in (NUMBERS, NUMBERS, WORDS, TRUTHS, MONEY, TIMES))).map(
        ",".join
    ),
    st.sampled_from([",", "1,2,3", "a,x,s,b,m,at,more", "\x00", " ", '"']),
)


@given(st.lists(csv_lines, min_size=1, max_size=6), st.integers(0, 8))
@settings(max_examples=300)
def test_a_line_of_csv_says_the_same_alone_and_beside_others(lines: list[str], plain: int) -> None:
    reading = reader("csv", SCHEMA, header="false", nullValue="NA")
    ordinary = "1,2.5,word,true,1.50,2026-01-01 12:00:00"
    lines = [*lines, *[ordinary] * plain]
    together = read(reading, "\n".join(lines))
    alone = [row for line in lines for row in read(reading, line)]
    assert repr(together) == repr(alone)
    assert len(together) == len(lines)


@pytest.mark.parametrize("length", [(1 << 16) - 2, (1 << 16) - 1, 1 << 16, 1 << 20])
def test_a_long_line_of_csv_is_read_as_any_other(length: int) -> None:
    reading = reader("csv", SCHEMA, header="false")
    ordinary = "1,2.5,word,true,1.50,2026-01-01 12:00:00"
    long = f"1,2.5,{'w' * length},true,1.50,2026-01-01 12:00:00"
    rows = read(reading, "\n".join([ordinary, long, ordinary]))
    assert [len(row[2]) for row in rows] == [4, length, 4]
    assert {row[:2] + row[3:] for row in rows} == {rows[0][:2] + rows[0][3:]}


@pytest.mark.parametrize("place", [*range(-3, 4)])
def test_a_number_to_the_base_16_is_none_wherever_it_stands(place: int) -> None:
    """Blocks are compared piece by piece."""
    reading = reader("csv", SCHEMA, header="false")
    before = "1,2.5,,true,1.50,2026-01-01 12:00:00"
    filler = "w" * ((1 << 16) + place - len(before) - 1)
    line = "0x1F,2.5,word,true,1.50,2026-01-01 12:00:00"
    first, second = read(reading, f"{before.replace(',,', f',{filler},')}\n{line}\n")
    assert (first[0], first[-1]) == (1, None)
    assert second[-1] == line


SCALARS = ["1", "1.0", "1.5", '"x"', '"1"', "true", "null", "NaN", "1e400", "1.005", '"é"', "[1]"]
JSON_TIMES = [json.dumps(text) for text in TIMES if text] + ["1767268800", "1767268800000", "null"]
NAMES = ["a", "x", "s", "b", "m", "at", "A", "S", "other"]


def objects() -> st.SearchStrategy[str]:
    member = st.tuples(st.sampled_from(NAMES), st.sampled_from([*SCALARS, *JSON_TIMES]))
    of_time = st.tuples(st.just("at"), st.sampled_from(JSON_TIMES))
    plain = st.lists(st.one_of(member, of_time), max_size=4)
    return plain.map(_written)


def _written(members: list[tuple[str, str]]) -> str:
    inside = ", ".join(f'"{name}": {value}' for name, value in members)
    return f"{{{inside}}}"


odd_lines = st.sampled_from(
    [
        "[1]",
        "7",
        "{",
        '{"a": 1, "other": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"a": 1} {"a": 2}',
        '{"a": 1,}',
        "null",
        '{"a": 1} x',
        '{"\\u0041": 1}',
    ]
)


@given(st.lists(st.one_of(objects(), odd_lines), min_size=1, max_size=6), st.integers(0, 8))
@settings(max_examples=300)
def test_a_line_of_json_says_the_same_alone_and_beside_others(lines: list[str], plain: int) -> None:
    reading = reader("json", SCHEMA)
    ordinary = '{"a": 1, "x": 2.5, "s": "w", "b": true, "m": 1.5, "at": "2026-01-01 12:00:00"}'
    lines = [*lines, *[ordinary] * plain]
    together = read(reading, "\n".join(lines))
    alone = [row for line in lines for row in read(reading, line)]
    assert repr(together) == repr(alone)
    assert len(together) == len(lines)


def test_ordinary_blocks_say_what_each_of_their_lines_says() -> None:
    chance = random.Random(3)
    rows = [(chance.randrange(9), f"w{i}", f"2026-01-01 12:00:{i % 60:02}") for i in range(500)]
    plain = "".join(f"{a},{s},{at}\n" for a, s, at in rows)
    quoted = "".join(f'{a},"{s}, {s}",{at}\n' for a, s, at in rows)
    csv = reader("csv", SMALL, header="false")
    for text in (plain, quoted):
        assert read(csv, text) == [row for line in text.splitlines() for row in read(csv, line)]
    objects = "".join(f'{{"a": {a}, "s": "{s}", "at": "{at}"}}\n' for a, s, at in rows)
    in_json = reader("json", SMALL)
    assert read(in_json, objects) == read(csv, plain)
    odd = objects + '{"A": 5}\n' + objects
    assert read(in_json, odd) == [row for line in odd.splitlines() for row in read(in_json, line)]


def test_columns_of_csv_are_found_by_their_names_in_any_order() -> None:
    reading = reader("csv", SMALL)
    found = read(reading, "at,Other,S, A\n2026-01-01 12:00:00,x,w,7\n")
    assert found == [(7, "w", NOON, None)]
    assert read(reading, "at,a\n", "s=w/f") == []
    assert read(reading, "at,a\n2026-01-01 12:00:00,7\n", "s=w%20w/f") == [(7, "w w", NOON, None)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,at\n1,2026-01-01\n", "it has no column s; it has a, at"),
        (b"a,s,A,at\n", "it has the column a twice"),
        (b"\xff,s\n", "its first line is not the names of columns"),
        (gzip.compress(b"a,s,at\n1,w,2026-01-01\n" * 9000)[:-9], "unreadable after"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_text(content: bytes, reason: str) -> None:
    place = "f.gz" if content.startswith(b"\x1f") else "f"
    *_, last = read(reader("csv", SMALL), content, place)
    assert last[:-1] == (None, None, None)
    assert last[-1].startswith(f"{place}: unreadable after ")
    assert reason in last[-1]


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_text_that_is_not_utf_8_is_told(format_: str) -> None:
    good, bad = _lines(format_)
    found = read(reader(format_, SMALL), b"\n".join([*good, bad, good[-1]]))
    assert [row[-1] for row in found] == [None, bad.decode(errors="replace"), None]


def _lines(format_: str) -> tuple[list[bytes], bytes]:
    if format_ == "csv":
        return [b"a,s,at", b"1,w,2026-01-01"], b"2,\xff\xfe,2026-01-01"
    return [b'{"a": 1, "at": "2026-01-01"}'], b'{"a": 2, "s": "\xff"}'


def test_nothing_in_a_line_of_json_is_lost_or_bent() -> None:
    reading = reader("json", SCHEMA)
    lines = [
        '{"a": 1}{"a": 2}',
        '{"at": "12:00:00"}',
        '{"m": 1.005}',
        '{"x": 1e400}',
        '{"a": 1, "A": 2}',
        "[" * 100_000,
    ]
    assert [row[-1] for row in read(reading, "\n".join(lines))] == lines
    assert read(reading, '{"A": 3, "AT": "2026-01-01 12:00:00"}\n\n \n') == [
        (3, None, None, None, None, NOON, None)
    ]
    lists = Schema((Column("a", ArrayType(BIGINT)),))
    assert read(reader("json", lists), '{"a": [1, null, 2.0]}') == [([1, None, 2], None)]


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "f.csv.gz"
    file.write_bytes(gzip.compress(b"a,s,at\n1,w,2026-01-01 12:00:00\n"))
    (batch,) = reader("csv", SMALL).rows(str(file))
    assert batch.to_pylist() == [{"a": 1, "s": "w", "at": NOON, "malformed": None}]
    with pytest.raises(SourceError, match="is gone before it was read"):
        list(reader("csv", SMALL).rows(str(tmp_path / "gone")))


def test_options_that_only_spark_knows_are_left_to_it() -> None:
    def unknown() -> Iterator[bool]:
        yield reads("csv", SMALL, {"multiLine": "true"}, False)
        yield reads("csv", SMALL, {"sep": "ab"}, False)
        yield reads("csv", SMALL, {"encoding": "latin-1"}, False)
        yield reads("csv", Schema((Column("a", ArrayType(BIGINT)),)), {}, False)
        yield reads("json", SMALL, {"allowComments": "true"}, False)
        yield reads("xml", SMALL, {}, False)

    assert not any(unknown())
    assert reads("csv", SMALL, {"MAXFILESPERTRIGGER": "1", "Sep": "|"}, False)
    assert read(reader("csv", SMALL, Header="false", Sep="|"), "1|a,b|2026-01-01 12:00:00") == [
        (1, "a,b", NOON, None)
    ]
