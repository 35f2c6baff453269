"""Percentiles between two rows, to the last bit, against fractions."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra.aggregates import AGGREGATES
from ebbtide.core.types import BIGINT, DOUBLE, DecimalType
from ebbtide.core.values import sort_key
from ebbtide.kernels.aggregates import interpolation
from ebbtide.kernels.aggregates.interpolation import between, places, places_of_values

SHARES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.75, 0.3, 0.9, 0.99, 1 / 3, 2**-60, 1e-30, 5e-324]),
    st.floats(0, 1),
)
WHOLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-9, 9),
    st.sampled_from([2**53, 2**53 + 1, 2**53 + 3, 2**62, -(2**62) - 1, 2**63 - 1, -(2**63)]),
)
REAL = st.one_of(
    st.floats(),
    st.floats(0.5, 1),
    st.sampled_from([0.0, -0.0, 1.0, 1 + 2**-52, 1e308, -1e308, 5e-324, -5e-324, math.inf]),
)


def _column(values: list[Any], share: float, kind: Any) -> list[Any]:
    """The percentile of all beginnings of a list, by the places and values of the kernels."""
    sizes = np.arange(len(values) + 1)
    found = places(Fraction(share), sizes)
    ordered = [sorted(values[:size], key=sort_key) for size in sizes.tolist()]
    low = [
        bag[place] if bag else None for bag, place in zip(ordered, found.low.tolist(), strict=True)
    ]
    high = [
        bag[min(place + 1, len(bag) - 1)] if bag else None
        for bag, place in zip(ordered, found.low.tolist(), strict=True)
    ]
    columns = pa.array(low, kind, from_pandas=False), pa.array(high, kind, from_pandas=False)
    result: list[Any] = between(pa.float64(), Fraction(share), sizes, found, *columns).to_pylist()
    return result


def _wanted(values: list[Any], share: float, type_: Any, name: str = "PERCENTILE") -> list[Any]:
    """The same, as the algebra says."""
    function = AGGREGATES[name]((type_, DOUBLE))
    state, results = function.initial, [None]
    for value in values:
        state = function.accumulate(state, (value, share))
        results.append(function.result(state))
    return results


def _same(found: list[Any], wanted: list[Any]) -> bool:
    """Equal to the last bit, NaN to NaN."""
    return [repr(v + 0.0 if v is not None else v) for v in found] == [
        repr(v + 0.0 if v is not None else v) for v in wanted
    ]


@given(values=st.lists(WHOLE, max_size=6), share=SHARES)
def test_oracle_whole_numbers(values: list[int], share: float) -> None:
    assert _same(_column(values, share, pa.int64()), _wanted(values, share, BIGINT))


@given(values=st.lists(REAL, max_size=6), share=SHARES)
def test_oracle_doubles(values: list[float], share: float) -> None:
    assert _same(_column(values, share, pa.float64()), _wanted(values, share, DOUBLE))


@given(
    values=st.lists(st.one_of(st.integers(-999, 999), st.integers(-(10**28), 10**28)), max_size=6),
    scale=st.sampled_from([0, 2, 6, 22, 28]),
    share=SHARES,
)
def test_oracle_decimals(values: list[int], scale: int, share: float) -> None:
    exact = [Decimal(value).scaleb(-scale) for value in values]
    found = _column(exact, share, pa.decimal128(38, scale))
    assert _same(found, _wanted(exact, share, DecimalType(38, scale)))


@given(share=SHARES, sizes=st.lists(st.integers(0, 2**62), max_size=9))
def test_places_are_exact(share: float, sizes: list[int]) -> None:
    exact = Fraction(share)
    found = places(exact, np.array(sizes, np.int64))
    assert found.low.tolist() == [math.floor(exact * (n - 1)) if n else -1 for n in sizes]
    for n, weight, rest, known in zip(sizes, *(part.tolist() for part in found[1:]), strict=True):
        if n and not math.isnan(weight):
            error = exact * (n - 1) % 1 - Fraction(weight) - Fraction(rest)
            assert error == 0 if known else abs(error) <= Fraction(2) ** -100
    values = places_of_values(exact, np.array(sizes, np.int64)).tolist()
    assert values == [max(0, math.ceil(exact * n) - 1) if n else -1 for n in sizes]


@pytest.mark.parametrize("share", [0.5, 0.25, 0.3, 0.9])
@pytest.mark.parametrize("kind", ["doubles", "cents", "whole"])
def test_usual_values_need_no_fractions(share: float, kind: str, monkeypatch) -> None:
    """Halves of random doubles are ties every other time, and are rounded without doubt."""
    random = Random(3)
    values = {
        "doubles": [random.random() for _ in range(300)],
        "cents": [Decimal(random.randrange(10**9)).scaleb(-2) for _ in range(300)],
        "whole": [random.randrange(2**52) for _ in range(300)],
    }[kind]
    types = {
        "doubles": (pa.float64(), DOUBLE),
        "cents": (pa.decimal128(18, 2), DecimalType(18, 2)),
        "whole": (pa.int64(), BIGINT),
    }
    wanted = _wanted(values, share, types[kind][1])
    monkeypatch.setattr(interpolation, "_exactly", None)
    assert _same(_column(values, share, types[kind][0]), wanted)
