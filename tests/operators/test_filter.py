"""Filter: the rows for which the predicate is TRUE."""

import pytest

from ebbtide.algebra import Comparison, Filter, Literal, Not
from ebbtide.core.types import INT
from ebbtide.errors import BindError
from ebbtide.testing import answer, relation

T = relation("t", x="INT")
OVER_2 = Comparison(">", T.ref("x"), Literal(2, INT))
DATA = """
    time    | diff | x
    [0, 10) | +2   | 3
    [0, 10) | +1   | 2
    [5, 15) | +1   | 4
    [0, 10) | +1   | NULL
"""


def test_a_filter_keeps_rows_with_their_time_and_number() -> None:
    """
    3 twice  |=========|
    4             |=========|
             0    5    10   15
    """
    got = answer(Filter(T, OVER_2), {"t": DATA})
    assert got.around(0) == ([], [(3,), (3,)])
    assert got.around(5) == ([(3,), (3,)], [(3,), (3,), (4,)])
    assert got.around(10) == ([(3,), (3,), (4,)], [(4,)])
    assert got.around(15) == ([(4,)], [])


def test_unknown_is_neither_kept_nor_kept_by_the_opposite() -> None:
    assert (None,) not in answer(Filter(T, OVER_2), {"t": DATA}).at(0)
    assert answer(Filter(T, Not(OVER_2)), {"t": DATA}).at(0) == [(2,)]


def test_a_negative_change_takes_back_what_was_kept() -> None:
    got = answer(Filter(T, OVER_2), {"t": DATA + "    [3, 10) | -1 | 3"})
    assert got.around(3) == ([(3,), (3,)], [(3,)])


def test_a_condition_is_a_truth_value() -> None:
    with pytest.raises(BindError, match="a condition is BOOLEAN"):
        Filter(T, T.ref("x"))
