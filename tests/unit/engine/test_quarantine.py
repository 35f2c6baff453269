"""Rows on which expressions fail: what is left out, what is said of it, and who asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import EvaluationError, ParseError, QueryError

ROWS = [
    (1, 8, 2, "1", "2026-01-01 00:00:01"),
    (1, 5, 0, "x", "2026-01-01 00:00:02"),
    (2, 2**62, 3, "2", "2026-01-01 00:00:03"),
    (2, 2**62, 1, None, "2026-01-01 00:00:04"),
]
ZERO = "division-by-zero: division by zero"
BEYOND = "overflow: the result is out of the range of BIGINT"
SEVERAL = "more-than-one-row: a subquery used as a value has more than one row"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return declared(tmp_path)


def declared(location: Path) -> Engine:
    engine = Engine(location, transport="local")
    engine.execute("""
        CREATE STREAM s (k BIGINT, v BIGINT, w BIGINT, t STRING, at TIMESTAMP,
          PROGRESS FOR at AS at)
    """)
    return engine


def run(engine: Engine, text: str) -> Query:
    """A query that has taken the rows in, one to a step."""
    query = engine.query(text, name="q")
    query.start()
    for row in ROWS:
        engine.feed("s", [row])
        engine.step()
    return query


def answer(query: Query) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in query.snapshot().to_pylist()), key=str)


def errors(query: Query) -> list[tuple[Any, ...]]:
    found = query.errors().to_pylist()
    return sorted((row["operator"], row["expression"], row["error"]) for row in found)


@pytest.mark.parametrize(
    ("text", "rows", "left_out"),
    [
        (
            "SELECT k, v DIV w AS x FROM s [RANGE 1 HOUR] WHERE v < 10",
            [(1, 4)],
            [("map", "s.v DIV s.w", ZERO)],
        ),
        (
            "SELECT t FROM s [RANGE 1 HOUR] WHERE k = 1 AND v DIV w > 1",
            [("1",)],
            [("filter", "s.v DIV s.w", ZERO)],
        ),
        # A term that does not let the row pass decides, whatever stands in front of it.
        ("SELECT t FROM s [RANGE 1 HOUR] WHERE 1 DIV w = 5 AND t = '3'", [], []),
        ("SELECT k FROM s [RANGE 1 HOUR] WHERE v < 10 OR 1 DIV w = 5", [(1,), (1,)], []),
        (
            "SELECT CASE WHEN w <> 0 THEN v DIV w ELSE -1 END AS x FROM s [RANGE 1 HOUR] "
            "WHERE k = 1",
            [(-1,), (4,)],
            [],
        ),
        (
            "SELECT k, SUM(v DIV w) AS x FROM s [RANGE 1 HOUR] GROUP BY k",
            [(2, 2**62 // 3 + 2**62)],
            [("aggregate", "s.v DIV s.w", ZERO)],
        ),
        (
            "SELECT k, SUM(v) AS x FROM s [RANGE 1 HOUR] GROUP BY k",
            [(1, 13)],
            [("aggregate", "SUM(s.v)", "overflow: SUM does not fit into BIGINT")],
        ),
        (
            "SELECT SUM(v) AS x, COUNT(*) AS n FROM s [RANGE 1 HOUR]",
            [],
            [("aggregate", "SUM(s.v)", "overflow: SUM does not fit into BIGINT")],
        ),
        (
            "SELECT k, COUNT(*) FILTER (WHERE 1 DIV w > 0) AS n FROM s [RANGE 1 HOUR] GROUP BY k",
            [(2, 1)],
            [("aggregate", "1 DIV s.w", ZERO)],
        ),
        (
            "SELECT k DIV w AS g, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k DIV w",
            [(0, 2), (2, 1)],
            [("aggregate", "s.k DIV s.w", ZERO)],
        ),
        (
            "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k HAVING 2 DIV (k - 1) = 2",
            [(2, 2)],
            [("filter", "2 DIV (k - 1L)", ZERO)],
        ),
        (
            "SELECT a.t, b.k FROM s [RANGE 1 HOUR] a JOIN s [RANGE 1 HOUR] b "
            "ON CAST(a.t AS BIGINT) = b.k WHERE b.v < 6",
            [("1", 1)],
            [("join", "CAST(a.t AS BIGINT)", "bad-cast: 'x' is not a BIGINT")],
        ),
        (
            "SELECT a.t, b.t AS bt FROM s [RANGE 1 HOUR] a JOIN s [RANGE 1 HOUR] b "
            "ON a.k = b.k AND a.v * b.w > 10",
            [("1", "1"), ("2", None), (None, None)],
            [("join", "a.v * b.w", BEYOND)] * 2,
        ),
        (
            "SELECT t, ROW_NUMBER() OVER (ORDER BY 8 DIV w) AS n FROM s [RANGE 1 HOUR]",
            [("2", 1), ("1", 2), (None, 3)],
            [("over", "8 DIV s.w", ZERO)],
        ),
        (
            "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY at ROWS BETWEEN 1 PRECEDING AND "
            "CURRENT ROW) AS x FROM s [RANGE 1 HOUR]",
            [(1, 8), (1, 13), (2, 2**62)],
            [("over", "SUM(s.v)", "overflow: SUM does not fit into BIGINT")],
        ),
        # The nearest pair that is TRUE or fails decides.
        (
            "SELECT a.t, b.t AS u FROM s [RANGE 1 HOUR] AS a ASOF JOIN s [RANGE 1 HOUR] AS b "
            "ON a.k = b.k AND a.at >= b.at AND b.v DIV b.w > 0",
            [("1", "1"), ("2", "2"), (None, None)],
            [("asofjoin", "b.v DIV b.w", ZERO)],
        ),
        # Without a partner nothing is asked.
        (
            "SELECT a.t, b.t AS u FROM s [RANGE 1 HOUR] AS a LEFT ASOF JOIN s [RANGE 1 HOUR] AS b "
            "ON a.k = b.k AND a.at > b.at AND a.w DIV (a.v - 8) = 0",
            [("1", None), ("x", "1"), ("2", None), (None, "2")],
            [],
        ),
        (
            "SELECT t, (SELECT k FROM s [RANGE 1 HOUR]) AS x FROM s [RANGE 1 HOUR]",
            [],
            [("aggregate", "SINGLE(s_2.k)", SEVERAL)],
        ),
        # With NOW() in a condition it fails at the instants at which it is asked.
        (
            "SELECT t FROM s [RANGE 1 HOUR] WHERE v DIV w > 0 OR at > NOW() - INTERVAL 1 SECOND",
            [("1",), ("2",), (None,)],
            [("filter", "s.v DIV s.w", ZERO)],
        ),
        (
            "SELECT t FROM s [RANGE 1 HOUR] WHERE v DIV w > 0 AND at > NOW() - INTERVAL 1 SECOND",
            [(None,)],
            [],
        ),
        (
            "SELECT t FROM s [RANGE 1 HOUR] "
            "WHERE v < 10 AND at > NOW() - INTERVAL 1 SECOND * (v DIV w)",
            [("1",)],
            [("filter", "s.v DIV s.w", ZERO)],
        ),
    ],
)
def test_what_is_left_out(engine: Engine, text: str, rows: list[Any], left_out: list[Any]) -> None:
    query = run(engine, text)
    assert answer(query) == sorted(rows, key=str)
    assert errors(query) == left_out


def test_a_share_of_nothing_is_no_end_of_the_query(engine: Engine) -> None:
    text = "SELECT COUNT(*) FILTER (WHERE w > 1) * 100 DIV COUNT(*) AS x FROM s [RANGE 10 SECONDS]"
    query = engine.query(text, name="q")
    query.start()
    engine.step()
    assert answer(query) == []
    assert [error for *_, error in errors(query)] == [ZERO]
    engine.feed("s", ROWS[:1])
    engine.step()
    assert (answer(query), errors(query)) == ([(100,)], [])
    engine.advance("s", "2026-01-01 00:01:00")
    engine.step()
    assert answer(query) == []
    assert [error for *_, error in errors(query)] == [ZERO]
    assert query.errors(at="2026-01-01 00:00:05").num_rows == 0


def test_an_error_ends_with_its_row_and_the_group_is_there_again(engine: Engine) -> None:
    query = run(engine, "SELECT k, MAX(v DIV w) AS x FROM s [RANGE 10 SECONDS] GROUP BY k")
    assert answer(query) == [(2, 2**62)]
    (found,) = query.errors().to_pylist()
    assert found["row"] == '{"k":1,"v":5,"w":0,"t":"x","at":"2026-01-01T00:00:02.000Z"}'
    assert [str(found[end]) for end in ("valid_from", "valid_to")] == [
        "2026-01-01 00:00:02+00:00",
        "2026-01-01 00:00:12+00:00",
    ]
    engine.feed("s", [(1, 9, 3, "y", "2026-01-01 00:00:12")])
    engine.step()
    assert (answer(query), errors(query)) == ([(1, 3), (2, 2**62)], [])


def test_a_restart_goes_on_with_what_was_left_out(tmp_path: Path) -> None:
    query = run(declared(tmp_path), "SELECT v DIV w AS x FROM s [RANGE 10 SECONDS] WHERE k = 1")
    query.engine.stop()
    engine = declared(tmp_path)
    again = engine.query(query.text, name="q")
    started = again.start()
    assert len(errors(again)) == started.status.errors["q"] == 1
    engine.advance("s", "2026-01-01 00:01:00")
    engine.step()
    assert errors(again) == []
    assert started.status.errors == {"q": 0}


def test_it_is_counted(engine: Engine) -> None:
    query = run(engine, "SELECT v DIV w AS x FROM s [RANGE 1 HOUR]")
    started = engine._runs["q"]
    assert started.status.errors == {"q": 1}
    assert str(started.status).endswith(", 1 error")
    assert [metrics.errors["q"] for metrics in started.metrics()] == [0, 1, 0, 0]
    assert query.analysis is not None


def test_what_cannot_fail_leaves_nothing_out_and_costs_nothing(engine: Engine) -> None:
    query = run(engine, "SELECT k, MAX(v) AS x FROM s [RANGE 1 HOUR] GROUP BY k")
    started = engine._runs["q"]
    assert [output.name for output in started.program.lowered.physical.outputs] == ["q"]
    assert errors(query) == []
    assert started.status.errors == {}


def test_an_answer_may_be_asked_for_only_if_it_is_whole(engine: Engine) -> None:
    query = run(engine, "SELECT v DIV w AS x FROM s [RANGE 10 SECONDS]")
    for read in (query.snapshot, query.to_pandas):
        with pytest.raises(QueryError) as caught:
            read(strict=True)
        assert caught.value.code == "rows-left-out"
        assert ZERO in str(caught.value.detail)
    assert query.snapshot(at="2026-01-01 00:00:01", strict=True).num_rows == 1


def test_a_step_may_fail_instead(engine: Engine) -> None:
    text = "SELECT v DIV w AS x FROM s [RANGE 1 HOUR]"
    for number, query in enumerate(
        [
            engine.query(f"{text} ON ERROR FAIL", name="sql"),
            engine.query(f"{text};", name="python", on_error="fail"),
        ]
    ):
        assert query.sql.endswith(" ON ERROR FAIL")
        query.start()
        engine.feed("s", [] if number else ROWS)
        with pytest.raises(EvaluationError, match="division by zero"):
            engine._runs[query.name].step()
        assert query.left_out.snapshot() == []


@pytest.mark.parametrize("text", ["ON ERROR", "ON ERROR DROP", "ON ERROR FAIL ON ERROR FAIL"])
def test_half_a_clause_is_refused(engine: Engine, text: str) -> None:
    with pytest.raises(ParseError):
        engine.query(f"SELECT k FROM s {text}")


def test_an_unknown_word_is_refused(engine: Engine) -> None:
    with pytest.raises(QueryError) as caught:
        engine.query("SELECT k FROM s", on_error="ignore")
    assert caught.value.code == "unknown-option"


def test_the_clause_stands_behind_the_whole_query(engine: Engine) -> None:
    with pytest.raises(ParseError, match="misplaced-emit"):
        engine.query("SELECT k FROM (SELECT k FROM s ON ERROR FAIL)")
    joined = engine.query(
        "SELECT a.k FROM s [NOW] a CROSS JOIN s [NOW] b ON ERROR FAIL", name="crossed"
    )
    assert joined.sql.endswith("ON ERROR FAIL")
