"""Whatever stands in the name of a column, Spark runs none of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ebbtide import Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALL = "java_method('java.lang.System', 'setProperty', 'ebbtide.injected', 'yes')"
NAMES = [f"a` + {CALL} + `a", f"a` AS STRING), {CALL}, CAST(`a", f"a', {CALL}, '", "`", "a``b"]


def injected(spark: SparkSession) -> object:
    return spark.sparkContext._jvm.java.lang.System.getProperty("ebbtide.injected")  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_files_is_only_a_name(name: str, spark: SparkSession, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    at = "2026-01-01 00:00:00"
    (files / "1.json").write_text(json.dumps({name: 7, "at": at}) + "\n")
    quoted = "`" + name.replace("`", "``") + "`"
    engine = Engine(tmp_path / "engine", spark=spark, shards=2)
    engine.execute(
        f"CREATE STREAM s ({quoted} BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"
        f" FROM FILES '{files}' FORMAT json"
    )
    query = engine.query(f"SELECT {quoted}, COUNT(*) AS n FROM s [UNBOUNDED] GROUP BY {quoted}")
    run = query.start(trigger={"availableNow": True})
    run.await_termination()
    assert [tuple(row) for row in query.snapshot().collect()] == [(7, 1)]
    assert query.snapshot().columns == [name, "n"]
    assert injected(spark) is None
    engine.stop()


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_a_frame_is_only_a_name(name: str, spark: SparkSession, tmp_path: Path) -> None:
    files = tmp_path / "files"
    spark.createDataFrame([(7, "2026-01-01 00:00:00")], ["v", "at"]).selectExpr(
        "v", "CAST(at AS TIMESTAMP) AS at"
    ).withColumnRenamed("v", name).write.parquet(str(files))
    frame = spark.readStream.schema(spark.read.parquet(str(files)).schema).parquet(str(files))
    quoted = "`" + name.replace("`", "``") + "`"
    engine = Engine(tmp_path / "engine", spark=spark, shards=2)
    engine.stream("s", frame, time="at")
    query = engine.query(f"SELECT {quoted} AS v FROM s [UNBOUNDED]")
    run = query.start(trigger={"availableNow": True})
    run.await_termination()
    assert [row.v for row in query.snapshot().collect()] == [7]
    assert injected(spark) is None
    engine.stop()
