"""The runs inside this process: Ebbtide, to a sink that takes all and keeps nothing, or checked.

Whoever is compared with it reads the same files as a stream, in the same batches.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ebbtide.bench.answers import Answer
from ebbtide.bench.cases import BenchCase
from ebbtide.bench.data import ReadingFiles
from ebbtide.bench.plain_spark import SHARDS
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
