"""A DECIMAL with more digits than Python's default context was refused as too large.

`abs` rounds to the 28 digits of the context, and 38 nines rounded are the limit itself.
"""

from decimal import Decimal

import pytest

from ebbtide.core.types import DecimalType, admits


@pytest.mark.parametrize("scale", [0, 10, 38])
@pytest.mark.parametrize("sign", [0, 1])
def test_the_largest_decimal_is_a_value_of_its_type(scale: int, sign: int) -> None:
    assert admits(DecimalType(38, scale), Decimal((sign, (9,) * 38, -scale)))


def test_one_digit_more_is_not() -> None:
    assert not admits(DecimalType(38, 0), Decimal((0, (1,) + (0,) * 38, 0)))
