"""A rollback took back what views had said, and not what they had left out, nor its lineage."""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine
from ebbtide.engine.query import Query
from ebbtide.engine.rollback import rollback

SECOND = 1_000_000
SQL = "SELECT k, 12 / v AS d FROM s [RANGE 1 HOUR]"


def started(location: Path) -> Query:
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (k STRING, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query(SQL, name="q", lineage=True)
    query.start(keep_versions=9)
    return query


def step(query: Query, key: str, value: int, second: int) -> None:
    query.engine.feed("s", [(key, value, second * SECOND)])
    query.engine.step()


def test_errors_and_lineage_go_back(tmp_path: Path) -> None:
    query = started(tmp_path)
    step(query, "a", 1, 1)
    step(query, "b", 0, 2)
    step(query, "c", 3, 3)
    assert query.errors().num_rows == 1
    query.engine.stop()
    done = rollback(str(tmp_path), "q", 0, leave_unused=True)
    assert done.taken_back == {"q": 1}
    query = started(tmp_path)
    step(query, "d", 6, 4)
    for second in (2, 3, 4):
        at = second * SECOND
        assert query.errors(at).num_rows == 0
        keys = ["a", "d"] if second == 4 else ["a"]
        assert [row["k"] for row in query.snapshot(at, strict=True).to_pylist()] == keys
        assert [row["k"] for row in query.lineage(at).to_pylist()] == keys
    query.engine.stop()
