"""What steps ask of Spark: nothing is compiled anew by each of them, and settings are put back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ebbtide.engine.engine import Engine
from ebbtide.spark.entry import Entry
from ebbtide.spark.private import PLAIN_CHECKPOINT
from ebbtide.spark.session import plain_checkpoint, source_session, unsized_batches
from ebbtide.spark.worker_warming import warm_workers

STREAM = """CREATE STREAM s (k BIGINT, v DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 1 SECOND) RETAIN 5 SECONDS"""
KEYED = """CREATE STREAM t (k BIGINT, at TIMESTAMP, PRIMARY KEY (k),
  PROGRESS FOR at AS at - INTERVAL 1 SECOND) RETAIN 5 SECONDS"""
CHECKPOINT = "spark.sql.streaming.checkpointFileManagerClass"
SIZE = "spark.sql.execution.arrow.maxBytesPerBatch"


def compiled(spark: SparkSession) -> int:
    """How often Spark has compiled something so far."""
    jvm: Any = spark._jvm
    times = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    return int(times.getCount())


def test_frontiers_do_not_make_spark_compile_anew(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    for text in (STREAM, KEYED):
        engine.execute(text)
    query = engine.query(
        "SELECT s.k, COUNT(*) AS n FROM s [RANGE 9 SECONDS] JOIN t [RANGE 9 SECONDS] ON s.k = t.k"
        " GROUP BY s.k"
    )
    query.start()
    found = []
    for step in range(6):
        at = (10 + 7 * step) * 10**6
        engine.feed("s", [(1, 1.5, at), (2, 0.5, at - 10**6)])
        engine.feed("t", [(step, at)])
        engine.step()
        found.append(compiled(spark))
    assert len(set(found[2:])) == 1
    engine.stop()


def test_settings_are_put_back(spark: SparkSession) -> None:
    before = spark.conf.get(SIZE)
    with unsized_batches(spark):
        assert spark.conf.get(SIZE) == str(2**31 - 1)
    assert spark.conf.get(SIZE) == before


def test_a_checkpoint_is_written_plainly_unless_another_way_is_chosen(spark: SparkSession) -> None:
    assert spark.conf.get(CHECKPOINT, None) is None
    with plain_checkpoint(spark):
        assert spark.conf.get(CHECKPOINT) == PLAIN_CHECKPOINT
    assert spark.conf.get(CHECKPOINT, None) is None
    spark.conf.set(CHECKPOINT, "of.the.User")
    try:
        with plain_checkpoint(spark):
            assert spark.conf.get(CHECKPOINT) == "of.the.User"
        assert source_session(spark, local=True).conf.get(CHECKPOINT) == "of.the.User"
    finally:
        spark.conf.unset(CHECKPOINT)
    assert source_session(spark, local=True).conf.get(CHECKPOINT) == PLAIN_CHECKPOINT


def test_rows_with_text_are_sent_by_their_size(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute("CREATE STREAM w (k STRING, at TIMESTAMP, PROGRESS FOR at AS at)")
    engine.execute(STREAM)
    for sql, fixed in (
        ("SELECT k, COUNT(*) AS n FROM w [RANGE 9 SECONDS] GROUP BY k", False),
        ("SELECT k, SUM(v) AS x FROM s [RANGE 9 SECONDS] GROUP BY k", True),
    ):
        run = engine.query(sql).start()
        assert Entry(run.program.lowered).has_fixed_rows is fixed
    engine.stop()


def test_workers_are_forked_with_their_imports_done(spark: SparkSession) -> None:
    def parent(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            said = Path(f"/proc/{os.getppid()}/cmdline").read_text("utf-8")
            yield pa.RecordBatch.from_pydict({"said": [said.replace("\0", " ")]})

    warm_workers(spark).join()
    (row,) = spark.range(0, 1, 1, 1).mapInArrow(parent, "said STRING").collect()
    assert "-m ebbtide.spark.worker_nursery" in row.said
