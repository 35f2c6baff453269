"""Changes and relations: snapshots, consolidation, equivalence."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import (
    Change,
    consolidate,
    end_points,
    fact,
    facts,
    in_order,
    is_relation,
    minus,
    restrict,
    segments,
    snapshot,
    snapshot_equal,
    until,
)
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, NEG_INF

times = st.sampled_from([NEG_INF, *range(8), INF])


@st.composite
def changes(draw: st.DrawFn) -> Change:
    start, end = sorted(draw(st.sets(times, min_size=2, max_size=2)))
    return Change((draw(st.integers(0, 1)),), start, end, draw(st.integers(-2, 2)))


relations = st.lists(changes(), max_size=6)


def test_a_snapshot_holds_the_rows_that_do_not_net_out() -> None:
    relation = [Change((1,), 0, 10, 2), Change((2,), 5, 6), Change((1,), 3, 10, -2)]
    assert snapshot(relation, 2) == Counter({(1,): 2})
    assert snapshot(relation, 5) == Counter({(2,): 1})
    assert snapshot(relation, 6) == Counter()
    assert snapshot([Change((1,), 0, 1, -1)], 0) == {(1,): -1}


def test_a_fact_holds_at_every_instant() -> None:
    assert snapshot([fact((1,))], NEG_INF) == snapshot([fact((1,))], INF - 1) == {(1,): 1}
    assert facts([(1,), (1,)]) == (fact((1,)), fact((1,)))


def test_a_positive_and_its_negative_are_nothing() -> None:
    change = Change((1,), 0, 5, 2)
    assert -change == Change((1,), 0, 5, -2)
    assert consolidate([change, -change]) == ()


#        0     3     5     9
#   +1   ├───────────┤
#   +1         ├───────────┤           over [3, 5) the row occurs twice
def test_consolidation_has_net_multiplicities_over_maximal_intervals() -> None:
    assert consolidate([Change((1,), 0, 5), Change((1,), 3, 9)]) == (
        Change((1,), 0, 3),
        Change((1,), 3, 5, 2),
        Change((1,), 5, 9),
    )
    assert consolidate([Change((1,), 5, 9), Change((1,), 0, 5)]) == (Change((1,), 0, 9),)
    assert consolidate([Change((1,), 5, 5)]) == ()


# The five ways of the papers to say that row 1 is valid from 2 until 6.
@pytest.mark.parametrize(
    "said",
    [
        [Change((1,), 2, 6)],
        [Change((1,), 2, INF), Change((1,), 6, INF, -1)],
        [Change((1,), 2, 9), Change((1,), 6, 9, -1)],
        [Change((1,), 2, 6), Change((2,), 4, 8), Change((2,), 4, 8, -1)],
        [Change((1,), 2, 4), Change((1,), 4, 6)],
    ],
)
def test_the_papers_encodings_are_equivalent(said: list[Change]) -> None:
    assert snapshot_equal(said, [Change((1,), 2, 6)])


def test_a_revision_and_an_update_differ() -> None:
    issued = Change((75,), 0, 60)
    revised = [issued, -issued, Change((72,), 0, 60)]
    updated = [issued, Change((75,), 30, 60, -1), Change((72,), 30, 60)]
    assert not snapshot_equal(revised, updated)
    assert not snapshot_equal(revised, updated, now=0)
    assert snapshot_equal(issued_until_30 := [issued], updated, now=29)
    assert not snapshot_equal(issued_until_30, updated, now=30)


@given(relations)
def test_equal_snapshots_are_equal_consolidated(relation: list[Change]) -> None:
    canonical = consolidate(relation)
    assert consolidate(canonical) == canonical == in_order(canonical)
    for t in end_points(relation):
        assert snapshot(canonical, t) == snapshot(relation, t)
    assert all(change.diff for change in canonical)


@given(relations, relations)
def test_equivalence_is_equality_at_every_end_point(
    left: list[Change], right: list[Change]
) -> None:
    same = all(snapshot(left, t) == snapshot(right, t) for t in end_points(left, right))
    assert snapshot_equal(left, right) is same


@given(relations, relations)
def test_minus_leads_from_the_right_to_the_left(left: list[Change], right: list[Change]) -> None:
    assert snapshot_equal([*right, *minus(left, right)], left)


@given(relations, times)
def test_until_keeps_what_is_known_now(relation: list[Change], now: int) -> None:
    seen = until(relation, now)
    for t in end_points(relation):
        # Nothing is known at an instant before the first.
        inside = t <= now and now > NEG_INF
        assert snapshot(seen, t) == (snapshot(relation, t) if inside else Counter())


def test_restriction_cuts_changes_to_an_interval() -> None:
    relation = [Change((1,), 0, 10), Change((2,), 8, 12), Change((3,), 20, 30)]
    assert restrict(relation, Interval(5, 9)) == (Change((1,), 5, 9), Change((2,), 8, 9))


def test_end_points_cover_the_whole_line() -> None:
    points = end_points([Change((1,), 3, INF)], [Change((2,), 1, 5)])
    assert points == [NEG_INF, 1, 3, 5]
    assert list(segments(points)) == [
        Interval(NEG_INF, 1),
        Interval(1, 3),
        Interval(3, 5),
        Interval(5, INF),
    ]
    assert list(segments(end_points())) == [Interval(NEG_INF, INF)]


def test_a_relation_has_no_negative_multiplicity() -> None:
    assert is_relation([Change((1,), 0, 5), Change((1,), 2, 5, -1)])
    assert not is_relation([Change((1,), 0, 5), Change((1,), 2, 6, -1)])


def test_changes_are_ordered_by_from_to_and_row() -> None:
    ordered = [
        Change((None,), 0, 9),
        Change((1,), 0, 9, -1),
        Change((1,), 0, 9),
        Change((0,), 1, 2),
    ]
    assert in_order(reversed(ordered)) == tuple(ordered)
