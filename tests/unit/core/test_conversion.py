"""Values of one type as another; the rest of the table is with the casts of expressions."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.conversion import convert
from ebbtide.core.decimals import divide, fit, round_to
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    DecimalType,
    admits,
)
from ebbtide.errors import EvaluationError, InternalError


def test_null_stays_null() -> None:
    assert convert(None, INT, STRING) is None


@pytest.mark.parametrize(
    ("value", "source", "target", "code"),
    [
        (2**63, DOUBLE, BIGINT, "overflow"),
        (2**62, BIGINT, TIMESTAMP, "overflow"),
        (2**62, BIGINT, INTERVAL, "overflow"),
        (2**62, TIMESTAMP, DATE, "overflow"),
        (float("nan"), DOUBLE, DecimalType(5, 1), "bad-cast"),
        (float("inf"), DOUBLE, TIMESTAMP, "bad-cast"),
        ("1e999", STRING, DecimalType(38, 0), "overflow"),
    ],
)
def test_what_does_not_fit(value, source, target, code) -> None:
    with pytest.raises(EvaluationError) as caught:
        convert(value, source, target)
    assert caught.value.code == code


def test_what_does_not_convert_at_all() -> None:
    with pytest.raises(InternalError):
        convert(1, INT, BINARY)


SCALES = st.integers(0, 10).flatmap(
    lambda scale: st.builds(DecimalType, st.integers(max(scale, 1), 38), st.just(scale))
)


@given(st.decimals(-(10**40), 10**40, allow_nan=False), SCALES)
def test_what_fits_is_a_value_of_its_type_and_near(value: Decimal, type_: DecimalType) -> None:
    fitted = fit(value, type_)
    if fitted is None:
        assert abs(value) >= type_.limit - Decimal(5).scaleb(-type_.scale - 1)
    else:
        assert admits(type_, fitted)
        assert abs(fitted - value) <= Decimal(5).scaleb(-type_.scale - 1)


def test_halves_are_rounded_away_from_zero() -> None:
    assert round_to(Decimal("2.5"), 0) == 3
    assert round_to(Decimal("-2.5"), 0) == -3
    assert round_to(Decimal("49"), -2) == 0
    assert round_to(Decimal("50"), -2) == 100
    assert round_to(Decimal("0.04"), 1) == 0
    assert round_to(Decimal("0.05"), 1) == Decimal("0.1")


def test_a_quotient_has_39_digits_after_the_point() -> None:
    assert divide(Decimal(2), Decimal(3)) == Decimal("0." + "6" * 38 + "7")


def test_zero_has_no_sign() -> None:
    assert str(fit(Decimal("-0.001"), DecimalType(3, 2))) == "0.00"
