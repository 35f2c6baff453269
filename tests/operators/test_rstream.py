"""Rstream: the facts that a row was there at a multiple of a period, and when."""

import pytest

from ebbtide.algebra import Rstream
from ebbtide.errors import InternalError
from ebbtide.testing import answer, relation

T = relation("t", x="INT")
DATA = "time | diff | x\n[3, 10) | +2 | 1\n[5, 11) | +1 | 2"


def test_the_snapshot_at_every_multiple() -> None:
    """Every 5.

    1     3|=============|10      twice
    2          |===========|11
    at    5    |     10  |
    """
    got = answer(Rstream(T, 5), {"t": DATA}, now=12)
    assert got.at(0) == [(1, 5), (1, 5), (2, 5), (2, 10)]


def test_it_goes_up_to_now() -> None:
    assert answer(Rstream(T, 5), {"t": DATA}, now=9).at(0) == [(1, 5), (1, 5), (2, 5)]
    assert len(answer(Rstream(T, 5), {"t": DATA}, now=10).at(0)) == 4


def test_it_begins_where_the_relation_first_changes() -> None:
    always = "time | x\n[-inf, 12) | 1"
    assert answer(Rstream(T, 5), {"t": always}, now=30).at(0) == []
    assert answer(Rstream(T, 5), {"t": always + "\n[7, 9) | 2"}, now=30).at(0) == [(1, 10)]


def test_without_an_end_there_is_no_answer() -> None:
    with pytest.raises(InternalError, match="give a now"):
        answer(Rstream(T, 5), {"t": DATA})
