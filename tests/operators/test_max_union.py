"""MaxUnion: the rows of both; the greater multiplicity counts."""

from ebbtide.algebra import MaxUnion
from ebbtide.testing import answer, relation

L, R = relation("l", x="INT"), relation("r", x="INT")


def test_the_greater_multiplicity_counts() -> None:
    """
    left 1    |=========|        twice
    right 1        |=========|   three times
              2    3    3    0
    """
    got = answer(
        MaxUnion(L, R),
        {"l": "time | diff | x\n[0, 10) | +2 | 1", "r": "time | diff | x\n[5, 15) | +3 | 1"},
    )
    assert got.around(0) == ([], [(1,)] * 2)
    assert got.around(5) == ([(1,)] * 2, [(1,)] * 3)
    assert got.around(10) == ([(1,)] * 3, [(1,)] * 3)
    assert got.around(15) == ([(1,)] * 3, [])


def test_null_is_a_value_like_others() -> None:
    assert answer(MaxUnion(L, R), {"l": "x\nNULL", "r": "x\nNULL"}).at(0) == [(None,)]
