"""The end of what files bring: what waits to be final is final, and rows after it are late."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.files import as_json, put

from ebbtide import Engine
from ebbtide.errors import StateError
from ebbtide.testing import Clock

SECOND = 1_000_000
STREAM = """
CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)
  FROM FILES '{path}' FORMAT json;
CREATE VIEW counts AS SELECT window_end, COUNT(*) AS n FROM TUMBLE(s, at, 10 SECONDS)
GROUP BY window_end EMIT FINAL;
"""


def made(spark: SparkSession, path: Path, clock: Clock | None = None) -> Engine:
    engine = Engine(path / "state", spark=spark, shards=2, clock=clock or Clock(15 * SECOND))
    (path / "s").mkdir(exist_ok=True)
    engine.execute(STREAM.format(path=path / "s"))
    engine.query("SELECT * FROM counts", name="counts")
    return engine


def counts(engine: Engine) -> list[int]:
    rows = engine.definitions.query("counts").snapshot().collect()
    return [row.n for row in sorted(rows, key=lambda row: row.window_end)]


def test_what_waits_is_final_and_later_rows_are_late(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    query = engine.definitions.query("counts")
    put(tmp_path / "s", 0, as_json(["a", "at"], [(1, 3 * SECOND), (2, 12 * SECOND)]))
    run = query.start(trigger={"availableNow": True})
    run.await_termination()
    assert counts(engine) == [1]
    manifest = run.finish(at=20 * SECOND)
    assert not run.active
    assert manifest.version == 1
    assert counts(engine) == [1, 1]
    # It goes on after that: Spark knows the step as a batch that read nothing.
    put(tmp_path / "s", 1, as_json(["a", "at"], [(3, 15 * SECOND), (4, 22 * SECOND)]))
    again = made(spark, tmp_path)
    run = again.definitions.query("counts").start()
    run.process_all_available()
    assert counts(again) == [1, 1]
    assert [row.reason for row in again.late("s").collect()] == ["late"]
    run.finish()
    assert counts(again) == [1, 1, 1]
    assert run.status.version == 3
    # There is nothing beyond the end, and no row is lost without a word.
    put(tmp_path / "s", 2, as_json(["a", "at"], [(5, 99 * SECOND)]))
    last = made(spark, tmp_path)
    run = last.definitions.query("counts").start(trigger={"availableNow": True})
    run.await_termination()
    assert counts(last) == [1, 1, 1]
    assert len(last.late("s").collect()) == 2


def test_nothing_can_be_finished_before_it_began(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    run = engine.definitions.query("counts").start(trigger={"availableNow": True})
    with pytest.raises(StateError, match="nothing-came"):
        run.finish()
    assert not run.active


def test_a_source_may_become_one_that_is_idle(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock(15 * SECOND)
    engine = made(spark, tmp_path, clock)
    put(tmp_path / "s", 0, as_json(["a", "at"], [(1, 3 * SECOND), (2, 12 * SECOND)]))
    run = engine.definitions.query("counts").start(trigger={"availableNow": True})
    run.await_termination()
    other = Engine(tmp_path / "state", spark=spark, shards=2, clock=clock)
    declared = STREAM.format(path=tmp_path / "s")
    other.execute(declared.replace("FORMAT json", "FORMAT json IDLE AFTER 20 SECONDS"))
    query = other.query("SELECT * FROM counts", name="counts")
    with pytest.raises(StateError, match="query-differs"):
        query.start()
    assert other.evolve(query).sources == ("s",)
    run = query.start()
    put(tmp_path / "s", 1, as_json(["a", "at"], [(3, 13 * SECOND)]))
    run.process_all_available()
    assert counts(other) == [1]
    clock.set(60 * SECOND)
    run.process_all_available()
    assert counts(other) == [1, 2]
    run.stop()
