"""Difference: the left rows without the right ones; multiplicities subtract, down to nothing."""

from ebbtide.algebra import Difference
from ebbtide.testing import answer, relation

L, R = relation("l", x="INT"), relation("r", x="INT")


def test_multiplicities_subtract_down_to_nothing() -> None:
    """
    left 1    |===================|   twice
    right 1        |=========|
    right 1             |=========|   twice
    out       2    1    0    0    0
              0    5    10   15   20
    """
    got = answer(
        Difference(L, R),
        {
            "l": "time | diff | x\n[0, 20) | +2 | 1",
            "r": "time | diff | x\n[5, 15) | +1 | 1\n[10, 20) | +2 | 1",
        },
    )
    assert got.around(0) == ([], [(1,), (1,)])
    assert got.around(5) == ([(1,), (1,)], [(1,)])
    assert got.around(10) == ([(1,)], [])
    assert got.around(15) == ([], [])
    assert got.around(20) == ([], [])


def test_what_expires_on_the_right_comes_back_on_the_left() -> None:
    got = answer(Difference(L, R), {"l": "time | x\n[0, 20) | 1", "r": "time | x\n[5, 9) | 1"})
    assert got.around(5) == ([(1,)], [])
    assert got.around(9) == ([], [(1,)])


def test_null_is_a_value_like_others() -> None:
    assert answer(Difference(L, R), {"l": "x\nNULL\n1", "r": "x\nNULL"}).at(0) == [(1,)]
