"""The variance of doubles near the end of their range failed with an OverflowError of Python.

It is infinite, as in SQL; its square root may well be a double, and so may that of a variance that
is too small to be one.
"""

import math
from functools import reduce

import pytest

from ebbtide.algebra.aggregates import aggregate
from ebbtide.core.types import DOUBLE


def over(name: str, *values: float) -> float:
    function = aggregate(name, (DOUBLE,))
    state = reduce(function.accumulate, [(value,) for value in values], function.initial)
    return function.result(state)


def test_the_variance_of_huge_doubles_is_infinite() -> None:
    assert over("VAR_POP", 0.0, 2e200) == math.inf
    assert over("VAR_SAMP", 0.0, 2e200) == math.inf


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1.0, 2.0**-530])
def test_the_deviation_is_a_double_where_the_variance_is_none(unit: float) -> None:
    assert over("STDDEV_POP", 0.0, 2 * unit) == unit


def test_the_deviation_of_the_largest_doubles_is_infinite() -> None:
    largest = 1.7976931348623157e308
    assert over("STDDEV_SAMP", -largest, largest) == math.inf


def test_no_deviation_is_zero() -> None:
    assert over("STDDEV_POP", 3.0, 3.0) == 0.0
