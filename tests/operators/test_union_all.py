"""UnionAll: the rows of both; multiplicities add."""

import pytest

from ebbtide.algebra import UnionAll
from ebbtide.errors import BindError
from ebbtide.testing import answer, relation

L, R = relation("l", x="INT"), relation("r", y="INT")


def test_rows_of_both_count_together() -> None:
    """
    left 1    |=========|        twice
    right 1        |=========|
              2    3    1    0
    """
    got = answer(
        UnionAll(L, R), {"l": "time | diff | x\n[0, 10) | +2 | 1", "r": "time | y\n[5, 15) | 1"}
    )
    assert got.around(0) == ([], [(1,)] * 2)
    assert got.around(5) == ([(1,)] * 2, [(1,)] * 3)
    assert got.around(10) == ([(1,)] * 3, [(1,)])
    assert got.around(15) == ([(1,)], [])


def test_the_left_side_names_the_columns() -> None:
    assert UnionAll(L, R).schema.names == ("x",)


def test_both_sides_have_the_same_types() -> None:
    with pytest.raises(BindError, match="UNION ALL"):
        UnionAll(L, relation("t", x="STRING"))
    with pytest.raises(BindError, match="as many columns"):
        UnionAll(L, relation("t", x="INT", y="INT"))
