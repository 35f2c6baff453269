"""Aggregates of the user's own that raise something in Spark's workers."""

from __future__ import annotations

import random
from pathlib import Path

from pyspark.sql import SparkSession
from tests.failing_queries import own_aggregates
from tests.histories import Fed, Oracle
from tests.spark.law import check, feed, some_rows

from ebbtide.core.change import snapshot
from ebbtide.engine.engine import Engine
from ebbtide.reference import errors
from ebbtide.store.journal import Journal

STREAM = """
    CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
      RETAIN 6 SECONDS
"""
QUERIES = {
    "groups": "SELECT a, INVERSES(b) AS x FROM l [RANGE 5 SECONDS] GROUP BY a",
    "results": "SELECT a, FORGETFUL(b) AS x, COUNT(*) AS n FROM l [RANGE 5 SECONDS] GROUP BY a",
    "types": "SELECT a, WRONG(b) AS x FROM l [RANGE 5 SECONDS] GROUP BY a",
    "frames": "SELECT a, b, INVERSES(b) OVER (PARTITION BY a ORDER BY at"
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS x FROM l [RANGE 5 SECONDS]",
}


def test_their_groups_are_left_out_as_the_reference_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    with own_aggregates():
        engine = Engine(tmp_path, spark=spark, shards=2)
        engine.execute(STREAM)
        queries = [engine.query(text, name) for name, text in QUERIES.items()]
        engine.start(*queries, name="failing")
        oracle = Oracle.of([entry.declaration for entry in engine.catalog])
        rng, left_out = random.Random(2), 0
        for step in range(3):
            rows = some_rows(rng, 2, 6, max(0, 4 * step - 3), 4 * step + 3)
            fed = {"l": Fed.of([("insert", row) for row in rows], 5 * step)}
            feed(engine, fed)
            oracle.take(fed)
            engine.step()
            for query in queries:
                check(engine, query, oracle)
                latest = Journal(engine.root_of(query.name)).latest()
                assert latest is not None
                now = latest.record.nows[query.name]
                expected = snapshot(errors(query.bound.plan, oracle.accepted, now), now)
                assert sorted(query.left_out.snapshot(now)) == sorted(expected.elements())
                left_out += expected.total()
        assert left_out > 0
