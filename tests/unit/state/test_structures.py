"""Structures of a SweepArea: each gives what the most general one gives, whatever is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change
from ebbtide.core.structure import Structure
from ebbtide.core.time import INF
from ebbtide.state import search
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, key_hash, to_changes
from ebbtide.state.keep import ended_by
from ebbtide.state.layout import Layout
from ebbtide.state.segment import Segment

SCHEMA = batch_schema([pa.int64(), pa.int64()])
TIMES = st.integers(0, 40)
ANY = st.builds(
    lambda key, value, start, length, diff: Change(
        (key, value), start, INF if length == 0 else start + length, diff
    ),
    st.integers(0, 2), st.integers(0, 1), TIMES, st.integers(0, 9), st.sampled_from((1, 1, 1, -1)),
)  # fmt: skip
EQUAL = st.builds(
    lambda key, value, start: Change((key, value), start, start + 7),
    st.integers(0, 2), st.integers(0, 1), TIMES,
)  # fmt: skip
BATCHES = st.one_of(*(st.lists(st.lists(kind, max_size=8), max_size=6) for kind in (ANY, EQUAL)))


def filled(batches: Sequence[Sequence[Change]], structure: Structure, keyed: bool) -> SweepArea:
    layout = Layout("input", SCHEMA, (0,) if keyed else (), structure=structure)
    area = SweepArea(layout)
    for changes in batches:
        area = area.insert(from_changes(changes, SCHEMA)).reorganize(ended_by(-1))
    return area


def told(changes: Any) -> list[str]:
    return sorted(map(repr, to_changes(changes)))


@given(
    batches=BATCHES,
    structure=st.sampled_from((Structure.FIFO, Structure.BY_END)),
    keyed=st.booleans(),
    since=TIMES,
    length=st.integers(0, 12),
    apart=st.lists(st.integers(0, 5), min_size=3, max_size=3),
    singly=st.sampled_from((0, 64)),
)
def test_all_structures_find_the_same(
    batches: list[list[Change]],
    structure: Structure,
    keyed: bool,
    since: int,
    length: int,
    apart: list[int],
    singly: int,
) -> None:
    # Even one row of a key is found by halving.
    with patch.multiple(search, _WORTH_HALVING=0, _ONE_BY_ONE=singly):
        general = filled(batches, Structure.BY_KEY, keyed)
        area = filled(batches, structure, keyed)
        keys = pa.table({"k": pa.array([0, 1, 2], pa.int64())})
        hashes = np.unique(key_hash(keys, (0,) if keyed else ()))
        bound = since + np.array(apart[: len(hashes)], np.int64)
        for first, last in ((since, since + length), (bound, bound + length)):
            for asked in (hashes, None) if isinstance(first, int) else (hashes,):
                for find in (SweepArea.query, lambda a, h, f, t: a.moved(f, t, h).changes):
                    assert told(find(area, asked, first, last)) == told(
                        find(general, asked, first, last)
                    )
            assert area.next_end(hashes, first).tolist() == general.next_end(hashes, first).tolist()
        assert (area.turning(since, since + length) == general.turning(since, since + length)).all()


@given(changes=st.lists(EQUAL, min_size=1, max_size=20), seed=st.randoms())
def test_rows_that_stay_equally_long_lie_first_in_first_out(
    changes: list[Change], seed: Any
) -> None:
    area = filled([changes], Structure.FIFO, keyed=True)
    assert {segment.structure for segment in area.segments} == {Structure.FIFO}
    shuffled = list(changes)
    seed.shuffle(shuffled)
    again = filled([shuffled], Structure.FIFO, keyed=True)
    ((_, one),), ((_, other),) = area.contents(), again.contents()
    assert one.equals(other)


def test_what_does_not_end_in_order_lies_by_its_end() -> None:
    changes = [Change((0, 0), 1, 9), Change((0, 0), 2, 5), Change((1, 0), 3, 4)]
    area = filled([changes], Structure.FIFO, keyed=True)
    (segment,) = area.segments
    assert segment.structure is Structure.BY_END
    assert area.next_end(np.unique(area.hash(from_changes(changes, SCHEMA))), 3).tolist() in (
        [4, 5], [5, 4],
    )  # fmt: skip


def test_a_segment_says_its_structure_and_one_from_before_has_the_general() -> None:
    (segment,) = filled([[Change((0, 0), 1, 2)]], Structure.FIFO, keyed=True).segments
    assert Segment.restore(segment.describe()) == segment
    general = replace(segment, structure=Structure.BY_KEY)
    assert len(general.describe()) + 1 == len(segment.describe())
    assert Segment.restore(general.describe()) == general
    with pytest.raises(ValueError, match="heap"):
        Segment.restore([*general.describe(), "heap"])
