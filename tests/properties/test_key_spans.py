"""Regions: what of some changes lies at the keys and instants at which an answer may differ."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change
from ebbtide.dataflow.key_spans import KeySpans
from ebbtide.state.batch import batch_schema, from_changes, key_hash, to_changes

SCHEMA = batch_schema([pa.int64()])
SPANS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(1, 6)), max_size=8
).map(lambda found: [(key, start, start + length) for key, start, length in found])


def region(spans: list[tuple[int, int, int]]) -> KeySpans:
    keys = pa.table({"c0": pa.array([key for key, _, _ in spans], pa.int64())})
    starts, ends = (np.array([s[i] for s in spans], np.int64) for i in (1, 2))
    return KeySpans.of([(key_hash(keys, [0]), starts, ends)])


def points(spans: list[tuple[int, int, int]]) -> Counter[tuple[int, int]]:
    return Counter((key, t) for key, start, end in spans for t in range(start, end))


@given(spans=SPANS, changes=SPANS)
def test_what_lies_within_is_what_lies_there_instant_by_instant(
    spans: list[tuple[int, int, int]], changes: list[tuple[int, int, int]]
) -> None:
    table = from_changes((Change((k,), start, end, 1) for k, start, end in changes), SCHEMA)
    found = to_changes(region(spans).within(table, [0]))
    inside = points([(c.row[0], c.valid_from, c.valid_to) for c in found])  # type: ignore[misc]
    allowed = points(spans).keys()
    assert inside == Counter({p: n for p, n in points(changes).items() if p in allowed})


@given(spans=SPANS, times=st.lists(st.integers(-6, 25), max_size=9), most=st.integers(0, 7))
def test_times_are_held_that_lie_so_long_before(
    spans: list[tuple[int, int, int]], times: list[int], most: int
) -> None:
    held = region(spans).holds_times(np.array(times, np.int64), most)
    expected = [any(s - most <= t < e for _, s, e in spans) for t in times]
    assert held.tolist() == expected
    for t, is_held in zip(times, expected, strict=True):
        assert region(spans).meets(t, t, most) == is_held


@given(spans=SPANS)
def test_a_region_knows_its_first_and_last_instant(spans: list[tuple[int, int, int]]) -> None:
    found = region(spans)
    assert found.is_empty == (not spans)
    if spans:
        assert found.first == min(start for _, start, _ in spans)
        assert found.last == max(end for _, _, end in spans)
