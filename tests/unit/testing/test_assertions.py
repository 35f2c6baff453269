"""Failures show the first instant at which relations differ, and the rows on both sides."""

import pytest

from ebbtide.core.change import Change
from ebbtide.core.schema import schema
from ebbtide.testing import assert_snapshot, assert_snapshot_equal

NAMES = schema(name="STRING", count="INT")


def test_equal_snapshots_are_equal_however_they_are_cut() -> None:
    whole = [Change(("a", 1), 0, 10)]
    cut = [Change(("a", 1), 0, 4), Change(("a", 1), 4, 12), Change(("a", 1), 10, 12, -1)]
    assert_snapshot_equal(whole, cut)


def test_the_first_difference_is_shown_with_the_rows_of_both_sides() -> None:
    expected = [Change(("a", 1), 0, 10), Change(("b", 2), 0, 10)]
    actual = [*expected, Change(("a", 1), 5, 8), Change(("b", 2), 5, 8, -1)]
    with pytest.raises(AssertionError) as caught:
        assert_snapshot_equal(actual, expected, schema=NAMES)
    assert str(caught.value) == (
        "the relations first differ at 5, until 8:\n"
        "\n"
        "  | name | count | expected | actual\n"
        "> | 'a'  | 1     | 1        | 2\n"
        "> | 'b'  | 2     | 1        | 0"
    )


def test_what_comes_after_now_does_not_count() -> None:
    early, late = [Change(("a", 1), 0, 10)], [Change(("a", 1), 0, 11)]
    assert_snapshot_equal(early, late, now=9)
    with pytest.raises(AssertionError, match="first differ at 10"):
        assert_snapshot_equal(early, late, now=10)


def test_a_row_that_differs_for_ever() -> None:
    with pytest.raises(AssertionError, match="first differ at -inf:"):
        assert_snapshot_equal([Change(("a", 1), -(2**63), 2**63 - 1)], [])


def test_one_snapshot() -> None:
    changes = [Change(("a", 1), 0, 10, 2)]
    assert_snapshot(changes, 9, [("a", 1), ("a", 1)])
    assert_snapshot(changes, 10, [])
    with pytest.raises(AssertionError, match="the snapshot at 10 is another"):
        assert_snapshot(changes, 10, [("a", 1)])
