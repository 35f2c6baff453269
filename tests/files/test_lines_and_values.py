"""Texts as values: what is none of a type, or not exactly one, is NULL."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

from ebbtide.core.time import instant
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
    Type,
)
from ebbtide.files import lines
from ebbtide.files.json_values import fitted, parsed
from ebbtide.files.lines import blocks, pieces
from ebbtide.files.reader import Unreadable
from ebbtide.files.texts import from_texts

MONEY = DecimalType(10, 2)
NOON = instant("2026-01-01 12:00:00")

TEXTS: list[tuple[Type, str, Any]] = [
    (BIGINT, " 5 ", 5),
    (BIGINT, "+5", 5),
    (BIGINT, "-0", 0),
    (BIGINT, "0x1F", None),
    (BIGINT, "5.0", None),
    (BIGINT, "9223372036854775807", 2**63 - 1),
    (BIGINT, "9223372036854775808", None),
    (BIGINT, "", None),
    (INT, "3000000000", None),
    (DOUBLE, " 1.5 ", 1.5),
    (DOUBLE, "1e400", None),
    (DOUBLE, "-1e400", None),
    (DOUBLE, "-Infinity", float("-inf")),
    (DOUBLE, ".5", 0.5),
    (DOUBLE, "1.", 1.0),
    (DOUBLE, "1,5", None),
    (DOUBLE, "0x1p3", None),
    (MONEY, "1.005", None),
    (MONEY, "1.00500", None),
    (MONEY, "1.500", "1.50"),
    (MONEY, "1e2", "100.00"),
    (MONEY, "123456789.5", None),
    (MONEY, "12345678.5", "12345678.50"),
    (BOOLEAN, "TRUE", True),
    (BOOLEAN, "false", False),
    (BOOLEAN, "1", None),
    (DATE, "2026-02-30", None),
    (TIMESTAMP, "2026-01-01 12:00:00", NOON),
    (TIMESTAMP, "2026-01-01T12", NOON),
    (TIMESTAMP, "2026-01-01 12:00:00.1234567", None),
    (TIMESTAMP, "2026-01-01 12:00:00.1234560", NOON + 123456),
    (TIMESTAMP, "5 us", None),
    (TIMESTAMP, "2026-01-01T12:00:00Z", NOON),
    (TIMESTAMP, "2026-01-01 13:00:00+01:00", NOON),
    (TIMESTAMP, "12:00:00", None),
    (TIMESTAMP, "2026-02-30", None),
    (TIMESTAMP, "0000-01-01", None),
    (TIMESTAMP, "10000-01-01", None),
    (TIMESTAMP, "soon", None),
    (STRING, " x ", " x "),
]


@pytest.mark.parametrize(("type_", "text", "expected"), TEXTS)
def test_a_text_is_a_value_if_nothing_of_it_is_lost(type_: Type, text: str, expected: Any) -> None:
    alone = from_texts(pa.array([text]), type_, "UTC").to_pylist()
    assert [None if value is None else _shown(value, type_) for value in alone] == [expected]


def test_a_text_is_read_in_the_same_way_beside_others() -> None:
    for type_ in {type_ for type_, _, _ in TEXTS}:
        of_type = [(text, expected) for its, text, expected in TEXTS if its == type_]
        texts = pa.array([None, *(text for text, _ in of_type)], pa.string())
        found = from_texts(texts, type_, "UTC").to_pylist()
        shown = [None if value is None else _shown(value, type_) for value in found]
        assert shown == [None, *(expected for _, expected in of_type)]


def _shown(value: Any, type_: Type) -> Any:
    return str(value) if type_ == MONEY else value


def test_a_time_without_a_zone_is_in_that_of_its_source() -> None:
    found = from_texts(
        pa.array(["2026-01-01 13:00", "2026-01-01 12:00Z"]), TIMESTAMP, "Europe/Rome"
    )
    assert found.to_pylist() == [NOON, NOON]


@pytest.mark.parametrize(
    ("type_", "written", "expected"),
    [
        (BIGINT, "1.0", 1),
        (BIGINT, "1e2", 100),
        (BIGINT, "1.5", ValueError),
        (BIGINT, '"1"', ValueError),
        (BIGINT, "true", ValueError),
        (BIGINT, "9223372036854775808", ValueError),
        (BIGINT, "1e400", ValueError),
        (DOUBLE, "1e400", ValueError),
        (DOUBLE, '"-Infinity"', float("-inf")),
        (DOUBLE, '"1"', ValueError),
        (DOUBLE, "[1]", ValueError),
        (DOUBLE, "{}", ValueError),
        (ArrayType(DOUBLE), "[{}]", ValueError),
        (ArrayType(DOUBLE), "[[1]]", ValueError),
        (MONEY, "1.005", ValueError),
        (MONEY, '"NaN"', ValueError),
        (MONEY, '"-Infinity"', ValueError),
        (MONEY, '"1_000"', ValueError),
        (TIMESTAMP, '"12:00:00"', ValueError),
        (TIMESTAMP, '"5 us"', ValueError),
        (TIMESTAMP, '"2026-01-01T12:00:00.1234567"', ValueError),
        (TIMESTAMP, '"2026-01-01T12:00:00.1234560"', NOON + 123456),
        (TIMESTAMP, "1767268800", NOON),
        (TIMESTAMP, "1767268800000", ValueError),
        (STRING, "1.10", "1.10"),
        (STRING, '{"a": [1.0, "x\\u00e9", null]}', '{"a":[1.0,"xé",null]}'),
        (STRING, '"\\ud800"', ValueError),
    ],
)
def test_a_value_of_json_fits_or_does_not(type_: Type, written: str, expected: Any) -> None:
    if expected is ValueError:
        with pytest.raises(ValueError):  # noqa: PT011
            fitted(parsed(written.encode()), type_, "UTC")
    else:
        assert fitted(parsed(written.encode()), type_, "UTC") == expected


def test_blocks_are_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 7)
    text = b"\xef\xbb\xbfone\r\ntwo\rthree three three\n\nfour"
    found = list(blocks(io.BytesIO(text)))
    assert b"".join(found).split() == b"one two three three three four".split()
    assert all(block.endswith(b"\n") for block in found[:-1])
    assert all(piece.count(b"\n") == 1 for piece in pieces(b"a\nb\nc\n", 3))
    assert b"".join(pieces(b"aaaa\nb\ncc", 2)) == b"aaaa\nb\ncc"
    monkeypatch.setattr(lines, "LONGEST", 10)
    with pytest.raises(Unreadable, match="longer than 10 bytes"):
        list(blocks(io.BytesIO(b"x" * 30)))
