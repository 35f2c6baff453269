"""What a step costs: with nothing to do, and with more and more state behind it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from ebbtide.bench.data import START_MS
from ebbtide.bench.figures import Figure, median
from ebbtide.bench.plain_spark import READINGS, SHARDS
from ebbtide.engine.engine import Engine
from ebbtide.spark.private import jobs_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY_STEPS = 16
WARM, TIMED = 3, 8
CHANGES = 10_000
FEW, MANY = 10_000, 1_000_000

TWO_OPERATORS = """SELECT x, COUNT(*) AS n FROM
  (SELECT k, MAX(v) AS x FROM s [RANGE 5 MINUTES] GROUP BY k) GROUP BY x"""
JOIN_AND_AGGREGATE = """SELECT s.v, COUNT(*) AS n FROM s [RANGE 5 MINUTES]
  JOIN s [RANGE 1 MINUTE] AS u ON s.k = u.k GROUP BY s.v"""
MEAN = "SELECT k, AVG(v) AS x FROM s [RANGE 1 DAY] GROUP BY k"


def measured(spark: SparkSession, work: Path, say: Callable[[str], None]) -> Iterator[Figure]:
    """The figures of steps."""
    yield from _empty(spark, work / "empty", say)
    # More keys with ten rows each, or more rows of a hundred keys.
    shapes: tuple[tuple[str, Callable[[int], int]], ...] = (
        ("more keys", lambda live: live // 10),
        ("more rows of each key", lambda live: 100),
    )
    for title, keys in shapes:
        few, many = (_grown(spark, work / f"{title}{n}", n, keys(n)) for n in (FEW, MANY))
        say(f"{title}: a step of {FEW} live rows {few:.3f} s, of {MANY} {many:.3f} s")
        name = f"growth, {title}"
        yield Figure(
            name, f"a step at 10^6 live rows against 10^4, {title}", many / few, "times", limit=1.5
        )


def _empty(spark: SparkSession, work: Path, say: Callable[[str], None]) -> Iterator[Figure]:
    data = work / "data"
    data.mkdir(parents=True)
    for number in range(EMPTY_STEPS):
        row = f"1,{number},2026-01-01 00:00:0{number}\n" if number < WARM else ""
        (data / f"{number:04d}.csv").write_text(row)
    ratios = []
    for turn in range(4):
        plain = _plain(spark, data, work / f"plain{turn}")
        mine, _ = _steps(spark, data, TWO_OPERATORS, work / f"mine{turn}")
        say(f"an empty step: {mine:.0f} ms, of Spark alone {plain:.0f} ms")
        ratios.append(mine / plain)
    title = "an empty step of two operators, against Spark's empty `foreachBatch`"
    yield Figure("empty step", title, median(ratios[1:]), "times", limit=3)
    _, jobs = _steps(spark, data, JOIN_AND_AGGREGATE, work / "jobs")
    title = "jobs of a step of a join and an aggregate on another key"
    yield Figure("jobs", title, jobs, "jobs", limit=2)


def _plain(spark: SparkSession, data: Path, root: Path) -> float:
    frame = spark.readStream.schema(READINGS).option("maxFilesPerTrigger", 1).csv(str(data))
    writer = frame.writeStream.foreachBatch(_nothing)
    writer = writer.option("checkpointLocation", str(root)).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return _milliseconds(query)


def _steps(spark: SparkSession, data: Path, sql: str, root: Path) -> tuple[float, float]:
    """The milliseconds of a step, and its jobs."""
    engine = Engine(root, spark=spark, shards=SHARDS)
    engine.execute(
        "CREATE STREAM s (k BIGINT, v DOUBLE, at TIMESTAMP,"
        f" PROGRESS FOR at AS at - INTERVAL 1 SECOND) FROM FILES '{data}' FORMAT csv"
        " OPTIONS (header 'false', maxFilesPerTrigger '1')"
    )
    before = jobs_run(spark)
    run = engine.query(sql, name="steps").start(trigger={"availableNow": True})
    run.await_termination()
    query: Any = run.streaming  # type: ignore[attr-defined]
    found = _milliseconds(query), (jobs_run(spark) - before) / len(query.recentProgress)
    run.stop()
    return found


def _grown(spark: SparkSession, root: Path, live: int, keys: int) -> float:
    """The seconds of a step of so many changes on top of so many live rows."""
    data = root / "data"
    data.mkdir(parents=True)
    chance = np.random.default_rng(live)
    counts = [live, *[CHANGES] * (WARM + TIMED)]
    for number, count in enumerate(counts):
        at = START_MS + number * 1000 + np.sort(chance.integers(0, 1000, count))
        times = pa.array(at.astype("datetime64[ms]")).cast(pa.string())
        table = pa.table(
            {"k": chance.integers(0, keys, count), "v": chance.random(count), "at": times}
        )
        options = pc.WriteOptions(include_header=False, quoting_style="none")
        pc.write_csv(table, data / f"{number:04d}.csv", options)
    milliseconds, _ = _steps(spark, data, MEAN, root / "run")
    shutil.rmtree(root)
    return milliseconds / 1000


def _milliseconds(query: Any) -> float:
    taken = [progress["durationMs"]["triggerExecution"] for progress in query.recentProgress]
    return median(taken[WARM + 1 :])


def _nothing(frame: Any, number: int) -> None:
    pass
