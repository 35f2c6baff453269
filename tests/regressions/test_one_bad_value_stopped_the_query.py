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
