"""Segments by time: they show what segments by key show, and depend on the changes alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change, consolidate
from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF
from ebbtide.state import tiers
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, to_changes
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.time_order import TimeRows, in_time_order, packed

SCHEMA = batch_schema([pa.string(), pa.float64(), pa.int64(), pa.int64()])
TIME = 2
KEYS = ((TIME, 0), (0, TIME), (TIME,), (3,), (1, TIME))
ROWS = st.builds(
    lambda key, value, at, step, diff: Change((key, value, at, step), NEG_INF, INF, diff),
    st.sampled_from(("", "a", "b", "Z", "ab", None)),
    st.sampled_from((0.0, 1.5, None)),
    st.integers(-3, 12),
    st.integers(0, 1),
    st.sampled_from((1, 1, 1, -1)),
)
BATCHES = st.lists(st.lists(ROWS, max_size=12), max_size=6)


def keeping(after: int) -> Keep:
    return Keep(((After(TIME, after),),))


def filled(
    batches: list[list[Change]], keys: tuple[int, ...], structure: Structure, after: int
) -> SweepArea:
    area = SweepArea(Layout("archive", SCHEMA, keys, structure=structure))
    with patch.object(tiers, "SMALL", 4):
        for changes in batches:
            area = area.insert(from_changes(changes, SCHEMA), keep=keeping(-9))
            area = area.reorganize(keeping(after))
    return area


def net(changes: Any) -> tuple[Change, ...]:
    return consolidate(to_changes(changes))


@given(
    batches=BATCHES,
    keys=st.sampled_from(KEYS),
    after=st.sampled_from((-9, 2)),
    first=st.integers(-4, 13),
    last=st.integers(-4, 13),
)
def test_what_lies_by_time_is_what_lies_by_key(
    batches: list[list[Change]], keys: tuple[int, ...], after: int, first: int, last: int
) -> None:
    area, other = (
        filled(batches, keys, structure, after)
        for structure in (Structure.BY_TIME, Structure.BY_KEY)
    )
    assert {segment.structure for segment in area.segments} <= {Structure.BY_TIME}
    kept, wanted = area.under(keeping(after)), other.under(keeping(after))
    assert net(kept.query(None)) == net(wanted.query(None))
    assert net(keeping(after).of(area.everything())) == net(wanted.query(None))
    asked = from_changes([change for batch in batches for change in batch][:3], SCHEMA)
    hashes = np.unique(area.hash(asked))
    assert net(kept.query(hashes)) == net(wanted.query(hashes))
    if TIME in keys:
        at = asked.column(TIME).to_numpy()
        found, meant = (a.stamped(area.hash(asked), at, TIME) for a in (kept, wanted))
        assert net(found) == net(meant)
    inside = [
        change
        for segment in area.segments
        for change in to_changes(area.timed(segment, TIME, first, last))
    ]
    stored = to_changes(area.everything())
    assert sorted(map(repr, inside)) == sorted(
        repr(change) for change in stored if first <= change.row[TIME] <= last
    )
    compacted = area.compact(keeping(after))
    assert net(compacted.under(keeping(after)).query(None)) == net(wanted.query(None))


@given(changes=st.lists(ROWS, min_size=1), keys=st.sampled_from(KEYS), chance=st.randoms())
def test_the_order_depends_on_the_changes_alone(
    changes: list[Change], keys: tuple[int, ...], chance: Any
) -> None:
    one = in_time_order(from_changes(changes, SCHEMA), TIME, keys)
    shuffled = list(changes)
    chance.shuffle(shuffled)
    assert one.equals(in_time_order(from_changes(shuffled, SCHEMA), TIME, keys))
    assert one.equals(in_time_order(one, TIME, keys))
    assert TimeRows.of(packed(one, TIME)).everything().equals(one)


def test_rows_that_come_in_order_are_not_copied() -> None:
    rows = [Change((key, 0.5, at, 7), NEG_INF, INF) for at in range(3) for key in ("a", "b")]
    changes = from_changes(rows, SCHEMA)
    assert in_time_order(changes, TIME, (TIME, 0)) is changes
    assert in_time_order(changes, TIME, (0, TIME)) is changes
    assert in_time_order(changes, TIME, (3,)) is not changes


def test_what_rows_have_in_common_is_written_once(tmp_path: Path) -> None:
    rows = [Change(("a", float(at), at, 7), NEG_INF, INF) for at in range(1000)]
    changes = from_changes(rows, SCHEMA)
    scope = WriteScope(DirectoryStore(str(tmp_path)), "archive", 0, 1)
    layout = Layout("archive", SCHEMA, (TIME, 0), structure=Structure.BY_TIME)
    area = SweepArea(layout, scope).insert(changes, keep=keeping(-9))
    by_key = SweepArea(replace(layout, structure=Structure.BY_KEY), scope)
    assert 2 * area.bytes < by_key.insert(changes, keep=keeping(-9)).bytes
    again = SweepArea.restore(layout, area.describe(), scope)
    assert again.everything().equals(changes)


def test_times_that_are_not_there_lie_by_key() -> None:
    rows = [Change(("a", 0.5, at, 7), NEG_INF, INF) for at in (1, None)]
    area = filled([rows], (0,), Structure.BY_TIME, -9)
    assert {segment.structure for segment in area.segments} == {Structure.BY_KEY}
    assert net(area.query(None)) == consolidate(rows)


def test_segments_of_both_kinds_are_merged() -> None:
    rows = [Change(("a", 0.5, at, 7), NEG_INF, INF) for at in range(4)]
    area = filled([rows], (TIME, 0), Structure.BY_KEY, -9)
    area = replace(area, layout=replace(area.layout, structure=Structure.BY_TIME))
    back = [replace(change, diff=-1) for change in rows]
    area = area.insert(from_changes(back, SCHEMA), keep=keeping(-9))
    assert len(area.segments) == 2
    assert area.reorganize(keeping(-9)).rows == 0
