"""AntiJoin: the left rows for which no right row makes the predicate TRUE."""

from ebbtide.algebra import Alias, AntiJoin, Comparison
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", x="INT"), "l"), Alias(relation("r", x="INT"), "r")
EQUAL = Comparison("=", L.ref("l.x"), R.ref("r.x"))


def test_a_row_is_there_while_it_has_no_partner() -> None:
    """
    left 1    |===================|   twice
    right 1        |====|
    out 1     |====|    |=========|   twice
              0    5    10        20
    """
    got = answer(
        AntiJoin(L, R, EQUAL),
        {"l": "time | diff | x\n[0, 20) | +2 | 1", "r": "time | x\n[5, 10) | 1"},
    )
    assert got.around(0) == ([], [(1,), (1,)])
    assert got.around(5) == ([(1,), (1,)], [])
    assert got.around(10) == ([], [(1,), (1,)])
    assert got.around(20) == ([(1,), (1,)], [])


def test_null_stays_because_it_has_no_partner() -> None:
    got = answer(AntiJoin(L, R, EQUAL), {"l": "x\nNULL\n1", "r": "x\nNULL\n1"})
    assert got.at(0) == [(None,)]


def test_a_partner_that_never_was_gives_the_row_back() -> None:
    inputs = {"l": "time | x\n[0, 20) | 1", "r": "time | diff | x\n[5, 9) | +1 | 1"}
    revised = {**inputs, "r": inputs["r"] + "\n[5, 9) | -1 | 1"}
    assert answer(AntiJoin(L, R, EQUAL), inputs).at(5) == []
    assert answer(AntiJoin(L, R, EQUAL), revised).at(5) == [(1,)]
