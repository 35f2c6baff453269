"""Product: every pair of a left and a right row."""

from ebbtide.algebra import Alias, Product
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", x="INT"), "l"), Alias(relation("r", x="INT"), "r")


def test_pairs_hold_while_both_rows_do() -> None:
    """
    left 1    |=========|
    right 7        |=========|   twice
    (1, 7)         |====|        twice
              0    5    10   15
    """
    got = answer(
        Product(L, R), {"l": "time | x\n[0, 10) | 1", "r": "time | diff | x\n[5, 15) | +2 | 7"}
    )
    assert got.around(0) == ([], [])
    assert got.around(5) == ([], [(1, 7), (1, 7)])
    assert got.around(10) == ([(1, 7), (1, 7)], [])


def test_multiplicities_multiply() -> None:
    got = answer(Product(L, R), {"l": "diff | x\n+2 | 1", "r": "diff | x\n+3 | NULL"})
    assert got.at(0) == [(1, None)] * 6
