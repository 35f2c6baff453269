"""Intersection: the rows that are in both, the lesser multiplicity counts; or once, unless all."""

from ebbtide.algebra import Intersection
from ebbtide.testing import answer, relation

L, R = relation("l", x="INT"), relation("r", x="INT")
INPUTS = {
    "l": "time | diff | x\n[0, 15) | +3 | 1",
    "r": "time | diff | x\n[5, 20) | +1 | 1\n[10, 20) | +1 | 1",
}


def test_the_lesser_multiplicity_counts() -> None:
    """
    left 1    |==============|        three times
    right 1        |==============|
    right 1             |=========|
    all       0    1    2    0
    once      0    1    1    0
              0    5    10   15   20
    """
    got = answer(Intersection(L, R), INPUTS)
    assert got.around(5) == ([], [(1,)])
    assert got.around(10) == ([(1,)], [(1,), (1,)])
    assert got.around(15) == ([(1,), (1,)], [])


def test_once_unless_all() -> None:
    got = answer(Intersection(L, R, all=False), INPUTS)
    assert got.around(5) == ([], [(1,)])
    assert got.around(10) == ([(1,)], [(1,)])
    assert got.around(15) == ([(1,)], [])


def test_null_is_a_value_like_others() -> None:
    assert answer(Intersection(L, R), {"l": "x\nNULL\n1", "r": "x\nNULL"}).at(0) == [(None,)]
