"""AsofJoin: each left row with the first of the right rows that make the predicate TRUE."""

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.algebra import Alias, And, Comparison, SortKey
from ebbtide.algebra.combination import AsofJoin
from ebbtide.errors import BindError, ParseError, TemporalError
from ebbtide.testing import answer, relation

L, R = Alias(relation("l", k="INT", t="INT"), "l"), Alias(relation("r", k="INT", t="INT"), "r")
SAME = Comparison("=", L.ref("l.k"), R.ref("r.k"))
STREAMS = """
CREATE STREAM trades (sym STRING, px BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 9 SECONDS) RETAIN 1 HOUR;
CREATE STREAM quotes (sym STRING, bid BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 9 SECONDS) RETAIN 1 HOUR;
"""
SECOND = 1_000_000


def asof(op: str, pads: bool = False) -> AsofJoin:
    """The nearest row on the right by a comparison of the times."""
    near = Comparison(op, L.ref("l.t"), R.ref("r.t"))
    order = (SortKey(R.ref("r.t"), descending=op in (">", ">=")),)
    return AsofJoin(L, R, And(near, SAME), order, pads)


@pytest.mark.parametrize(
    ("op", "partner"), [(">=", 5), (">", 4), ("<=", 5), ("<", 8)], ids=lambda value: str(value)
)
def test_the_nearest_row_on_a_side_of_the_time(op: str, partner: int) -> None:
    inputs = {"l": "k | t\n1 | 5", "r": "k | t\n1 | 2\n1 | 4\n1 | 5\n1 | 8\n1 | 9\n2 | 5"}
    assert answer(asof(op), inputs).at(0) == [(1, 5, 1, partner)]


def test_the_nearest_row_is_one_that_is_there() -> None:
    """
    left 1, 9     |===================|   twice
    right 1, 3    |=========|
    right 1, 4        |===|
    with 3        |===|   |=|
    with 4            |===|
    padded                  |=========|
                  0   2   4 5         10
    """
    inputs = {
        "l": "time | diff | k | t\n[0, 10) | +2 | 1 | 9",
        "r": "time | k | t\n[0, 5) | 1 | 3\n[2, 4) | 1 | 4",
    }
    with_3, with_4, alone = (1, 9, 1, 3), (1, 9, 1, 4), (1, 9, None, None)
    got = answer(asof(">=", pads=True), inputs)
    assert got.around(0) == ([], [with_3] * 2)
    assert got.around(2) == ([with_3] * 2, [with_4] * 2)
    assert got.around(4) == ([with_4] * 2, [with_3] * 2)
    assert got.around(5) == ([with_3] * 2, [alone] * 2)
    assert got.around(10) == ([alone] * 2, [])
    assert answer(asof(">="), inputs).around(5) == ([with_3] * 2, [])


def test_of_rows_equally_near_the_first_counts_and_copies_are_one() -> None:
    other = Alias(relation("r", k="INT", t="INT", v="INT"), "r")
    near = Comparison(">=", L.ref("l.t"), other.ref("r.t"))
    node = AsofJoin(L, other, near, (SortKey(other.ref("r.t"), descending=True),))
    inputs = {
        "l": "k | t\n1 | 5",
        "r": "time | diff | k | t | v\n[0, 9) | +1 | 7 | 5 | 2\n[0, 9) | +3 | 7 | 5 | 1",
    }
    assert answer(node, inputs).at(0) == [(1, 5, 7, 5, 1)]


def test_null_is_near_to_nothing() -> None:
    inputs = {"l": "k | t\n1 | NULL\nNULL | 5", "r": "k | t\n1 | 2\n1 | NULL\nNULL | 3"}
    assert answer(asof(">="), inputs).at(0) == []
    padded = answer(asof(">=", pads=True), inputs).at(0)
    assert padded == [(None, 5, None, None), (1, None, None, None)]


