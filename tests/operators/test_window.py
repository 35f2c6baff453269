"""Window: the facts that the window shows at the instant."""

import pytest

from ebbtide.algebra import (
    Fixed,
    Now,
    Range,
    Rows,
    Sessions,
    Stream,
    Unbounded,
    Window,
    WindowSpec,
    kind,
)
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import INF
from ebbtide.errors import BindError, TemporalError
from ebbtide.testing import answer, relation

S = Stream(StreamDeclaration("s", schema(k="INT", at="TIMESTAMP")))


def shown(spec: WindowSpec, facts: str, key: tuple[str, ...] = ()) -> dict[tuple, tuple]:
    """Each fact's interval."""
    got = answer(Window(S, spec, on="at", key=key), {"s": facts})
    return {change.row: (change.valid_from, change.valid_to) for change in got.changes}


@pytest.mark.parametrize(
    ("spec", "end"),
    [(Range(10), 13), (Fixed(5), 5), (Fixed(4), 4), (Now(), 4), (Unbounded(), INF)],
)
def test_a_fact_at_3(spec: WindowSpec, end: int) -> None:
    """
    RANGE 10    3|=========================|13
    FIXED 5     3|====|5
    FIXED 4     3|=|4
    NOW         3|=|4
    UNBOUNDED   3|=====================================...
    """
    got = answer(Window(S, spec, on="at"), {"s": "k | at\n1 | 3"})
    assert got.around(3) == ([], [(1, 3)])
    if end < INF:
        assert got.around(end) == ([(1, 3)], [])
    else:
        assert got.ticks == [3]


def test_a_sliding_window_is_seen_on_its_grid() -> None:
    """RANGE 10 SLIDE 4: at 4, 8 and 12 the last ten units hold the fact of 3, at 16 no more.

    3 |--- ten units ---|13
       4|===================|16
    """
    assert shown(Range(10, 4), "k | at\n1 | 3") == {(1, 3): (4, 16)}
    assert shown(Range(1, 4), "k | at\n1 | 3\n2 | 4") == {(2, 4): (4, 8)}


def test_rows_are_counted_in_the_order_of_time_key_and_columns() -> None:
    """ROWS 2: a fact goes when a second one has followed it.

    k, at   1,0   2,5   3,5   4,9
    1,0     |=====|                   2,5 and 3,5 follow at 5
    2,5           |=====|
    3,5           |==========...
    """
    facts = "k | at\n4 | 9\n2 | 5\n3 | 5\n1 | 0"
    assert shown(Rows(2), facts) == {
        (1, 0): (0, 5),
        (2, 5): (5, 9),
        (3, 5): (5, INF),
        (4, 9): (9, INF),
    }
    assert shown(Rows(1), facts, key=("k",)) == {(1, 0): (0, 5), (3, 5): (5, 9), (4, 9): (9, INF)}


def test_rows_of_each_partition() -> None:
    facts = "k | at\n1 | 0\n2 | 1\n1 | 2"
    assert shown(Rows(1, None, ("k",)), facts) == {
        (1, 0): (0, 2),
        (2, 1): (1, INF),
        (1, 2): (2, INF),
    }


def test_rows_that_slide_are_seen_at_every_other_row() -> None:
    facts = "k | at\n1 | 0\n2 | 1\n3 | 2"
    assert shown(Rows(2, 2), facts) == {(1, 0): (1, INF), (2, 1): (1, INF)}


def test_a_fact_without_a_time_is_in_no_window() -> None:
    assert shown(Unbounded(), "k | at\n1 | NULL") == {}
    assert shown(Rows(5), "k | at\n1 | NULL") == {}


def test_a_deleted_fact_is_in_no_window() -> None:
    facts = "diff | k | at\n+1 | 1 | 0\n+1 | 2 | 5\n-1 | 2 | 5"
    assert shown(Rows(1), facts) == {(1, 0): (0, INF)}


def test_a_window_stands_on_a_time_and_on_facts() -> None:
    with pytest.raises(BindError, match="stands on a TIMESTAMP"):
        Window(S, Range(5), on="k")
    with pytest.raises(BindError, match="greater than zero"):
        Range(0)
    with pytest.raises(TemporalError, match="changes with time already"):
        kind(Window(relation("t", at="TIMESTAMP"), Range(5), on="at"))


def test_a_session_window_shows_the_rows_of_the_session_that_is_open() -> None:
    """SESSION 4: each row stays until nothing has come for 4.

    1   3      6
    a   b      c          d
    |=====...=====|10
        |=========|10
               |==|10
                         |====|16
    """
    facts = "k | at\n1 | 1\n2 | 3\n3 | 6\n4 | 12"
    ends = {row[0]: interval for row, interval in shown(Sessions(4), facts).items()}
    assert ends == {1: (1, 10), 2: (3, 10), 3: (6, 10), 4: (12, 16)}


def test_sessions_that_touch_are_one_and_partitions_have_their_own() -> None:
    facts = "k | at\n1 | 0\n1 | 4\n2 | 1\n1 | 9"
    together = {row: end for row, (_, end) in shown(Sessions(4), facts).items()}
    assert together == {(1, 0): 8, (2, 1): 8, (1, 4): 8, (1, 9): 13}
    apart = {row: end for row, (_, end) in shown(Sessions(4, ("k",)), facts).items()}
    assert apart == {(1, 0): 8, (2, 1): 5, (1, 4): 8, (1, 9): 13}


def test_a_session_needs_a_gap() -> None:
    with pytest.raises(BindError, match="SESSION must be greater than zero"):
        Sessions(0)
