"""A value that failed in a subquery, an own aggregate or beside NOW() stopped the query."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.failing_queries import own_aggregates

from ebbtide import Engine

WINDOW = "[RANGE 10 SECONDS]"
QUERIES = {
    f"SELECT a.k, (SELECT SUM(6 DIV b.v) FROM s {WINDOW} AS b WHERE b.k = a.k) AS x FROM s {WINDOW}"
    " AS a": {"aggregate: division-by-zero", "map: failed-subquery"},
    f"SELECT a.k, (SELECT b.v FROM r {WINDOW} AS b WHERE b.k = a.k) AS x FROM s {WINDOW} AS a": {
        "map: more-than-one-row"
    },
    f"SELECT k, INVERSES(v) AS x FROM s {WINDOW} GROUP BY k": {"aggregate: failed-aggregate"},
    f"SELECT k, INVERSES(v) OVER (PARTITION BY k) AS x FROM s {WINDOW}": {"over: failed-aggregate"},
    f"SELECT k, CASE WHEN at <= NOW() THEN 6 DIV v END AS x FROM s {WINDOW}": {
        "map: division-by-zero"
    },
    f"SELECT k, SUM(6 DIV v) FILTER (WHERE at <= NOW()) AS x FROM s {WINDOW} GROUP BY k": {
        "aggregate: division-by-zero"
    },
    f"SELECT k, SUM(3) FILTER (WHERE at <= NOW() - INTERVAL 1 SECOND * (0 DIV v)) AS x FROM s"
    f" {WINDOW} GROUP BY k": {"aggregate: division-by-zero"},
}


@pytest.mark.parametrize("text", QUERIES)
def test_it_goes_on_without_what_fails(text: str, tmp_path: Path) -> None:
    with own_aggregates():
        engine = Engine(tmp_path, transport="local")
        for name in ("s", "r"):
            engine.execute(
                f"CREATE STREAM {name} (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"
            )
        query = engine.query(text, name="q")
        query.start()
        rows = [(1, 2, "2026-01-01 00:00:00"), (2, 0, "2026-01-01 00:00:01")]
        engine.feed("s", rows)
        engine.feed("r", [(1, 3, "2026-01-01 00:00:00"), *2 * [(2, 3, "2026-01-01 00:00:01")]])
        engine.step()
        assert query.snapshot().to_pylist() == [{"k": 1, "x": 3}]
        told = {(row["operator"], row["error"].split(":")[0]) for row in query.errors().to_pylist()}
        assert {f"{operator}: {code}" for operator, code in told} == QUERIES[text]
        engine.feed("s", [(2, 3, "2026-01-01 00:01:00")])
        engine.step()
        assert [row["k"] for row in query.snapshot().to_pylist()] == [2]
        assert query.errors().num_rows == 0


def test_a_time_that_fails_beside_now_leaves_out_the_group_and_not_the_row(tmp_path: Path) -> None:
    """It left out the row, and the group was counted without it."""
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query(
        f"""SELECT k, COUNT(*) AS n,
              COUNT(*) FILTER (WHERE at <= NOW() - INTERVAL 1 SECOND * (0 DIV v)) AS old
            FROM s {WINDOW} GROUP BY k""",
        name="q",
    )
    query.start()
    start = "2026-01-01 00:00:00"
    engine.feed("s", [(1, 2, start), (1, 0, start), (2, 3, start)])
    engine.step()
    assert query.snapshot().to_pylist() == [{"k": 2, "n": 1, "old": 1}]
    (error,) = query.errors().to_pylist()
    assert (error["operator"], error["expression"]) == ("aggregate", "0 DIV phased.v")


def test_a_condition_inside_of_a_recursion_leaves_out_its_row(tmp_path: Path) -> None:
    """EXISTS and outer joins there failed the step."""
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE STREAM stops (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE STREAM r (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        INSERT INTO r SELECT k, v, at FROM s;
        INSERT INTO r SELECT k, v, at + INTERVAL 1 MINUTE FROM r WHERE NOT EXISTS
          (SELECT 1 FROM stops WHERE stops.k = r.k AND stops.at <= r.at
             AND stops.at > r.at - INTERVAL 1 MINUTE AND 6 DIV stops.v > r.v);
    """)
    query = engine.query("SELECT k, at FROM r", name="q")
    query.start()
    engine.feed("s", [(1, 2, "2026-01-01 00:00:00"), (2, 2, "2026-01-01 00:00:00")])
    engine.feed("stops", [(2, 0, "2026-01-01 00:00:30")])
    for source in ("s", "stops"):
        engine.advance(source, "2026-01-01 00:02:30")
    engine.step()
    found = sorted((row["k"], row["at"].minute) for row in query.snapshot().to_pylist())
    assert found == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
    (error,) = query.errors().to_pylist()
    assert (error["operator"], error["error"].split(":")[0]) == ("antijoin", "division-by-zero")
