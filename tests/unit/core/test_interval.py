"""Intervals: paper 4's overlaps, intersect and its inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.interval import ALWAYS, Interval, interval_or_none
from ebbtide.core.time import INF, NEG_INF


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    start, end = sorted(draw(st.sets(st.integers(0, 10), min_size=2, max_size=2)))
    return Interval(start, end)


def test_an_interval_is_half_open_and_not_empty() -> None:
    assert [t in Interval(3, 5) for t in (2, 3, 4, 5)] == [False, True, True, False]
    for end in (3, 2):
        with pytest.raises(ValueError, match="empty interval"):
            Interval(3, end)
    assert interval_or_none(3, 3) is None
    assert interval_or_none(3, 4) == Interval(3, 4)


def test_intervals_are_ordered_by_from_then_to() -> None:
    assert sorted([Interval(1, 9), Interval(0, 10), Interval(1, 2)]) == [
        Interval(0, 10),
        Interval(1, 2),
        Interval(1, 9),
    ]


def test_always_is_the_whole_line() -> None:
    assert Interval(NEG_INF, INF) == ALWAYS
    assert str(ALWAYS) == "[-inf, inf)"


# The cases of paper 4, section 4.3.2, and the one in which we differ from it: of disjoint intervals
# the inverse is the first one, from which nothing was taken.
#
#       3       5       7       9
#       ├───────────────────────┤       [3, 9)
@pytest.mark.parametrize(
    ("other", "both", "rest"),
    [
        (Interval(3, 9), Interval(3, 9), ()),
        (Interval(2, 10), Interval(3, 9), ()),
        (Interval(2, 5), Interval(3, 5), (Interval(5, 9),)),
        (Interval(3, 5), Interval(3, 5), (Interval(5, 9),)),
        (Interval(7, 10), Interval(7, 9), (Interval(3, 7),)),
        (Interval(7, 9), Interval(7, 9), (Interval(3, 7),)),
        (Interval(5, 7), Interval(5, 7), (Interval(3, 5), Interval(7, 9))),
        (Interval(0, 3), None, (Interval(3, 9),)),
        (Interval(9, 12), None, (Interval(3, 9),)),
    ],
)
def test_intersect_and_its_inverse(
    other: Interval, both: Interval | None, rest: tuple[Interval, ...]
) -> None:
    assert Interval(3, 9).intersect(other) == both
    assert Interval(3, 9).overlaps(other) is (both is not None)
    assert Interval(3, 9).without(other) == rest


@given(intervals(), intervals(), st.integers(-1, 11))
def test_an_instant_lies_in_the_intersection_or_in_the_rest(
    one: Interval, other: Interval, t: int
) -> None:
    both, rest = one.intersect(other), one.without(other)
    assert (both is not None and t in both) == (t in one and t in other)
    assert [t in part for part in rest].count(True) == (t in one and t not in other)
    assert one.intersect(other) == other.intersect(one)


def test_the_difference_on_intervals_goes_step_by_step() -> None:
    """The shape of paper 4's figure 4: three elements are taken, one by one, from an incoming one,
    each only where it still overlaps; both sides keep what is left of them.

                 -1 0     2  3           7        10    12
        incoming    ├─────────────────────────────┤
        first     ├───────┤
        second            ├──┤
        third                            ├──────────────┤
        what is left         ├───────────┤
    """
    incoming = [Interval(0, 10)]
    left_of_others = []
    for other in (Interval(-1, 2), Interval(2, 3), Interval(7, 12)):
        hit = next(part for part in incoming if part.overlaps(other))
        incoming.remove(hit)
        incoming += hit.without(other)
        left_of_others += other.without(hit)
    assert incoming == [Interval(3, 7)]
    assert left_of_others == [Interval(-1, 0), Interval(10, 12)]
