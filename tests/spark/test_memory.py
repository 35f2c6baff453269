"""What Python workers hold of a query between its steps: no file that it has replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ebbtide.config import Config
from ebbtide.engine.engine import Engine
from ebbtide.state.store import version_of

STEPS = 200 if Config.from_environment().profile == "long" else 25
ROWS, RECENT, SECOND = 400, 10, 1_000_000


def asked(spark: SparkSession) -> dict[int, list[str]]:
    """The segments of the query that each worker holds, by its process."""

    def held(_: Iterator[Any]) -> Iterator[Any]:
        from ebbtide.state.store import _OPENED

        names = [name for _, root, name in _OPENED.files if "/tops/" in root]
        yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "names": [names]})

    asking = spark.range(8, numPartitions=8).mapInArrow(held, "pid BIGINT, names ARRAY<STRING>")
    return {row.pid: row.names for row in asking.collect()}


def test_workers_let_go_of_what_others_have_replaced(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute("CREATE STREAM s (k BIGINT, v DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT k, MAX(v) AS top FROM s [RANGE 5 SECONDS] GROUP BY k", "tops")
    query.start(archive=False)
    random = Random(1)
    for step in range(STEPS):
        start = step * SECOND
        rows = [
            (random.randrange(90), random.random(), start + random.randrange(SECOND))
            for _ in range(ROWS)
        ]
        engine.feed("s", rows)
        engine.step()
    there = {path.name for path in Path(engine.root_of("tops"), "state").iterdir()}
    workers = asked(spark)
    assert any(workers.values())
    for names in workers.values():
        # A worker that had nothing to do in the last steps may hold what was there then.
        gone = [name for name in names if name not in there]
        assert all(version_of(name) > STEPS - RECENT for name in gone)
    engine.stop()
