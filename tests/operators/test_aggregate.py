"""Aggregate: a row per group, with the group's keys and aggregates."""

from ebbtide.algebra import Aggregate, AggregateCall, Comparison, Literal, Named, NamedCall
from ebbtide.core.time import NEG_INF
from ebbtide.core.types import INT
from ebbtide.testing import answer, relation

T = relation("t", k="STRING", x="INT")
COUNT = NamedCall("n", AggregateCall("COUNT"))
SUM = NamedCall("s", AggregateCall("SUM", (T.ref("x"),)))
DATA = """
    time    | diff | k    | x
    [0, 10) | +1   | 'a'  | 1
    [5, 15) | +1   | 'a'  | 2
    [5, 10) | +1   | NULL | 3
    [7, 10) | +1   | NULL | NULL
"""


def test_a_group_is_there_while_it_has_rows() -> None:
    """
    a      1      |=========|
    a      2           |=========|
    NULL   3           |====|
    NULL   NULL          |==|
           n, s   |1,1 |2,3 |1,2 |      group a
                       |1,3|2,3|        group NULL
                  0    5 7  10   15
    """
    got = answer(Aggregate(T, (Named("k", T.ref("k")),), (COUNT, SUM)), {"t": DATA})
    assert got.around(0) == ([], [("a", 1, 1)])
    assert got.around(5) == ([("a", 1, 1)], [(None, 1, 3), ("a", 2, 3)])
    assert got.around(7) == ([(None, 1, 3), ("a", 2, 3)], [(None, 2, 3), ("a", 2, 3)])
    assert got.around(10) == ([(None, 2, 3), ("a", 2, 3)], [("a", 1, 2)])
    assert got.around(15) == ([("a", 1, 2)], [])


def test_without_keys_there_is_always_one_row() -> None:
    got = answer(Aggregate(T, (), (COUNT, SUM)), {"t": DATA})
    assert got.at(NEG_INF) == [(0, None)]
    assert got.around(0) == ([(0, None)], [(1, 1)])
    assert got.around(15) == ([(1, 2)], [(0, None)])


def test_distinct_and_filter_of_a_call() -> None:
    big = Comparison(">", T.ref("x"), Literal(1, INT))
    calls = (
        NamedCall("values", AggregateCall("COUNT", (T.ref("k"),), distinct=True)),
        NamedCall("big", AggregateCall("COUNT", filter=big)),
    )
    got = answer(Aggregate(T, (), calls), {"t": DATA})
    assert got.around(5) == ([(1, 0)], [(1, 2)])


def test_keys_alone_are_the_distinct_keys() -> None:
    got = answer(Aggregate(T, (Named("k", T.ref("k")),), ()), {"t": DATA})
    assert got.around(5) == ([("a",)], [(None,), ("a",)])


def test_a_negative_change_is_taken_out_of_the_sum() -> None:
    got = answer(Aggregate(T, (), (SUM,)), {"t": DATA + "    [6, 15) | -1 | 'a' | 2"})
    assert got.around(6) == ([(6,)], [(4,)])
    assert got.around(10) == ([(4,)], [(None,)])
