"""OuterJoin: the join, and the rows without a partner of the kept sides, padded with NULLs."""

import pytest

from ebbtide.algebra import Alias, Comparison, Outer, OuterJoin
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", x="INT"), "l"), Alias(relation("r", x="INT", y="INT"), "r")
EQUAL = Comparison("=", L.ref("l.x"), R.ref("r.x"))
INPUTS = {
    "l": "time | diff | x\n[0, 20) | +2 | 1",
    "r": "time | x | y\n[5, 10) | 1 | 7\n[0, 20) | 9 | 9",
}
ALONE, PAIR, RIGHT = (1, None, None), (1, 1, 7), (None, 9, 9)


@pytest.mark.parametrize("kept", list(Outer))
def test_a_row_is_padded_while_it_has_no_partner(kept: Outer) -> None:
    """
    left 1      |===================|   twice
    right 1, 7       |====|
    right 9, 9  |===================|
    1, NULL     |====|    |=========|   twice; LEFT and FULL
    1, 1, 7          |====|             twice
    NULL, 9, 9  |===================|   RIGHT and FULL
                0    5    10        20
    """
    got = answer(OuterJoin(L, R, EQUAL, kept), INPUTS)
    left = [] if kept is Outer.RIGHT else [ALONE, ALONE]
    right = [] if kept is Outer.LEFT else [RIGHT]
    assert got.around(0) == ([], [*right, *left])
    assert got.around(5) == ([*right, *left], [*right, PAIR, PAIR])
    assert got.around(10) == ([*right, PAIR, PAIR], [*right, *left])
    assert got.around(20) == ([*right, *left], [])


def test_null_has_no_partner_but_is_kept() -> None:
    got = answer(OuterJoin(L, R, EQUAL, Outer.FULL), {"l": "x\nNULL", "r": "x | y\nNULL | 7"})
    assert got.at(0) == [(None, None, None), (None, None, 7)]


def test_padded_columns_can_be_null() -> None:
    nullable = [column.nullable for column in OuterJoin(L, R, EQUAL, Outer.LEFT).schema]
    assert nullable == [True, True, True]
