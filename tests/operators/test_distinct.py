"""Distinct: every row once."""

from ebbtide.algebra import Distinct
from ebbtide.testing import answer, relation

T = relation("t", x="DOUBLE")


def test_a_row_is_there_as_long_as_some_copy_is() -> None:
    """
    1.0         |=========|
    1.0              |=========|
    distinct    |==============|
                0    5    10   15
    """
    got = answer(Distinct(T), {"t": "time | x\n[0, 10) | 1.0\n[5, 15) | 1.0"})
    assert got.ticks == [0, 15]
    assert got.around(0) == ([], [(1.0,)])
    assert got.around(15) == ([(1.0,)], [])


def test_nulls_are_one_and_so_are_nans_and_zeros() -> None:
    got = answer(Distinct(T), {"t": "x\nNULL\nNULL\nnan\nnan\n0.0\n-0.0"})
    assert len(got.at(0)) == 3


def test_a_copy_that_is_taken_back_leaves_the_other() -> None:
    data = "time | diff | x\n[0, 10) | +2 | 1.0\n[4, 10) | -1 | 1.0\n[7, 10) | -1 | 1.0"
    got = answer(Distinct(T), {"t": data})
    assert got.around(4) == ([(1.0,)], [(1.0,)])
    assert got.around(7) == ([(1.0,)], [])
