"""Decimals of more than 28 digits lost digits where Python's default context had a hand in it.

Its minus sign, `abs` and products round to 28 digits: a negation and ABS gave another number, the
largest decimals of a type did not fit it, and a fraction of nines became the next second.

Spark is no judge of the first two: it rounds them itself, to 34 digits.
"""

from decimal import Decimal

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Arithmetic, Call, Cast, Literal, Negation
from ebbtide.columnar import Columnar
from ebbtide.core.decimals import fit
from ebbtide.core.schema import Schema
from ebbtide.core.types import STRING, TIMESTAMP, DecimalType
from ebbtide.reference.scalar import evaluate

WIDEST = DecimalType(38, 0)
NINES = Decimal("9" * 38)
ONE_ROW = pa.table([pa.nulls(1)], names=["unused"])


def number(value: Decimal) -> Literal:
    """A constant of the widest type."""
    return Literal(value, WIDEST)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Negation(number(NINES)), NINES.copy_negate()),
        (Call("ABS", (number(NINES.copy_negate()),)), NINES),
        (Arithmetic("+", number(NINES), number(Decimal(0))), NINES),
        (Cast(Literal("9" * 38, STRING), WIDEST), NINES),
        (Cast(Literal(Decimal("0." + "9" * 32), DecimalType(32, 32)), TIMESTAMP), 999_999),
    ],
    ids=str,
)
def test_no_digit_is_lost(expression, expected) -> None:
    assert evaluate(expression, Schema(()), ()) == expected
    assert Columnar(expression, Schema(()))(ONE_ROW).to_pylist() == [expected]


def test_the_largest_decimal_fits_its_type() -> None:
    assert fit(NINES, WIDEST) == NINES
    assert fit(Decimal("1" + "0" * 38), WIDEST) is None
