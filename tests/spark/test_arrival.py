"""Columns of arrival on Spark: files, a DataFrame and rows that are fed, and a repeated step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.files import as_json, put

from ebbtide.core.time import instant
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.testing import Clock

SECOND, MINUTE = 1_000_000, 60_000_000
NOON = instant("2026-01-01 12:00:00")
ALL = "SELECT a, at, came FROM s"

pytestmark = pytest.mark.jvm


def rows(query: Query) -> dict[Any, int]:
    """When each row came, in microseconds after noon."""
    found = query.snapshot().selectExpr("a", "unix_micros(came) AS came").collect()
    return {row.a: row.came - NOON for row in found}


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ("a BIGINT, at TIMESTAMP NOT NULL, came TIMESTAMP ARRIVAL", ""),
        ("came TIMESTAMP ARRIVAL, a BIGINT, at TIMESTAMP NOT NULL", "OPTIONS (multiLine 'false')"),
    ],
)
def test_files(spark: SparkSession, tmp_path: Path, columns: str, options: str) -> None:
    """Read by tasks, and by Spark itself; a field of the same name is not read."""
    clock = Clock(NOON)
    engine = Engine(tmp_path / "state", spark=spark, shards=2, clock=clock)
    (tmp_path / "in").mkdir()
    engine.execute(
        f"CREATE STREAM s ({columns}, PROGRESS FOR at AS at - INTERVAL 1 HOUR)"
        f" FROM FILES '{tmp_path}/in' FORMAT json {options}"
    )
    query = engine.query(ALL, "all")
    run = query.start()
    put(tmp_path / "in", 0, as_json(["a", "came", "at"], [(1, 5, NOON), (2, 5, NOON)]))
    run.process_all_available()
    clock.set(NOON + 70)
    put(tmp_path / "in", 1, as_json(["a", "at"], [(3, NOON)]))
    run.process_all_available()
    assert rows(query) == {1: 0, 2: 0, 3: 70}
    run.stop()


def test_a_data_frame_and_fed_rows(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine = Engine(tmp_path / "state", spark=spark, shards=2, clock=clock)
    (tmp_path / "in").mkdir()
    frame = spark.readStream.schema("a BIGINT, at TIMESTAMP").json(str(tmp_path / "in"))
    engine.stream("s", frame, time="at", lateness="1 hour", arrival="came")
    engine.execute("CREATE STREAM r (a BIGINT, came TIMESTAMP ARRIVAL);")
    query = engine.query("SELECT a, came FROM s UNION ALL SELECT a, came FROM r", "both")
    run = query.start()
    put(tmp_path / "in", 0, as_json(["a", "at"], [(1, NOON)]))
    engine.feed("r", [(2,)])
    run.process_all_available()
    assert rows(query) == {1: 0, 2: 0}
    clock.set(NOON + 30)
    engine.feed("r", [(3,)])
    run.process_all_available()
    assert rows(query) == {1: 0, 2: 0, 3: 30}
    run.stop()


def test_an_alarm_leaves_while_nothing_happens(spark: SparkSession, tmp_path: Path) -> None:
    """A heartbeat makes the steps in which the clock alone moves on."""
    clock = Clock(NOON)
    engine = Engine(tmp_path / "state", spark=spark, shards=2, clock=clock)
    for name in ("fires", "reports"):
        (tmp_path / name).mkdir()
    engine.execute(f"""
        CREATE STREAM fires (area STRING, at TIMESTAMP NOT NULL,
          PROGRESS FOR at AS at) FROM FILES '{tmp_path}/fires' FORMAT json IDLE AFTER 30 SECONDS;
        CREATE STREAM reports (area STRING, came TIMESTAMP ARRIVAL)
          FROM FILES '{tmp_path}/reports' FORMAT json;
    """)
    query = engine.query(
        "SELECT area, at FROM fires AS f WHERE NOT EXISTS (SELECT 1 FROM reports AS r"
        " WHERE r.area = f.area AND r.came BETWEEN f.at AND f.at + INTERVAL 2 MINUTES) EMIT FINAL",
        "alarms",
    )
    run = query.start()
    put(tmp_path / "fires", 0, as_json(["area", "at"], [("a", NOON), ("b", NOON)]))
    run.process_all_available()
    clock.set(NOON + MINUTE)
    put(tmp_path / "reports", 0, b'{"area": "a"}\n')
    run.process_all_available()
    assert query.snapshot().collect() == []
    clock.set(NOON + 2 * MINUTE + 1)
    run.process_all_available()
    assert [row.area for row in query.snapshot().collect()] == ["b"]
    run.stop()
