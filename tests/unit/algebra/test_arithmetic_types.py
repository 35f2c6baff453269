"""The types of arithmetic on operands that need no cast."""

import pytest

from ebbtide.algebra.arithmetic import adjusted, arithmetic_type, rounded_type
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    TINYINT,
    DecimalType,
)
from ebbtide.errors import BindError

D = DecimalType


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        ("+", INT, INT, INT),
        ("*", TINYINT, TINYINT, TINYINT),
        ("/", INT, INT, DOUBLE),
        ("/", TINYINT, BIGINT, DOUBLE),
        ("DIV", INT, BIGINT, BIGINT),
        ("%", BIGINT, BIGINT, BIGINT),
        ("/", DOUBLE, DOUBLE, DOUBLE),
        ("+", D(5, 2), D(10, 0), D(13, 2)),
        ("-", D(38, 10), D(38, 10), D(38, 9)),
        ("*", D(5, 2), D(3, 1), D(9, 3)),
        ("*", D(38, 10), D(38, 10), D(38, 6)),
        ("/", D(10, 2), D(5, 1), D(17, 8)),
        ("/", D(38, 10), D(38, 10), D(38, 6)),
        ("%", D(10, 2), D(5, 1), D(6, 2)),
        ("DIV", D(10, 2), D(5, 1), BIGINT),
        ("+", TIMESTAMP, INTERVAL, TIMESTAMP),
        ("+", INTERVAL, TIMESTAMP, TIMESTAMP),
        ("-", TIMESTAMP, INTERVAL, TIMESTAMP),
        ("-", TIMESTAMP, TIMESTAMP, INTERVAL),
        ("-", DATE, DATE, INTERVAL),
        ("+", DATE, INTERVAL, TIMESTAMP),
        ("+", DATE, INT, DATE),
        ("-", DATE, TINYINT, DATE),
        ("+", INTERVAL, INTERVAL, INTERVAL),
        ("*", INTERVAL, DOUBLE, INTERVAL),
        ("*", INT, INTERVAL, INTERVAL),
        ("/", INTERVAL, D(3, 1), INTERVAL),
        ("DIV", INTERVAL, INTERVAL, BIGINT),
    ],
)
def test_defined(op, left, right, expected) -> None:
    assert arithmetic_type(op, left, right) == expected


@pytest.mark.parametrize(
    ("op", "left", "right"),
    [
        ("+", INT, BIGINT),
        ("+", INT, D(10, 0)),
        ("+", DOUBLE, INT),
        ("DIV", DOUBLE, DOUBLE),
        ("+", STRING, INT),
        ("+", BOOLEAN, BOOLEAN),
        ("+", TIMESTAMP, TIMESTAMP),
        ("-", INTERVAL, TIMESTAMP),
        ("+", TIMESTAMP, INT),
        ("+", DATE, BIGINT),
        ("-", INT, DATE),
        ("/", INT, INTERVAL),
        ("%", INTERVAL, INTERVAL),
        ("^", INT, INT),
    ],
)
def test_not_defined(op, left, right) -> None:
    with pytest.raises(BindError, match="is not defined"):
        arithmetic_type(op, left, right)


def test_past_38_digits_scale_is_given_up_down_to_6() -> None:
    assert adjusted(38, 38) == D(38, 38)
    assert adjusted(39, 10) == D(38, 9)
    assert adjusted(60, 10) == D(38, 6)
    assert adjusted(60, 4) == D(38, 4)


def test_the_digits_of_rounding() -> None:
    assert rounded_type(D(38, 38), 2) == D(3, 2)
    assert rounded_type(D(38, 0), 5) == D(38, 0)
    assert rounded_type(D(3, 2), -9) == D(10, 0)
