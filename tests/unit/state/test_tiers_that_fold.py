"""Segments of rows that never end are merged whatever their size, where merging folds them."""

from ebbtide.core.time import INF
from ebbtide.state.segment import Segment
from ebbtide.state.tiers import FAN_IN, LARGE, merges


def segment(number: int, to_min: int) -> Segment:
    """A segment that is too large to be merged for its own sake."""
    return Segment(f"s{number}", 0, 1, LARGE, 0, 0, 9, to_min, INF, 0, 9)


def test_large_segments_of_rows_that_never_end_are_merged_only_if_that_folds_them() -> None:
    endless = [segment(i, INF) for i in range(FAN_IN)]
    assert merges(endless) == []
    assert merges(endless, folding=True) == [tuple(endless)]


def test_large_segments_of_rows_that_end_stay_as_they_are() -> None:
    assert merges([segment(i, 10) for i in range(FAN_IN)], folding=True) == []
