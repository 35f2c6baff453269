"""Values as text and back."""

import math
import struct
from datetime import UTC, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.text import read, read_zone, write, write_timestamp
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    ArrayType,
    DecimalType,
)
from ebbtide.errors import EvaluationError, InternalError

VALUES = {
    BOOLEAN: st.booleans(),
    INT: st.integers(INT.least, INT.greatest),
    BIGINT: st.integers(BIGINT.least, BIGINT.greatest),
    DOUBLE: st.floats(allow_nan=False),
    DecimalType(38, 6): st.decimals(-(10**20), 10**20, places=6),
    DATE: st.dates(),
    TIMESTAMP: st.integers(-62135596800000000, 253402300799999999),
    INTERVAL: st.integers(BIGINT.least, BIGINT.greatest),
    STRING: st.text(),
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
def test_what_is_written_is_read(type_) -> None:
    @given(VALUES[type_])
    def check(value) -> None:
        assert read(write(value, type_), type_) == value

    check()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_has_the_digits_of_python_in_the_form_of_java(value: float) -> None:
    text = write(value, DOUBLE)
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    assert "." in mantissa
    assert exponent == "" or abs(int(exponent)) >= 3
    assert ("E" in text) == (value != 0 and not 1e-3 <= abs(value) < 1e7)


@given(st.integers(0, 2**64 - 1))
def test_every_double_is_written(bits: int) -> None:
    (value,) = struct.unpack("d", struct.pack("Q", bits))
    assert write(value, DOUBLE)


def test_a_time_outside_of_the_calendar_has_no_text() -> None:
    with pytest.raises(EvaluationError, match="years"):
        write_timestamp(2**63 - 1)


def test_zones() -> None:
    assert read_zone("Z") is UTC
    assert read_zone("+1:30") == read_zone("UTC+01:30") == timezone(timedelta(minutes=90))
    assert read_zone("-0500") == timezone(timedelta(hours=-5))
    assert read_zone("+19:00") is None
    assert read_zone("Nowhere/Land") is None
    assert read_zone("../etc") is None
    assert read_zone("CET") is None


def test_nothing_is_read_as_bytes_or_an_array() -> None:
    for type_ in (BINARY, ArrayType(INT)):
        with pytest.raises(InternalError):
            read("x", type_)


def test_null_inside_is_a_word() -> None:
    assert write((1, None), ArrayType(INT)) == "[1, null]"
    assert write(math.nan, DOUBLE) == "NaN"
    assert write(Decimal("1E-10"), DecimalType(11, 10)) == "0.0000000001"
