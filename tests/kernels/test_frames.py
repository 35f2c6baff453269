"""Frames of rows, by counts and by amounts, on both sides of every tie."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ebbtide.core.time import INF
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.sweeps.frames import Bounds, Entries, Frame, bounds, entries, frame_spans


def _entries(values: list[Any]) -> Entries:
    """One segment with rows in the order given; neighbours that are equal are peers."""
    peers = [0]
    for last, value in pairwise(values):
        peers.append(peers[-1] + (value != last))
    zeros = np.zeros(len(values), np.int64)
    return entries(zeros, np.arange(len(values)), np.array(peers))


def _frames(values: list[Any], frame: Frame, type_: Any = None, **sort: bool) -> list[Any]:
    rows = pa.table({"c0": pa.array(values, type_ or pa.int64())})
    found = bounds(_entries(values), frame, rows, (SortColumn(0, **sort),))
    return [values[low:high] for low, high in zip(*map(np.ndarray.tolist, found), strict=True)]


def test_rows_before_and_after() -> None:
    assert _frames([1, 2, 3], Frame(True, -1, 0)) == [[1], [1, 2], [2, 3]]
    assert _frames([1, 2, 3], Frame(True, 1, 2)) == [[2, 3], [3], []]
    assert _frames([1, 2, 3], Frame(True, None, -1)) == [[], [1], [1, 2]]
    assert _frames([1, 2, 3], Frame(True, 0, None)) == [[1, 2, 3], [2, 3], [3]]


def test_amounts_include_all_peers() -> None:
    assert _frames([1, 2, 2, 5], Frame(False, -1, 0)) == [[1], [1, 2, 2], [1, 2, 2], [5]]
    assert _frames([1, 2, 2, 5], Frame(False, 1, 3)) == [[2, 2], [5], [5], []]
    assert _frames([5, 2, 2, 1], Frame(False, -1, 0), descending=True) == [
        [5],
        [2, 2],
        [2, 2],
        [2, 2, 1],
    ]


def test_null_is_near_to_null_alone() -> None:
    assert _frames([None, None, 1, 2], Frame(False, -5, 0)) == [
        [None, None],
        [None, None],
        [1],
        [1, 2],
    ]
    last = _frames([1, 2, None], Frame(False, None, 5), nulls_first=False)
    assert last == [[1, 2], [1, 2], [1, 2, None]]


def test_infinity_and_nan_lie_nowhere_else() -> None:
    values = [0.5, float("inf"), float("nan")]
    found = _frames(values, Frame(False, -1, 1), pa.float64())
    assert [len(frame) for frame in found] == [1, 1, 1]


def test_amounts_do_not_wrap_around() -> None:
    assert _frames([INF - 1, INF], Frame(False, 0, 9)) == [[INF - 1, INF], [INF]]
    assert _frames([-INF, INF], Frame(False, -9, 0)) == [[-INF], [INF]]


def test_wide_decimals_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="RANGE frame"):
        _frames([1], Frame(False, -1, 0), pa.decimal128(38, 0))


def test_a_row_is_in_one_run_of_frames() -> None:
    found = _entries([1, 2, 3, 4, 5])
    spans = frame_spans(found, bounds(found, Frame(True, -1, 1), pa.table({}), ()))
    assert isinstance(spans, Bounds)
    assert spans.low.tolist() == [0, 0, 1, 2, 3]
    assert spans.high.tolist() == [2, 3, 4, 5, 5]
