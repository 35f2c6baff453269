"""Asking a plan's answer about instants."""

import pytest

from ebbtide.algebra import Range, Stream, Window
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer, relation

BIDS = Stream(StreamDeclaration("bids", schema(auction="INT", at="TIMESTAMP")))
TABLE = """
    auction | at
    1       | 0
    1       | 0
    2       | 5
"""


def test_both_sides_of_a_tick() -> None:
    got = answer(Window(BIDS, Range(10), on="at"), {"bids": TABLE})
    assert got.ticks == [0, 5, 10, 15]
    assert (got.at(9), got.at(10)) == ([(1, 0), (1, 0), (2, 5)], [(2, 5)])
    assert got.around(10) == (got.at(9), got.at(10))
    assert (got.comes(5), got.goes(10)) == ([(2, 5)], [(1, 0), (1, 0)])


def test_the_whole_answer_as_a_table() -> None:
    got = answer(Window(BIDS, Range(10), on="at"), {"bids": TABLE})
    got.shows(str(got))
    assert str(got) == (
        "time    | diff | auction | at\n[0, 10) | +2   | 1       | 0\n[5, 15) | +1   | 2       | 5"
    )
    with pytest.raises(AssertionError, match="first differ at 5"):
        got.shows("time | diff | auction | at\n[0, 10) | +2 | 1 | 0")


def test_an_answer_up_to_now_shows_nothing_later() -> None:
    got = answer(Window(BIDS, Range(10), on="at"), {"bids": TABLE}, now=4)
    got.shows("time | diff | auction | at\n[0, 10) | +2 | 1 | 0")
    assert got.at(5) == []


def test_any_relation_can_be_a_source() -> None:
    prices = relation("prices", price="INT")
    got = answer(prices, {"prices": "time | price\n[0, 3) | 7"})
    assert (got.at(2), got.at(3)) == ([(7,)], [])


def test_another_evaluator_can_be_asked() -> None:
    prices = relation("prices", price="INT")
    assert answer(prices, {}, evaluator=lambda plan, inputs, now: ()).changes == ()
