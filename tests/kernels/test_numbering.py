"""Numbered rows over time, against the obvious loop over instants; trees of counts, too."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.time import INF
from ebbtide.kernels.sweeps.count_tree import add, find, up_to
from ebbtide.kernels.sweeps.numbering import Events, Ranking, Wanted, listed

TIMES = 12
Rows = list[tuple[int, int, int, int, int]]


def _events(rows: Rows, groups: int) -> Events:
    """The end points of rows (group, peer, from, to, count), which stand in order."""
    points = [
        (group, t, place, step)
        for place, (group, _, start, end, count) in enumerate(rows)
        for t, step in ((start, count), (end, -count))
    ]
    points.sort(key=lambda point: point[:2])
    columns = np.array(points, np.int64).reshape(-1, 4).T
    starts = np.searchsorted(columns[0], np.arange(groups + 1))
    return Events(starts, *(np.ascontiguousarray(part) for part in columns[1:]))


def _wanted(rows: Rows, t: int, wanted: Wanted) -> Counter[tuple[int, int]]:
    """The listed places and their numbers at an instant, every copy by itself."""
    result: Counter[tuple[int, int]] = Counter()
    for group in {row[0] for row in rows}:
        there = [
            (place, peer)
            for place, (g, peer, start, end, count) in enumerate(rows)
            for _ in range(count)
            if g == group and start <= t < end
        ]
        peers = [peer for _, peer in there]
        for number, (place, peer) in enumerate(there, 1):
            if wanted.ranking == Ranking.RANK:
                number = peers.index(peer) + 1
            elif wanted.ranking == Ranking.DENSE_RANK:
                number = len({other for other in peers if other <= peer})
            if wanted.offset < number <= wanted.limit:
                result[place, number if wanted.numbered else 0] += 1
    return result


@st.composite
def relations(draw: Any) -> tuple[Rows, int]:
    """Rows of some groups in order: peers, copies, and some that never end."""
    groups = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32))
    count = draw(st.integers(0, 40))
    chance = np.random.default_rng(seed)
    different = draw(st.sampled_from([1, 3, 100]))
    keys = sorted(
        (int(chance.integers(groups)), int(chance.integers(different))) for _ in range(count)
    )
    rows = []
    for group, peer in keys:
        start = int(chance.integers(0, TIMES))
        end = int(start + chance.integers(1, TIMES)) if chance.random() < 0.8 else INF
        rows.append((group, group * 1000 + peer, start, end, int(chance.choice([1, 1, 2, 5]))))
    return rows, groups


@given(
    relation=relations(),
    ranking=st.sampled_from(list(Ranking)),
    offset=st.sampled_from([0, 0, 1, 2, 7, 30]),
    count=st.sampled_from([0, 1, 2, 5, 20, 2**61]),
    numbered=st.booleans(),
    now=st.integers(0, TIMES),
)
def test_oracle_listing(
    relation: Any, ranking: Ranking, offset: int, count: int, numbered: bool, now: int
) -> None:
    rows, groups = relation
    wanted = Wanted(ranking, offset, offset + count, numbered)
    peers = np.array([row[1] for row in rows], np.int64)
    found = listed(_events(rows, groups), peers, wanted, now)
    entries = list(zip(*(part.tolist() for part in found), strict=True))
    for t in range(now + 1):
        there: Counter[tuple[int, int]] = Counter()
        for place, number, start, end, copies in entries:
            assert start < end
            assert copies > 0
            if start <= t < end:
                there[place, number] += copies
        assert there == _wanted(rows, t, wanted)
    ends = {(place, number, end, copies) for place, number, _, end, copies in entries}
    begins = {(place, number, start, copies) for place, number, start, _, copies in entries}
    assert not ends & begins, "what stays is said once"


@given(counts=st.lists(st.integers(0, 3), max_size=70))
def test_oracle_count_tree(counts: list[int]) -> None:
    tree = np.zeros(len(counts) + 1, np.int64)
    for place, count in enumerate(counts):
        add(tree, len(counts), place, count)
    units = [place for place, count in enumerate(counts) for _ in range(count)]
    assert [find(tree, len(counts), k) for k in range(len(units))] == units
    assert [up_to(tree, p) for p in range(len(counts) + 1)] == [
        sum(counts[:p]) for p in range(len(counts) + 1)
    ]


@pytest.mark.parametrize("ranking", list(Ranking))
def test_peers_around_the_offset(ranking: Ranking) -> None:
    """Two peers, three peers, one row: what an offset of 2 or 3 leaves."""
    rows = [(0, peer, 0, INF, 1) for peer in (1, 1, 2, 2, 2, 3)]
    peers = np.array([row[1] for row in rows], np.int64)
    for offset in (2, 3):
        wanted = Wanted(ranking, offset, offset + 9, True)
        found = listed(_events(rows, 1), peers, wanted, 0)
        numbered = zip(found.places, found.numbers, strict=True)
        entries = Counter(dict(zip(numbered, found.counts, strict=True)))
        assert entries == _wanted(rows, 0, wanted)
