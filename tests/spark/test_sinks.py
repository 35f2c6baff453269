"""Sinks: every step's output once, also when a crash came between the step and its sinks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ebbtide.engine.engine import Engine
from ebbtide.errors import QueryError, SourceError, StateError
from ebbtide.sinks import Encoded, Files, Memory, Sqlite

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
    expected = plain(query.changes().drop("reason").collect())
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


def test_encodings_are_written_and_read_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    engine = engine_at(spark, tmp_path)
    query = engine.query(QUERY, "sinks_encoded")
    memory, files = Memory(), Files(f"{tmp_path}/envelopes", "json")
    query.start(sink=[Encoded(memory, "upsert"), Encoded(files, "debezium")])
    engine.feed("s", [(1, 1_000_000), (1, 2_000_000)])
    engine.step()
    engine.advance("s", 30_000_000)
    engine.step()
    told = [(r.a, r.n, r._op, r._at.second, r.step) for r in memory.rows]
    assert told == [
        (1, 1, "upsert", 1, 0),
        (1, 2, "upsert", 2, 0),
        (1, 1, "upsert", 6, 1),
        (1, 1, "end", 7, 1),
    ]
    for step in (0, 1):  # the files of all steps in one directory, as others would put them
        for part in Path(files.path, f"step={step}").glob("part-*"):
            part.rename(Path(files.path, f"{step}-{part.name}"))
    engine.execute(f"""
        CREATE TABLE mirror (a BIGINT, n BIGINT, PRIMARY KEY (a), PROGRESS FOR _at AS _at)
        FROM FILES '{files.path}' FORMAT json ENCODING debezium
    """)
    mirror = engine.query("SELECT a, n FROM mirror", "mirror_of_files")
    run = mirror.start(trigger={"availableNow": True})
    run.await_termination()
    at = {t: [(r.a, r.n) for r in mirror.snapshot(at=t * 1_000_000).collect()] for t in (1, 2, 6)}
    assert at == {1: [(1, 1)], 2: [(1, 2)], 6: [(1, 1)]}
    assert mirror.snapshot(at=7_000_000).collect() == []
    assert engine.late("mirror").count() == 0
    frame = spark.readStream.schema(
        "before STRUCT<a: BIGINT>, after STRUCT<a: BIGINT, n: BIGINT>, op STRING, ts_ms BIGINT"
    ).json(files.path)
    engine.table("framed", frame, key="a", encoding="debezium")
    framed = engine.query("SELECT a, n FROM framed", "mirror_of_frames")
    framed.start(trigger={"availableNow": True}).await_termination()
    said = [(r.a, r.n) for r in framed.snapshot(at=2_000_000).collect()]
    assert said == [(1, 2)]
    assert engine.pending("framed").count() == 0
    engine.stop()


def test_changes_are_read_on_spark_from_files_and_frames(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "changes"
    source.mkdir()
    rows = [(7, 1, 0, 5, 1), (7, 1, 2, 5, -1), (7, 2, 2, None, 2), (8, 2, 2, None, 0)]
    told = [
        {
            "a": a,
            "n": n,
            "valid_from": f"2026-01-01T12:0{start}:00Z",
            "valid_to": None if end is None else f"2026-01-01T12:0{end}:00Z",
            "diff": diff,
            "step": 0,
        }
        for a, n, start, end, diff in rows
    ]
    text = "".join(json.dumps(one) + "\n" for one in told)
    (source / "one.json").write_text(text, encoding="utf-8")
    engine = engine_at(spark, tmp_path)
    engine.execute(f"""
        CREATE TABLE summed (a BIGINT, n BIGINT, PROGRESS FOR valid_from AS valid_from)
        FROM FILES '{source}' FORMAT json ENCODING changes RETAIN 1 HOUR
    """)
    columns = "a BIGINT, n BIGINT, valid_from TIMESTAMP, valid_to TIMESTAMP, diff BIGINT"
    frame = spark.readStream.schema(columns).json(str(source))
    engine.table("framed_changes", frame, encoding="changes", retain="1 hour")
    for name in ("summed", "framed_changes"):
        query = engine.query(f"SELECT a, n FROM {name}", f"sum_of_{name}")
        query.start(trigger={"availableNow": True}).await_termination()
        for minute, expected in ((1, [(7, 1)]), (3, [(7, 2), (7, 2)])):
            found = query.snapshot(at=f"2026-01-01 12:0{minute}:00").collect()
            assert [(r.a, r.n) for r in found] == expected
        assert [r.reason for r in engine.late(name).collect()] == ["unknown-op"]
    engine.stop()
