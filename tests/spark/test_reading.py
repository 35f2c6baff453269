"""What is read without Spark is what Spark reads: snapshots, changes and unused rows."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from ebbtide import Engine
from ebbtide.core.time import INF, NEG_INF, instant
from ebbtide.core.types import TimestampType
from ebbtide.engine.location import Location
from ebbtide.errors import StateError
from ebbtide.store import readers

DECLARED = """
CREATE STREAM s (a INT, d DECIMAL(9, 2), x DOUBLE, t STRING, day DATE, b BOOLEAN,
  l ARRAY<BIGINT>, r STRUCT<p: INT, q: STRING>, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 10 SECONDS
"""
SAME = (1, Decimal("1.50"), 0.5, "é,", "2026-01-01", True, [1, 2], (3, "x"), "2026-01-01 00:00:00")
ROWS: list[tuple[Any, ...]] = [
    SAME,
    SAME,
    (None, None, float("nan"), "", None, False, [], (None, None), "2026-01-01 00:00:30"),
    (2, Decimal("-0.01"), None, None, "1969-12-31", None, None, None, "2026-01-01 00:00:40"),
]


def plain(value: Any) -> Any:
    """A value as the model has it; NaN as text, so that it equals itself."""
    if isinstance(value, Row):
        return tuple(map(plain, value))
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    return "NaN" if isinstance(value, float) and value != value else value


def bag(rows: Any) -> list[str]:
    return sorted(repr(tuple(map(plain, row))) for row in rows)


def test_both_read_the_same(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark)
    engine.execute(DECLARED)
    query = engine.query("SELECT * FROM s [RANGE 1 MINUTE]", name="read")
    query.start()
    engine.feed("s", ROWS)
    engine.step()
    engine.feed("s", [ROWS[0], (*ROWS[3][:-1], "2026-01-01 00:00:33")])
    engine.step()
    stored = Location(str(tmp_path)).query("READ")
    schema = stored.bound.schema
    assert schema == query.schema
    names = [
        f"unix_micros({c.name})" if isinstance(c.type, TimestampType) else c.name for c in schema
    ]
    for at in ("2026-01-01 00:00:10", "2026-01-01 00:00:45", "2026-01-01 00:01:00", None):
        moment = None if at is None else instant(at)
        by_spark = query.snapshot(at).selectExpr(*names).collect()
        assert bag(stored.view.snapshot(moment)) == bag(by_spark)
    ends = (f"coalesce(unix_micros(valid_from), {NEG_INF + 1}L - 1L)", "unix_micros(valid_to)")
    for since in (None, 0, 1):
        by_spark = query.changes(since).selectExpr(*names, *ends, "diff", "step").collect()
        found = [
            (*change.row, change.valid_from, change.valid_to, change.diff, step)
            for step, change in stored.view.changes(since)
        ]
        assert INF not in [change[-3] for change in found]
        assert bag(found) == bag(by_spark)
    late = [(*row.shown, step) for row, step in readers.unused(stored.root, "S")]
    by_spark = engine.late("s").select("reason", "row", "op", "step").collect()
    assert bag(late) == bag(by_spark)
    assert len(late) == 1
    engine.stop()


def test_a_damaged_file_never_reaches_spark(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark)
    engine.execute(DECLARED)
    query = engine.query("SELECT a, at FROM s [RANGE 1 MINUTE]", name="read")
    run = query.start()
    engine.feed("s", [*ROWS, ("no number", *ROWS[0][1:])])
    engine.step()
    assert query.snapshot(at="2026-01-01 00:00:45").count() == len(ROWS)
    assert engine.late("s").count() == 1
    for below, read in (("output/read", query.changes), ("unused", lambda: engine.late("s"))):
        path = min((tmp_path / "programs/read" / below).iterdir())
        content = bytearray(path.read_bytes())
        content[len(content) // 3] ^= 1
        path.write_bytes(content)
        with pytest.raises(StateError) as caught:
            read()
        assert caught.value.code == "damaged-output"
    run.stop()


def test_spark_reads_the_files_of_an_answer(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark)
    engine.execute(DECLARED)
    query = engine.query("SELECT * FROM s [RANGE 1 MINUTE]", name="files")
    query.start(live=True)
    for rows in (ROWS[:2], ROWS[2:]):
        engine.feed("s", rows)
        engine.step()
        shown = query.snapshot()
        for paths in (query.files(), [query.live_file]):
            found = spark.read.parquet(*paths)
            assert found.dtypes == shown.dtypes
            assert bag(found.collect()) == bag(shown.collect())
    engine.stop()
