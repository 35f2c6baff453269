"""NOW(), VALID, tables at the time of a fact and moved grids on Spark, against the reference."""

from __future__ import annotations

import random
from pathlib import Path

from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle
from tests.spark.law import check, feed
from tests.spark.test_keyed import OPS, SCRIPT, some_operations

from ebbtide.engine.engine import Engine

QUERIES = {
    "recent": "SELECT id, v FROM s WHERE at > NOW() - INTERVAL 5 SECONDS",
    "either": "SELECT id FROM s [RANGE 9 SECONDS] WHERE v = 1 OR NOW() - at < INTERVAL 3 SECONDS",
    "parts": "SELECT id, COUNT(*) FILTER (WHERE at > NOW() - INTERVAL 2 SECONDS) AS n"
    " FROM s [RANGE 6 SECONDS] GROUP BY id",
    "versions": "SELECT id, v FROM t WHERE NOW() BETWEEN at AND at + INTERVAL 4 SECONDS",
    "valid": "SELECT COUNT(*) AS n FROM s"
    " [VALID FROM at - INTERVAL 1 SECOND TO at + v * INTERVAL 1 SECOND]",
    "as_of": "SELECT s.v, t.v AS w FROM s LEFT JOIN t FOR SYSTEM_TIME AS OF s.at ON s.id = t.id",
    "moved": "SELECT window_start, COUNT(*) AS n FROM TUMBLE(s, at, 4 SECONDS OFFSET 1 SECOND)"
    " GROUP BY window_start, window_end",
}


def test_every_step_shows_what_the_reference_says(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    unbounded = "ALLOW UNBOUNDED STATE"
    queries = [engine.query(f"{text} {unbounded}", name) for name, text in QUERIES.items()]
    engine.start(*queries, name="all")
    oracle = Oracle.of([entry.declaration for entry in engine.catalog])
    rng = random.Random(1)
    for step in range(4):
        low = max(0, 4 * step - 4)
        fed = {name: Fed.of(some_operations(rng, ops, low), 5 * step) for name, ops in OPS.items()}
        feed(engine, fed)
        oracle.take(fed)
        engine.step()
        for query in queries:
            check(engine, query, oracle)
    engine.stop()