def test_a_nearer_row_that_comes_late_takes_the_place_of_another(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAMS)
    query = engine.query(
        "SELECT t.px, q.bid FROM trades AS t ASOF JOIN quotes AS q MATCH_CONDITION (t.at >= q.at) "
        "ON t.sym = q.sym AND t.at <= q.at + INTERVAL 1 MINUTE",
        "late",
    )
    query.start()
    engine.feed("quotes", [("a", 10, 1 * SECOND), ("a", 20, 5 * SECOND), ("b", 7, 3 * SECOND)])
    engine.feed("trades", [("a", 1, 4 * SECOND), ("a", 2, 5 * SECOND), ("b", 3, 2 * SECOND)])
    engine.step()
    assert sorted(tuple(row.values())[:2] for row in query.snapshot().to_pylist()) == [
        (1, 10),
        (2, 20),
    ]
    engine.feed("quotes", [("a", 15, 4 * SECOND)])
    engine.step()
    changed = [row for row in query.changes().to_pylist() if row["step"] == 1]
    assert sorted((row["px"], row["bid"], row["diff"]) for row in changed) == [
        (1, 10, -1),
        (1, 15, 1),
    ]
    engine.stop()


@pytest.mark.parametrize(
    ("join", "error", "code"),
    [
        ("ASOF JOIN quotes AS q ON t.sym = q.sym", BindError, "missing-match"),
        ("ASOF JOIN quotes AS q ON t.at >= t.at", BindError, "missing-match"),
        ("ASOF JOIN quotes AS q", ParseError, "missing-condition"),
        ("RIGHT ASOF JOIN quotes AS q ON t.at >= q.at", ParseError, "syntax"),
        ("ASOF FULL JOIN quotes AS q ON t.at >= q.at", ParseError, "syntax"),
        ("ASOF JOIN quotes AS q MATCH_CONDITION (t.at > q.at) USING (sym)", ParseError, "syntax"),
        ("ASOF JOIN quotes AS q ON t.at >= q.at", TemporalError, "unbounded-state"),
    ],
)
def test_what_is_refused(tmp_path: Path, join: str, error: type[Exception], code: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAMS)
    with pytest.raises(error) as caught:
        engine.query(f"SELECT t.px, q.bid FROM trades AS t {join}", "refused").start()
    assert caught.value.code == code  # type: ignore[attr-defined]


@pytest.mark.parametrize("op", [">=", ">", "<=", "<"])
def test_the_hint_bounds_what_is_kept(tmp_path: Path, op: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAMS)
    sql = f"SELECT t.px, q.bid FROM trades AS t ASOF JOIN quotes AS q ON t.at {op} q.at"
    with pytest.raises(TemporalError) as caught:
        engine.query(sql, "refused").start()
    hint = caught.value.hint or ""
    engine.query(f"{sql} {hint.removeprefix('add ')}", "bounded").start()
    near, far = ("q.at", "t.at") if ">" in op else ("t.at", "q.at")
    assert hint == f"add AND {far} BETWEEN {near} AND {near} + INTERVAL 1 HOUR"
    engine.stop()


@pytest.mark.parametrize(
    "join",
    [
        "ASOF LEFT JOIN quotes [RANGE 1 HOUR] AS q MATCH_CONDITION (t.at >= q.at) ON t.sym = q.sym",
        "LEFT ASOF JOIN quotes [RANGE 1 HOUR] AS q ON t.at >= q.at AND t.sym = q.sym",
        "LEFT ASOF JOIN quotes [RANGE 1 HOUR] AS q ON q.at <= t.at AND t.sym = q.sym",
    ],
)
def test_every_spelling_is_the_same_join(tmp_path: Path, join: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAMS)
    query = engine.query(f"SELECT t.px, q.bid FROM trades [RANGE 1 HOUR] AS t {join}", "spelled")
    query.start()
    engine.feed("quotes", [("a", 10, 1 * SECOND), ("a", 20, 5 * SECOND)])
    engine.feed("trades", [("a", 1, 4 * SECOND), ("b", 2, 5 * SECOND), ("a", 3, 5 * SECOND)])
    engine.step()
    found = [(row["px"], row["bid"]) for row in query.snapshot().to_pylist()]
    assert sorted(found, key=str) == [(1, 10), (2, None), (3, 20)]
    engine.stop()
