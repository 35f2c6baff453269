"""Orders on arrays: the quick ways are the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from ebbtide.core.time import INF, NEG_INF
from ebbtide.state.arrays import order_by, stable_order


@pytest.mark.parametrize("outliers", [(), (NEG_INF,), (NEG_INF, INF), (NEG_INF + 1, -1, INF - 1)])
@pytest.mark.parametrize("kind", ["numbers", "hashes", "negative"])
@pytest.mark.parametrize("count", [0, 1, 2, 1000, 70_000])
def test_order_by_is_a_stable_sort(kind: str, outliers: tuple[int, ...], count: int) -> None:
    chance = np.random.default_rng(count)
    minor = chance.integers(0, 10**9, count)
    places = chance.integers(0, max(count, 1), len(outliers) * 3)
    if count:
        minor[places] = np.repeat(np.array(outliers, np.int64), 3)
    major = chance.integers(-5 if kind == "negative" else 0, 50, count)
    if kind == "hashes":
        major = major.astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    assert order_by(major, minor).tolist() == np.lexsort((minor, major)).tolist()


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 70_000])
@pytest.mark.parametrize("kind", ["hashes", "neighbours", "negative", "sorted"])
def test_stable_order_is_a_stable_sort(kind: str, count: int) -> None:
    chance = np.random.default_rng(count)
    values = chance.integers(0, 1 << 64, count, np.uint64)[chance.integers(0, count or 1, count)]
    if kind == "neighbours":  # which only their last bits tell apart
        values = values & ~np.uint64(7) | chance.integers(0, 8, count, np.uint64)
    found = {"negative": values.view(np.int64), "sorted": np.sort(values)}.get(kind, values)
    assert stable_order(found).tolist() == np.argsort(found, kind="stable").tolist()
