"""Rows that wait until they begin are kept, whatever stands above them.

A group of such rows was said to keep an accumulator for each key, and kept every row.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import TemporalError

SCRIPT = """
CREATE TABLE t (k BIGINT);
CREATE STREAM s (k BIGINT, opens TIMESTAMP, closes TIMESTAMP, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
CREATE VIEW soon AS SELECT * FROM s WHERE opens <= at + INTERVAL 1 DAY;
"""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local", shards=1)
    engine.execute(SCRIPT)
    return engine


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM s [VALID FROM opens TO closes]",
        "SELECT * FROM s WHERE NOW() BETWEEN opens AND closes",
        "SELECT k, COUNT(*) AS n FROM s [VALID FROM opens TO closes] GROUP BY k",
        "SELECT k, COUNT(*) AS n FROM s WHERE NOW() BETWEEN opens AND closes GROUP BY k",
        "SELECT DISTINCT k FROM s [VALID FROM opens TO closes]",
        "SELECT s.k FROM s [VALID FROM opens TO closes] JOIN t ON t.k = s.k",
        "SELECT k FROM s [VALID FROM opens TO closes] EXCEPT SELECT k FROM t",
    ],
)
def test_they_are_unbounded(engine: Engine, query: str) -> None:
    with pytest.raises(TemporalError, match="unbounded-state") as refused:
        engine.query(query)
    assert "may wait until they begin" in refused.value.message
    engine.query(f"{query} ALLOW UNBOUNDED STATE")
    engine.query(query.replace("FROM s", "FROM soon").replace("s.k", "soon.k"))


def test_they_are_all_kept(engine: Engine) -> None:
    query = "SELECT k, COUNT(*) AS n FROM s [VALID FROM opens TO closes] GROUP BY k"
    run = engine.query(f"{query} ALLOW UNBOUNDED STATE", name="q").start()
    later = [NOON + timedelta(days=10, seconds=i) for i in range(50)]
    engine.feed("s", [(1, opens, opens + timedelta(days=9), NOON) for opens in later])
    engine.step()
    (record,) = run.metrics()
    assert sum(operator.rows_stored for operator in record.operators.values()) >= 50


def test_rows_that_begin_when_they_come_are_not(engine: Engine) -> None:
    engine.query("SELECT k, COUNT(*) AS n FROM s [VALID FROM at TO closes] GROUP BY k")
    engine.query("SELECT k, COUNT(*) AS n FROM s WHERE NOW() <= closes GROUP BY k")
