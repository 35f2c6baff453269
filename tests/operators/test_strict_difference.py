"""StrictDifference: every left row that is no right row, once."""

from ebbtide.algebra import StrictDifference
from ebbtide.testing import answer, relation

L, R = relation("l", x="INT"), relation("r", x="INT")


def test_one_on_the_right_is_enough_and_what_is_left_is_there_once() -> None:
    """
    left 1    |===================|   three times
    right 1        |====|
    out       1    0    1         0
              0    5    10        20
    """
    got = answer(
        StrictDifference(L, R),
        {"l": "time | diff | x\n[0, 20) | +3 | 1", "r": "time | x\n[5, 10) | 1"},
    )
    assert got.around(0) == ([], [(1,)])
    assert got.around(5) == ([(1,)], [])
    assert got.around(10) == ([], [(1,)])
    assert got.around(20) == ([(1,)], [])


def test_null_is_a_value_like_others() -> None:
    assert answer(StrictDifference(L, R), {"l": "x\nNULL\n1", "r": "x\nNULL"}).at(0) == [(1,)]
