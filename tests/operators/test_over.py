"""Over: every row, and for each call the value over the row's frame in its partition."""

import pytest

from ebbtide.algebra import (
    AggregateCall,
    Frame,
    FrameCall,
    FrameUnit,
    Literal,
    Over,
    SortKey,
)
from ebbtide.core.types import INT
from ebbtide.errors import BindError
from ebbtide.testing import answer, relation

T = relation("t", k="STRING", x="INT")
BY_X = (SortKey(T.ref("x")),)
SUM = AggregateCall("SUM", (T.ref("x"),))
DATA = "k | x\n'a' | 1\n'a' | 2\n'a' | 2\n'a' | 5\n'b' | 7"


def column(call: AggregateCall, frame: Frame | None = None, order=BY_X) -> list[tuple]:
    """(x, value) of partition a, in the order of x."""
    plan = Over(T, (FrameCall("v", call),), (T.ref("k"),), order, frame)
    return [(x, value) for k, x, value in answer(plan, {"t": DATA}).at(0) if k == "a"]


def test_frames_of_rows_and_of_values() -> None:
    rows = Frame(FrameUnit.ROWS, -1, 0)
    values = Frame(FrameUnit.RANGE, -1, 0)
    ahead = Frame(FrameUnit.ROWS, 1, None)
    assert column(SUM, rows) == [(1, 1), (2, 3), (2, 4), (5, 7)]
    assert column(SUM, values) == [(1, 1), (2, 5), (2, 5), (5, 5)]
    assert column(SUM, ahead) == [(1, 9), (2, 5), (2, 7), (5, None)]


def test_without_a_frame() -> None:
    assert column(SUM) == [(1, 1), (2, 5), (2, 5), (5, 10)]
    assert column(SUM, order=()) == [(1, 10), (2, 10), (2, 10), (5, 10)]


def test_numbers_and_neighbours() -> None:
    assert column(AggregateCall("ROW_NUMBER")) == [(1, 1), (2, 2), (2, 3), (5, 4)]
    assert column(AggregateCall("RANK")) == [(1, 1), (2, 2), (2, 2), (5, 4)]
    assert column(AggregateCall("DENSE_RANK")) == [(1, 1), (2, 2), (2, 2), (5, 3)]
    lag = AggregateCall("LAG", (T.ref("x"),))
    lead = AggregateCall("LEAD", (T.ref("x"), Literal(2, INT), Literal(0, INT)))
    assert column(lag) == [(1, None), (2, 1), (2, 2), (5, 2)]
    assert column(lead) == [(1, 2), (2, 0), (2, 5), (5, 0)]


def test_frames_follow_the_snapshot() -> None:
    """
    1     |==============|
    2          |====|
    sum 1 |1   |3   |1   |
    sum 2      |3   |
          0    5    10   15
    """
    plan = Over(T, (FrameCall("v", SUM),))
    got = answer(plan, {"t": "time | k | x\n[0, 15) | 'a' | 1\n[5, 10) | 'a' | 2"})
    assert got.around(5) == ([("a", 1, 1)], [("a", 1, 3), ("a", 2, 3)])
    assert got.around(10) == ([("a", 1, 3), ("a", 2, 3)], [("a", 1, 1)])
    assert got.around(15) == ([("a", 1, 1)], [])


def test_a_range_of_amounts_needs_one_column_to_measure_on() -> None:
    with pytest.raises(BindError, match="exactly one ORDER BY column"):
        Over(T, (FrameCall("v", SUM),), (), (), Frame(FrameUnit.RANGE, -1, 0))
