"""Exact decimals of bounded precision.

Law: a result is the exact number, rounded half up to the digits of its type, or there is none.
Numbers are first cut to 39 significant digits, as Spark does, so that the last digit agrees.
"""

from __future__ import annotations

import decimal
from decimal import ROUND_HALF_UP, Decimal

from ebbtide.core.types import DecimalType

MAX_PRECISION = 38

_TRAPS = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]

EXACT = decimal.Context(prec=400, rounding=ROUND_HALF_UP, traps=_TRAPS)
"""For sums, products and remainders of decimals, which are exact in it."""

WIDE = decimal.Context(prec=MAX_PRECISION + 1, rounding=ROUND_HALF_UP, traps=_TRAPS)
"""One digit more than any decimal has."""


def fit(value: Decimal, type_: DecimalType) -> Decimal | None:
    """``value`` rounded half up to the type's scale; None if it has too many digits then.

    >>> fit(Decimal("2.345"), DecimalType(3, 2)), fit(Decimal("9.996"), DecimalType(3, 2))
    (Decimal('2.35'), None)
    """
    if value.is_zero():
        return Decimal((0, (0,), -type_.scale))
    if not value.is_finite() or value.adjusted() > MAX_PRECISION:
        return None
    rounded = value.quantize(Decimal((0, (1,), -type_.scale)), context=EXACT)
    if rounded.is_zero():
        return abs(rounded)
    # `abs` would round to the 28 digits of the default context.
    return rounded if rounded.copy_abs() < type_.limit else None


def round_to(value: Decimal, digits: int) -> Decimal:
    """``value`` rounded half up to so many digits after the point, or before it if negative.

    >>> round_to(Decimal("-25"), -1), round_to(Decimal("2.675"), 2)
    (Decimal('-3E+1'), Decimal('2.68'))
    """
    if value.is_zero() or value.adjusted() < -digits - 1:
        return Decimal(0)
    if digits >= -int(value.as_tuple().exponent):
        return value
    return value.quantize(Decimal((0, (1,), -digits)), context=EXACT)


def divide(left: Decimal, right: Decimal) -> Decimal:
    """The quotient to 39 digits after the point, rounded half up."""
    return round_to(EXACT.divide(left, right), MAX_PRECISION + 1)
