"""SemiJoin: the left rows for which some right row makes the predicate TRUE."""

from ebbtide.algebra import Alias, Comparison, SemiJoin
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", x="INT"), "l"), Alias(relation("r", x="INT"), "r")
EQUAL = Comparison("=", L.ref("l.x"), R.ref("r.x"))


def test_a_row_is_there_while_it_has_a_partner_and_no_more_often() -> None:
    """
    left 1    |===================|   twice
    right 1        |====|
    right 1          |=======|
    out 1          |=========|        twice, whatever the number of partners
              0    5 7  10   15   20
    """
    inputs = {
        "l": "time | diff | x\n[0, 20) | +2 | 1",
        "r": "time | x\n[5, 10) | 1\n[7, 15) | 1",
    }
    got = answer(SemiJoin(L, R, EQUAL), inputs)
    assert got.ticks == [5, 15]
    assert got.around(5) == ([], [(1,), (1,)])
    assert got.around(15) == ([(1,), (1,)], [])


def test_null_has_no_partner() -> None:
    assert answer(SemiJoin(L, R, EQUAL), {"l": "x\nNULL", "r": "x\nNULL"}).changes == ()
