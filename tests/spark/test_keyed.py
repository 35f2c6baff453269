"""Keyed streams and changing tables on Spark: corrections in the past, against the reference."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle
from tests.spark.law import check, feed

from ebbtide.engine.engine import Engine

SCRIPT = """
CREATE STREAM s (id BIGINT, v BIGINT, at TIMESTAMP, PRIMARY KEY (id, at),
  PROGRESS FOR at AS at - INTERVAL 4 SECONDS) RETAIN 6 SECONDS;
CREATE TABLE t (id BIGINT, v BIGINT, at TIMESTAMP, PRIMARY KEY (id),
  PROGRESS FOR at AS at - INTERVAL 4 SECONDS) TIME at RETAIN 6 SECONDS;
"""

QUERIES = {
    "facts": "SELECT id, v FROM s [RANGE 5 SECONDS]",
    "sums": "SELECT id, SUM(v) AS total FROM s [RANGE 5 SECONDS] GROUP BY id",
    "rows": "SELECT v FROM s [ROWS 2]",
    "versions": "SELECT id, v FROM t",
    "lookup": "SELECT s.v, t.v AS w FROM s [RANGE 5 SECONDS] LEFT JOIN t ON s.id = t.id",
    "count": "SELECT v, COUNT(*) AS n FROM t GROUP BY v",
    "twice": "SELECT x.v, y.v AS w FROM s [RANGE 5 SECONDS] x JOIN s [NOW] y ON x.id = y.id",
}


OPS = {
    "s": ["insert", "insert", "delete", "replace"],
    "t": ["upsert", "upsert", "end", "delete", "replace"],
}


def some_operations(rng: random.Random, ops: list[str], low: int) -> list[tuple[str, Any]]:
    return [
        (rng.choice(ops), (rng.randint(0, 2), rng.randint(0, 3), rng.randint(low, low + 6) * 10**6))
        for _ in range(5)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_corrections_reach_the_past(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    queries = [engine.query(text, name) for name, text in QUERIES.items()]
    for query in queries:
        query.start()
    oracle = Oracle.of([entry.declaration for entry in engine.catalog])
    rng = random.Random(seed)
    for step in range(5):
        low = max(0, 4 * step - 4)
        fed = {name: Fed.of(some_operations(rng, ops, low), 5 * step) for name, ops in OPS.items()}
        feed(engine, fed)
        oracle.take(fed)
        engine.step()
        for query in queries:
            check(engine, query, oracle)
    expected = sorted(row.reason.value for row in oracle.inputs["s"].unused)
    found = sorted(row.reason for row in engine.late("s").where("query = 'facts'").collect())
    assert found == expected
