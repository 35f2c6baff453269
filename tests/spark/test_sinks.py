"""Sinks: every step's output once, also when a crash came between the step and its sinks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ebbtide.engine.engine import Engine
from ebbtide.errors import QueryError, SourceError, StateError
from ebbtide.sinks import Files, Memory, Sqlite

SCRIPT = """
CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS;
"""
QUERY = "SELECT a, COUNT(*) AS n FROM s [RANGE 5 SECONDS] GROUP BY a"


def engine_at(spark: SparkSession, path: Path) -> Engine:
    engine = Engine(path / "state", spark=spark, shards=2)
    engine.execute(SCRIPT)
    return engine


def plain(rows: list[Any]) -> list[tuple[Any, ...]]:
    return sorted((r.a, r.n, str(r.valid_from), str(r.valid_to), r.diff, r.step) for r in rows)


def test_every_sink_gets_every_step(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = engine_at(spark, tmp_path)
    query = engine.query(QUERY, "sinks_all")
    memory, calls = Memory(), []

    def foreach(frame: DataFrame, step: int) -> None:
        calls.append((step, plain(frame.collect())))

    files = [Files(f"{tmp_path}/{name}", name) for name in ("parquet", "json")]
    database = Sqlite(f"{tmp_path}/out.db")
    query.start(sink=[memory, *files, foreach, database, "console", "noop"])
    for step in range(2):
        engine.feed("s", [(step, 1_000_000 * step), (7, 2_000_000 * step)])
        engine.step()
    expected = plain(query.changes().collect())
    assert plain(memory.rows) == expected
    assert sorted(row for _, rows in calls for row in rows) == expected
    assert [step for step, _ in calls] == [0, 1]
    for sink in files:
        found = spark.read.format(sink.format).load(sink.path)
        assert found.count() == len(expected)
        assert {row.step for row in found.collect()} == {0, 1}
    with closing(sqlite3.connect(database.path)) as connection:
        kept = connection.execute("SELECT a, n, valid_from, diff, step FROM changes").fetchall()
    assert sorted(kept) == sorted(
        (a, n, f"{t}.000000", d, step) for a, n, t, _, d, step in expected
    )
    shown = capsys.readouterr().out
    for file in Path(engine.root_of("sinks_all"), "output/sinks_all").iterdir():
        file.unlink()
    for read in (partial(query.snapshot, at=0), query.changes):
        with pytest.raises(StateError, match="missing-output"):
            read()
    assert "step 0" in shown
    assert "|valid_from" in shown
    engine.stop()


def test_a_sink_that_failed_gets_the_step_again(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_at(spark, tmp_path)
    query = engine.query(QUERY, "sinks_failing")
    files = Files(f"{tmp_path}/files")

    def failing(frame: DataFrame, step: int) -> None:
        raise OSError("no room")

    query.start(sink=[files, failing], archive=False)
    engine.feed("s", [(1, 1_000_000), (1, 2_000_000)])
    for _ in range(2):
        with pytest.raises(SourceError, match="no room") as caught:
            engine.step()
        assert caught.value.code == "sink-failed"
        assert caught.value.message == 'failing of query "sinks_failing" did not take step 0'
    engine.stop()
    again = engine_at(spark, tmp_path)
    query = again.query(QUERY, "sinks_failing")
    memory = Memory()
    run = query.start(sink=[files, memory], archive=False)
    assert [row.n for row in memory.steps[0]] == [row.n for row in memory.rows]
    assert spark.read.parquet(files.path).count() == len(memory.rows) > 0
    # Without an archive a step's output goes when the next one begins.
    again.feed("s", [(2, 3_000_000)])
    again.step()
    assert sorted(memory.steps) == [0, 1]
    written = Path(run.root, "output/sinks_failing").iterdir()
    kept = {file.name.split("-")[1] for file in written}
    assert kept == {"1"}
    with pytest.raises(QueryError, match="no-archive"):
        query.snapshot()
    again.stop()


def test_nothing_is_written_for_nobody(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_at(spark, tmp_path)
    run = engine.query(QUERY, "sinks_none").start(sink="noop", archive=False)
    engine.feed("s", [(1, 1_000_000)])
    engine.step()
    assert not Path(run.root, "output").exists()
    assert run.status.metrics["output.sinks_none"].rows_out == 1
    engine.stop()
    with pytest.raises(QueryError, match="unknown-sink"):
        engine.query(QUERY, "sinks_odd").start(sink="kafka")


def test_a_sink_that_recovers_misses_no_step(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_at(spark, tmp_path)
    (tmp_path / "taken").write_text("no directory", encoding="utf-8")
    files = Files(f"{tmp_path}/taken")
    engine.query(QUERY, "sinks_recovering").start(sink=files, archive=False)
    engine.feed("s", [(1, 1_000_000)])
    with pytest.raises(SourceError) as caught:
        engine.step()
    assert caught.value.code == "sink-failed"
    assert caught.value.message.startswith(f'Files("{files.path}")')
    assert "\n" not in (caught.value.detail or "")
    (tmp_path / "taken").unlink()
    engine.feed("s", [(1, 2_000_000)])
    engine.step()
    assert {row.step for row in spark.read.parquet(files.path).collect()} == {0, 1}
    engine.stop()
