"""Dstream: the facts that a row went, and when."""

from ebbtide.algebra import Dstream
from ebbtide.testing import answer, relation

T = relation("t", x="INT")
DATA = "time | diff | x\n[0, 10) | +2 | 1\n[5, 15) | +1 | 1"


def test_a_row_goes_as_often_as_it_is_there_less_than_before() -> None:
    """
    1     |=========|         twice
    1          |=========|
          2    3    1    0    times there
                    -2   -1
    """
    got = answer(Dstream(T), {"t": DATA})
    assert got.at(0) == [(1, 10), (1, 10), (1, 15)]


def test_what_goes_after_now_is_not_said_yet() -> None:
    assert answer(Dstream(T), {"t": DATA}, now=9).at(0) == []
    assert answer(Dstream(T), {"t": DATA}, now=10).at(0) == [(1, 10), (1, 10)]


def test_a_revision_takes_the_fact_back() -> None:
    longer = DATA + "\n[15, 18) | +1 | 1"
    assert answer(Dstream(T), {"t": longer}).at(0) == [(1, 10), (1, 10), (1, 18)]
