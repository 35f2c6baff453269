"""Istream: the facts that a row came, and when."""

import pytest

from ebbtide.algebra import Istream, Kind, Range, Stream, Window, kind
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.errors import TemporalError
from ebbtide.testing import answer, relation

T = relation("t", x="INT")
DATA = "time | diff | x\n[0, 10) | +2 | 1\n[5, 15) | +1 | 1\n[10, 20) | +1 | 1"


def test_a_row_comes_as_often_as_it_is_there_more_than_before() -> None:
    """
    1     |=========|              twice
    1          |=========|
    1               |=========|
          2    3    2    1    0    times there
          +2   +1
    """
    got = answer(Istream(T), {"t": DATA})
    assert got.at(0) == [(1, 0), (1, 0), (1, 5)]
    assert kind(Istream(T)) is Kind.FACT


def test_what_comes_after_now_is_not_said_yet() -> None:
    assert answer(Istream(T), {"t": DATA}, now=4).at(0) == [(1, 0), (1, 0)]
    assert answer(Istream(T), {"t": DATA}, now=5).at(0) == [(1, 0), (1, 0), (1, 5)]


def test_what_was_always_there_never_came() -> None:
    assert answer(Istream(T), {"t": "x\n1"}).at(0) == []


def test_a_window_may_stand_on_it() -> None:
    got = answer(Window(Istream(T), Range(3), on="instant"), {"t": DATA})
    assert got.around(5) == ([], [(1, 5)])
    assert got.around(8) == ([(1, 5)], [])


def test_facts_need_a_window_first() -> None:
    bare = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))
    with pytest.raises(TemporalError, match="has no window"):
        kind(Istream(bare))
