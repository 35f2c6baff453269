"""Large parcels lie beside Spark's exchange while a step runs, and nowhere afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ebbtide import EbbtideError, Engine
from ebbtide.spark import shelf
from ebbtide.spark.private import local_directory
from ebbtide.spark.shelf import Shelf

SQL = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k"


@pytest.mark.parametrize("least", [0, 1 << 40])
def test_a_shelf_is_there_for_a_step(
    spark: SparkSession, tmp_path: Path, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "LEAST", least)
    seen = _look_after_the_entry(monkeypatch)
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query(SQL, name="q")
    run = engine.start(query, name="p")
    for step in range(2):
        rows = [{"k": i % 3, "at": f"2026-01-01 00:0{step}:00"} for i in range(300)]
        engine.feed("s", rows)
        engine.step()
    answer = sorted((row["k"], row["n"]) for row in query.snapshot().collect())
    run.stop()
    assert answer == [(0, 200), (1, 200), (2, 200)]
    assert len(seen) == 2
    assert all(bool(files) == (least == 0) for files in seen)
    assert _shelves(spark) == []


def test_where_tasks_run_elsewhere_there_is_none() -> None:
    class Elsewhere:
        def __init__(self, master: str) -> None:
            self.sparkContext = type("Context", (), {"master": master})

    for master in ("local-cluster[2,1,1024]", "spark://host:7077", "yarn", "k8s://https://host"):
        assert Shelf.of_step(Elsewhere(master)) is None  # type: ignore[arg-type]


def _look_after_the_entry(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What lies on shelves before the kernels of each step run."""
    from ebbtide.spark.transport import SparkEntered

    seen: list[list[str]] = []
    ran = SparkEntered.run

    def run(self, tasks):  # type: ignore[no-untyped-def]
        seen.append(os.listdir(self.shelf.directory))
        return ran(self, tasks)

    monkeypatch.setattr(SparkEntered, "run", run)
    return seen


def _shelves(spark: SparkSession) -> list[str]:
    return [name for name in os.listdir(local_directory(spark)) if name.startswith("ebbtide-")]


def test_a_step_that_fails_leaves_none(spark: SparkSession, tmp_path: Path) -> None:
    before = _shelves(spark)
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT 1 DIV k AS d FROM s [RANGE 1 MINUTE] ON ERROR FAIL", name="q")
    run = engine.start(query, name="p")
    engine.feed("s", [{"k": 0, "at": "2026-01-01 00:00:00"}])
    with pytest.raises(EbbtideError):
        engine.step()
    assert run.failure is not None
    assert _shelves(spark) == before
    run.stop()
