"""Join: every pair of a left and a right row for which the predicate is TRUE."""

from ebbtide.algebra import Alias, Comparison, Join
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", x="INT"), "l"), Alias(relation("r", x="INT"), "r")
EQUAL = Comparison("=", L.ref("l.x"), R.ref("r.x"))
LESS = Comparison("<", L.ref("l.x"), R.ref("r.x"))


def test_partners_meet_where_their_times_do() -> None:
    """
    left 1    |=========|
    right 1        |=========|
    right 2   |==============|
    (1, 1)         |====|
              0    5    10   15
    """
    inputs = {"l": "time | x\n[0, 10) | 1", "r": "time | x\n[5, 15) | 1\n[0, 15) | 2"}
    got = answer(Join(L, R, EQUAL), inputs)
    assert got.around(5) == ([], [(1, 1)])
    assert got.around(10) == ([(1, 1)], [])
    theta = answer(Join(L, R, LESS), inputs)
    assert theta.around(0) == ([], [(1, 2)])
    assert theta.around(10) == ([(1, 2)], [])


def test_intervals_that_touch_do_not_meet() -> None:
    inputs = {"l": "time | x\n[0, 5) | 1", "r": "time | x\n[5, 9) | 1"}
    assert answer(Join(L, R, EQUAL), inputs).changes == ()


def test_null_joins_nothing() -> None:
    assert answer(Join(L, R, EQUAL), {"l": "x\nNULL", "r": "x\nNULL"}).changes == ()


def test_a_partner_that_ends_early_takes_the_pair_along() -> None:
    inputs = {"l": "x\n1", "r": "time | diff | x\n[0, 9) | +1 | 1\n[4, 9) | -1 | 1"}
    got = answer(Join(L, R, EQUAL), inputs)
    assert got.around(4) == ([(1, 1)], [])
    assert got.ticks == [0, 4]
