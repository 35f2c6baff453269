"""A value of JSON that does not fit stopped the reader, or made the whole file unreadable."""

from __future__ import annotations

import pytest

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import DOUBLE, ArrayType, DecimalType, Type
from ebbtide.files.json import JsonReader


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        (DOUBLE, "1", "[1]"),
        (DOUBLE, '"NaN"', "{}"),
        (ArrayType(DOUBLE), "[1]", "[[1]]"),
        (ArrayType(DOUBLE), "[1]", "[{}]"),
        (DecimalType(10, 2), "1", '"NaN"'),
        (DecimalType(10, 2), '"1.5"', '"Infinity"'),
    ],
)
def test_only_its_row_is_malformed(type_: Type, good: str, bad: str) -> None:
    lines = [f'{{"v": {value}}}' for value in (good, bad, good)]
    reader = JsonReader(Schema((Column("v", type_),)), "UTC", {})
    (batch,) = reader.rows("f", "\n".join([*lines, ""]).encode())
    assert batch.column("malformed").to_pylist() == [None, lines[1], None]
    assert [value is None for value in batch.column("v").to_pylist()] == [False, True, False]
