"""The SweepArea against a plain list of changes, and its cost against the size of the state."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change, consolidate, restrict
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, NEG_INF
from ebbtide.errors import StateError
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, key_hash, to_changes
from ebbtide.state.keep import ended_by
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.tiers import BUCKETS, FAN_IN, SMALL

SCHEMA = batch_schema([pa.int64(), pa.string()])
LAYOUT = Layout("input", SCHEMA, (0,))

INTERVALS = st.tuples(st.integers(0, 30), st.sampled_from([1, 2, 5, 20, INF])).map(
    lambda pair: (pair[0], INF if pair[1] == INF else pair[0] + pair[1])
)
CHANGES = st.tuples(
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from(["a", "b"]),
    INTERVALS,
    st.sampled_from([1, -1]),
).map(lambda p: Change((p[0], p[1]), *p[2], p[3]))
BATCHES = st.lists(st.lists(CHANGES, max_size=6), max_size=12)


def hashes_of(*keys: Any) -> Any:
    """The sorted hashes of keys."""
    return np.unique(key_hash(pa.table({"k": pa.array(keys, pa.int64())}), (0,)))


def filled(batches: Any, horizon: int = NEG_INF) -> SweepArea:
    """An area after some steps."""
    area = SweepArea(LAYOUT)
    for changes in batches:
        area = area.insert(from_changes(changes, SCHEMA)).reorganize(ended_by(horizon))
    return area


@given(batches=BATCHES, keys=st.sets(st.sampled_from([1, 2, 3, None, 9])), ends=INTERVALS)
def test_a_query_gives_what_overlaps(batches, keys, ends) -> None:
    area = filled(batches)
    since, until = ends
    asked = hashes_of(*keys)
    found = to_changes(area.query(asked, since, until))
    wanted = [c for changes in batches for c in changes if c.row[0] in keys]
    region = Interval(since, until)
    assert consolidate(restrict(found, region)) == consolidate(restrict(wanted, region))
    assert all(c.interval.overlaps(region) for c in found)
    everything = to_changes(area.query(None))
    assert consolidate(everything) == consolidate(c for changes in batches for c in changes)


@given(batches=BATCHES, sinces=st.lists(st.integers(0, 40), min_size=3, max_size=3))
def test_a_bound_may_differ_from_key_to_key(batches, sinces) -> None:
    area = filled(batches)
    asked = hashes_of(1, 2, 3)
    bound = np.array(sinces[: len(asked)], np.int64)
    together = to_changes(area.query(asked, bound))
    apart = [
        change
        for hash_, since in zip(asked, bound.tolist(), strict=True)
        for change in to_changes(area.query(np.array([hash_]), since))
    ]
    assert sorted(map(repr, together)) == sorted(map(repr, apart))


@given(batches=BATCHES, ends=INTERVALS)
def test_turning_moved_and_next_end(batches, ends) -> None:
    area = SweepArea(LAYOUT)
    for changes in batches:
        area = area.insert(from_changes(changes, SCHEMA))
    after, upto = ends
    everything = [c for changes in batches for c in changes]

    def turns(change: Change, first: int) -> bool:
        return any(first <= t <= upto for t in (change.valid_from, change.valid_to))

    keys = {c.row[0] for c in everything if turns(c, after + 1)}
    assert area.turning(after, upto).tolist() == (hashes_of(*keys).tolist() if keys else [])
    moved = to_changes(area.moved(after, upto).changes)
    assert sorted(map(repr, moved)) == sorted(repr(c) for c in everything if turns(c, after))
    for key in (1, 2, None):
        points = [t for c in everything if c.row[0] == key for t in (c.valid_from, c.valid_to)]
        later = [t for t in points if t > after]
        assert area.next_end(hashes_of(key), after).tolist() == [min(later, default=INF)]


@given(batches=BATCHES, horizons=st.lists(st.integers(0, 40), min_size=12, max_size=12))
def test_collection_keeps_all_that_can_be_touched(batches, horizons) -> None:
    area, everything, horizon = SweepArea(LAYOUT), [], NEG_INF
    for changes, next_horizon in zip(batches, sorted(horizons), strict=False):
        new = [c for c in changes if c.valid_from > horizon]
        everything += new
        horizon = next_horizon
        area = area.insert(from_changes(new, SCHEMA)).reorganize(ended_by(horizon))
        region = Interval(horizon + 1, INF)
        found = restrict(to_changes(area.query(None)), region)
        assert consolidate(found) == consolidate(restrict(everything, region))
    full = area.compact(ended_by(horizon))
    assert all(c.valid_to > horizon + 1 for c in to_changes(full.query(None)))


@given(batches=BATCHES, horizons=st.lists(st.integers(0, 60), max_size=3))
def test_what_expires_is_counted(batches, horizons) -> None:
    positive = [[c for c in changes if c.diff > 0] for changes in batches]
    area = filled(positive)
    stored = area.rows
    for horizon in horizons:
        area = area.compact(ended_by(horizon))
        assert area.expired == stored - area.rows


@given(batches=BATCHES, kept=st.lists(CHANGES, max_size=3))
def test_compaction_nets_what_cancels(batches, kept) -> None:
    area = filled([*batches, *([-c for c in changes] for changes in batches), kept])
    compacted = area.compact()
    assert consolidate(to_changes(compacted.query(None))) == consolidate(kept)
    if not kept:
        # Buckets of time are netted apart, and rows that cancel end in the same one.
        assert compacted.rows == 0


@given(changes=st.lists(CHANGES, min_size=1, max_size=20), seed=st.randoms())
def test_the_order_of_arrival_leaves_no_trace(changes, seed, tmp_path_factory) -> None:
    shuffled = list(changes)
    seed.shuffle(shuffled)
    names = []
    for order in (changes, shuffled):
        store = DirectoryStore(str(tmp_path_factory.mktemp("state")))
        area = SweepArea(LAYOUT, WriteScope(store, "op", 0, 1))
        names.append(area.insert(from_changes(order, SCHEMA)).segments)
    assert names[0] == names[1]


def test_what_cancels_goes_even_if_no_time_lets_it_go() -> None:
    """Rows come in segments with bounds of their own, and go in others."""
    area = SweepArea(LAYOUT)
    rows = [Change((key, "x"), NEG_INF, 10 * key + 1) for key in range(300)]
    for first in (0, 100, 200):
        area = area.insert(from_changes(rows[first : first + 100], SCHEMA)).reorganize()
    for first, last in ((0, 250), (250, 300)):
        gone = [-row for row in rows[first:last]]
        area = area.insert(from_changes(gone, SCHEMA)).reorganize()
    assert area.segments == ()


def test_only_the_newest_row_of_a_key_counts() -> None:
    area = SweepArea(Layout("lines", SCHEMA, (0,), newest=True))
    for version in range(30):
        rows = [Change((1, f"v{version}"), version, INF)]
        rows += [Change((2, "x"), version, INF, int(version < 20))]
        area = area.insert(from_changes(rows, SCHEMA)).reorganize()
    found = to_changes(area.latest(hashes_of(1, 2)).changes)
    assert [c.row for c in found] == [(1, "v29")]
    assert len(area.segments) < 2 * FAN_IN
    assert area.compact().rows == 1


def test_a_missing_segment_is_named(tmp_path) -> None:
    store = DirectoryStore(str(tmp_path))
    area = SweepArea(LAYOUT, WriteScope(store, "op", 0, 1)).insert(
        from_changes([Change((1, "a"), 0, 5)], SCHEMA)
    )
    store.delete([area.segments[0].name])
    with pytest.raises(StateError, match=area.segments[0].name):
        area.query(None)


def large(rows: int, seed: int, span: int, start: int = 0, keys: int | None = None) -> Any:
    """Many rows of many keys, as a window would have them."""
    chance = np.random.default_rng(seed)
    starts = np.sort(chance.integers(start, start + span, rows))
    schema = batch_schema([pa.int64(), pa.float64()])
    return pa.Table.from_arrays(
        [
            pa.array(chance.integers(0, keys or rows, rows)),
            pa.array(chance.random(rows)),
            pa.array(starts),
            pa.array(starts + 1_000_000),
            pa.array(np.ones(rows, np.int64)),
        ],
        schema=schema,
    )


NUMBERS = Layout("input", batch_schema([pa.int64(), pa.float64()]), (0,))


def test_segments_stay_few_and_whole_buckets_go() -> None:
    area = SweepArea(NUMBERS)
    most = 0
    for step in range(200):
        now = step * 20_000
        area = area.insert(large(4_000, step, 20_000, now)).reorganize(ended_by(now))
        most = max(most, len(area.segments))
        live = 1_000_000 // 20_000 * 4_000
        assert area.rows < 1.35 * live + 2 * SMALL
    assert most <= 3 * BUCKETS * FAN_IN
    assert area.reorganize(ended_by(now + 2_000_000)).rows == 0


def test_the_cost_follows_the_changes() -> None:
    """Insert, query and turning on 10^4 and 10^6 rows, with the same changes."""

    def seconds(rows: int) -> list[float]:
        area = SweepArea(NUMBERS)
        for part in range(10):
            area = area.insert(large(rows // 10, part, 100_000, part * 100_000, rows))
        area = area.reorganize(ended_by(0))
        new = large(2_000, 99, 1_000, 1_000_000, rows)
        asked = np.unique(area.hash(new))

        def best(work: Any) -> float:
            times = []
            for _ in range(7):
                start = time.process_time()
                work()
                times.append(time.process_time() - start)
            return min(times)

        return [
            best(lambda: area.insert(new)),
            best(lambda: area.query(asked, 1_000_000)),
            best(lambda: area.next_end(asked, 1_000_000)),
        ]

    small, big = seconds(10_000), seconds(1_000_000)
    # A hundredfold state; a scan of it would be some fifty times as long.
    assert all(large_ < 12 * small_ + 0.02 for small_, large_ in zip(small, big, strict=True))
