"""TUMBLE, HOP and CUMULATE on grids that an offset moves."""

from collections import Counter

import pytest

from ebbtide.algebra.window import Cumulate, Hop, Tumble
from ebbtide.errors import BindError
from ebbtide.testing import answer, relation

S = relation("s", at="TIMESTAMP")


def windows(node: Tumble | Hop | Cumulate, at: int) -> Counter[tuple[int, int]]:
    rows = answer(node, {"s": f"at\n{at}"}).at(0)
    return Counter((start, end) for _, start, end in rows)


@pytest.mark.parametrize("at", range(-20, 20))
@pytest.mark.parametrize("offset", range(6))
def test_a_window_lies_on_the_moved_grid(at: int, offset: int) -> None:
    ((start, end),) = windows(Tumble(S, "at", 6, offset), at)
    assert start <= at < end == start + 6
    assert (start - offset) % 6 == 0


@pytest.mark.parametrize("at", range(-20, 20))
@pytest.mark.parametrize("offset", range(3))
def test_all_windows_of_the_moved_grid_that_hold_the_fact(at: int, offset: int) -> None:
    found = windows(Hop(S, "at", 3, 7, offset), at)
    starts = [s for s in range(-60, 60) if (s - offset) % 3 == 0 and s <= at < s + 7]
    assert found == Counter((s, s + 7) for s in starts)


@pytest.mark.parametrize("at", range(-20, 20))
@pytest.mark.parametrize("offset", range(6))
def test_growing_windows_begin_on_the_moved_grid(at: int, offset: int) -> None:
    found = windows(Cumulate(S, "at", 2, 6, offset), at)
    start = next(s for s in range(at, at - 6, -1) if (s - offset) % 6 == 0)
    assert found == Counter((start, e) for e in (start + 2, start + 4, start + 6) if e > at)


def test_an_offset_lies_within_the_grid() -> None:
    with pytest.raises(BindError) as caught:
        Tumble(S, "at", 6, 6)
    assert caught.value.code == "bad-window"
