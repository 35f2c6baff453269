"""The runs inside this process: Ebbtide, the floor under it, and Spark's own windows.

All read the same files as a stream, in the same batches, and write to a sink that takes all and
keeps nothing.  The floor is what any engine of this kind pays: scan, exchange by key, and every
row through a Python worker and back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ebbtide.bench.answers import Answer
from ebbtide.bench.cases import BenchCase
from ebbtide.bench.data import ReadingFiles
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import InternalError
from ebbtide.spark.session import unsized_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "k BIGINT, v DOUBLE, at TIMESTAMP"
SHARDS = 2


def ebbtide(
    spark: SparkSession, case: BenchCase, streams: tuple[ReadingFiles, ...], files: int, root: Path
) -> float:
    """The seconds of a run to the no-op sink."""
    query = _query(spark, case, streams, files, root)
    began = time.perf_counter()
    _caught_up(query, archive=False, sink="noop")
    return time.perf_counter() - began


def checked(
    spark: SparkSession, case: BenchCase, streams: tuple[ReadingFiles, ...], files: int, root: Path
) -> int:
    """Runs with the archive and compares snapshots; the number of rows that were compared."""
    query = _query(spark, case, streams, files, root)
    _caught_up(query)
    first, last = int(streams[0].at.min()), int(streams[0].at.max())
    compared = 0
    for part in (0.1, 0.5, 0.99):
        at = first + int((last - first) * part)
        expected = case.expected(*streams, at)
        found = _found(case, query, at)
        if not same(found, expected):
            raise InternalError("wrong-answer", f"{case.name} is wrong at {at} ms")
        compared += len(expected)
    return compared


def floor(spark: SparkSession, rows: ReadingFiles, files: int, root: Path) -> float:
    """The seconds of the floor."""
    return floor_of(spark, rows.path, COLUMNS, "k", files, root)


def floor_of(
    spark: SparkSession, path: Path, columns: str, key: str, files: int, root: Path
) -> float:
    """The seconds of the floor for files with other columns."""

    def batch(frame: DataFrame, _: int) -> None:
        frame.sparkSession.conf.set("spark.sql.adaptive.enabled", "false")
        with unsized_batches(frame.sparkSession):
            sent = frame.repartition(SHARDS, key).mapInArrow(_as_it_is, columns)
            sent.write.format("noop").mode("overwrite").save()

    reader = spark.readStream.schema(columns).option("maxFilesPerTrigger", files)
    writer = reader.csv(str(path)).writeStream.foreachBatch(batch)
    began = time.perf_counter()
    _write(writer, root)
    return time.perf_counter() - began


def spark_windows(spark: SparkSession, rows: ReadingFiles, files: int, root: Path) -> float:
    """The seconds of Spark's own windowed count, in update mode."""
    from pyspark.sql import functions as F

    spark.conf.set("spark.sql.shuffle.partitions", SHARDS)
    frame = _frame(spark, rows, files).withWatermark("at", "1 second")
    window = F.window("at", "5 minutes", "1 minute")
    counted = frame.groupBy(window, "k").count()
    writer = counted.writeStream.format("noop").outputMode("update")
    began = time.perf_counter()
    _write(writer, root)
    return time.perf_counter() - began


def _query(
    spark: SparkSession, case: BenchCase, streams: tuple[ReadingFiles, ...], files: int, root: Path
) -> Query:
    engine = Engine(root, spark=spark, shards=SHARDS)
    for name, rows in zip("su", streams, strict=False):
        engine.execute(
            f"CREATE STREAM {name} (k BIGINT, v DOUBLE, at TIMESTAMP,"
            f" PROGRESS FOR at AS at - INTERVAL 1 SECOND) FROM FILES '{rows.path}' FORMAT csv"
            f" OPTIONS (header 'false', maxFilesPerTrigger '{files}')"
        )
    return engine.query(case.sql, name=case.name)


def _caught_up(query: Query, **options: Any) -> None:
    run = query.start(trigger={"availableNow": True}, **options)
    try:
        run.await_termination()
    finally:
        run.stop()


def _found(case: BenchCase, query: Query, at: int) -> Answer:
    rows = query.snapshot(at=at * 1000)
    if case.streams == 2:
        rows = rows.selectExpr("k", "v + w AS x").groupBy("k").sum("x").toDF("k", "x")
    return {row.k: row.x for row in rows.collect()}


def same(found: Answer, expected: Answer) -> bool:
    """Whether two answers agree, but for the last digits."""
    return found.keys() == expected.keys() and all(
        math.isclose(found[key], value, rel_tol=1e-9) for key, value in expected.items()
    )


def _frame(spark: SparkSession, rows: ReadingFiles, files: int) -> DataFrame:
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", files)
    return reader.csv(str(rows.path))


def _write(writer: Any, root: Path) -> None:
    writer = writer.option("checkpointLocation", str(root / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def _as_it_is(batches: Iterator[Any]) -> Iterator[Any]:
    return batches
