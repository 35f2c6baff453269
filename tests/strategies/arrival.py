"""Strategies for how input arrives: out of order within a bound, and cut into steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from hypothesis import strategies as st

from ebbtide.core.time import Duration, Instant

T = TypeVar("T")


def disordered(
    items: Sequence[T], time: Callable[[T], Instant], delay_us: Duration
) -> st.SearchStrategy[list[T]]:
    """The items in an order of arrival: none comes after one that is more than the delay newer.

    Each item arrives up to ``delay_us`` after its time; items without a difference keep theirs.
    """
    lags = st.lists(st.integers(0, delay_us), min_size=len(items), max_size=len(items))
    return lags.map(
        lambda drawn: [
            items[i] for i in sorted(range(len(items)), key=lambda i: time(items[i]) + drawn[i])
        ]
    )


def cuts(items: Sequence[T], max_steps: int = 6) -> st.SearchStrategy[list[list[T]]]:
    """The items, in their order, cut into steps; a step may be empty."""
    places = st.lists(st.integers(0, len(items)), max_size=max_steps - 1).map(sorted)

    def cut(at: list[int]) -> list[list[T]]:
        bounds = [0, *at, len(items)]
        return [list(items[a:b]) for a, b in pairwise(bounds)]

    return places.map(cut)
