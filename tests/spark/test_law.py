"""Queries of every operator, on Spark, step by step, against the reference evaluator."""

from __future__ import annotations

import random
from pathlib import Path

from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle
from tests.spark.law import check, feed, some_rows

from ebbtide.engine.engine import Engine

SCRIPT = """
CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS;
CREATE STREAM r (a BIGINT, c BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS;
"""

QUERIES = {
    "filter": "SELECT a, b + 1 AS b FROM l [RANGE 5 SECONDS] WHERE a > 0",
    "slide": "SELECT a FROM l [RANGE 5 SECONDS SLIDE 3 SECONDS]",
    "slide count": "SELECT a, COUNT(*) AS n FROM l [RANGE 5 SECONDS SLIDE 2 SECONDS] GROUP BY a",
    "slide total": "SELECT COUNT(*) AS n FROM l [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE b > 0",
    "fixed": "SELECT a FROM l [FIXED 4 SECONDS]",
    "tumble": "SELECT window_end, COUNT(*) AS n FROM TUMBLE(l, at, 4 SECONDS)"
    " [RANGE 6 SECONDS ON at] GROUP BY window_end",
    "hop": "SELECT a, window_start FROM HOP(l, at, 2 SECONDS, 5 SECONDS)"
    " [RANGE 3 SECONDS ON window_end]",
    "union": "SELECT a FROM l [RANGE 5 SECONDS] UNION ALL SELECT c FROM r [RANGE 2 SECONDS]",
    "distinct": "SELECT DISTINCT a FROM l [RANGE 5 SECONDS]",
    "join": "SELECT l.a, l.b, r.c FROM l [RANGE 5 SECONDS] JOIN r [RANGE 3 SECONDS] ON l.a = r.a",
    "theta": "SELECT l.b, r.c FROM l [RANGE 5 SECONDS] JOIN r [RANGE 3 SECONDS] ON l.b < r.c",
    "residual": "SELECT l.b, r.c FROM l [RANGE 5 SECONDS] JOIN r [RANGE 3 SECONDS]"
    " ON l.a = r.a AND l.b <> r.c",
    "left": "SELECT l.a, l.b, r.c FROM l [RANGE 5 SECONDS] LEFT JOIN r [RANGE 3 SECONDS]"
    " ON l.a = r.a AND l.b <= r.c",
    "full": "SELECT l.b, r.c FROM l [RANGE 5 SECONDS] FULL JOIN r [RANGE 3 SECONDS] ON l.a = r.a",
    "semi": "SELECT a, b FROM l [RANGE 5 SECONDS] WHERE EXISTS"
    " (SELECT 1 FROM r [RANGE 3 SECONDS] WHERE r.a = l.a AND r.c > l.b)",
    "not in": "SELECT a, b FROM l [RANGE 5 SECONDS] WHERE a NOT IN"
    " (SELECT a FROM r [RANGE 3 SECONDS])",
    "except all": "SELECT a FROM l [RANGE 5 SECONDS] EXCEPT ALL SELECT a FROM r [RANGE 3 SECONDS]",
    "except": "SELECT a FROM l [RANGE 5 SECONDS] EXCEPT SELECT a FROM r [RANGE 3 SECONDS]",
    "intersect": "SELECT a FROM l [RANGE 5 SECONDS] INTERSECT ALL"
    " SELECT a FROM r [RANGE 3 SECONDS]",
    "self join": "SELECT x.b, y.b AS other FROM l [RANGE 5 SECONDS] x, l [RANGE 2 SECONDS] y"
    " WHERE x.a = y.a",
    "sums": "SELECT a, COUNT(*) AS n, SUM(b) AS s, AVG(b) AS m FROM l [RANGE 5 SECONDS] GROUP BY a",
    "total": "SELECT COUNT(b) AS n, MAX(b) AS top FROM l [RANGE 5 SECONDS]",
    "best": "SELECT a, MIN(b) AS low, COUNT(DISTINCT b) AS kinds, MEDIAN(b) AS mid,"
    " FIRST(b) AS head, COLLECT(b) AS every FROM l [RANGE 5 SECONDS] GROUP BY a",
    "for ever": "SELECT a, COUNT(*) AS n, AVG(CAST(b AS DOUBLE)) AS m, MAX(b) AS top,"
    " LAST(b) AS last FROM l [UNBOUNDED] GROUP BY a",
    "having": "SELECT a FROM l [RANGE 5 SECONDS] GROUP BY a HAVING COUNT(*) > 1",
    "aggregate of join": "SELECT l.b, SUM(r.c) AS s FROM l [RANGE 5 SECONDS]"
    " JOIN r [RANGE 3 SECONDS] ON l.a = r.a GROUP BY l.b",
    "aggregate of aggregate": "SELECT n, COUNT(*) AS groups FROM"
    " (SELECT a, COUNT(*) AS n FROM l [RANGE 5 SECONDS] GROUP BY a) x GROUP BY n",
    "rows": "SELECT a, b FROM l [PARTITION BY a ROWS 2]",
    "tumbling rows": "SELECT SUM(b) AS s FROM l [ROWS 3 SLIDE 3]",
    "top": "SELECT a, b FROM l [RANGE 5 SECONDS] ORDER BY b DESC LIMIT 2",
    "top per key": "SELECT a, b, n FROM (SELECT a, b, ROW_NUMBER() OVER"
    " (PARTITION BY a ORDER BY b DESC) AS n FROM l [RANGE 5 SECONDS]) x WHERE n <= 1",
    "frames": "SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY at ROWS BETWEEN 1 PRECEDING AND"
    " CURRENT ROW) AS s FROM l [RANGE 5 SECONDS]",
    "window on istream": "SELECT a, COUNT(*) AS n FROM ISTREAM(SELECT a, COUNT(*) AS k"
    " FROM l [RANGE 3 SECONDS] GROUP BY a) [RANGE 4 SECONDS] GROUP BY a",
    "times given": "SELECT l.b, v.at AS t, v.d FROM l [RANGE 5 SECONDS] JOIN (VALUES"
    " (1, TIMESTAMP '1970-01-01 00:00:03', INTERVAL 2 SECONDS), (2, NULL, NULL)) AS v (a, at, d)"
    " ON l.a = v.a",
    "distinct join": "SELECT DISTINCT l.b FROM l [RANGE 5 SECONDS] JOIN r [RANGE 3 SECONDS]"
    " ON l.a = r.a",
}


def test_every_step_shows_what_the_reference_says(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    queries = [engine.query(text, name.replace(" ", "_")) for name, text in QUERIES.items()]
    for query in queries:
        query.start()
    entries = [entry.declaration for entry in engine.catalog]
    oracle = Oracle.of(entries)
    rng = random.Random(1)
    for step in range(3):
        fed = {
            name: Fed.of([("insert", row) for row in some_rows(rng, 2, 5, low, low + 6)], 5 * step)
            for name in ("l", "r")
            for low in [max(0, 4 * step - 3)]
        }
        feed(engine, fed)
        oracle.take(fed)
        engine.step()
        for query in queries:
            check(engine, query, oracle)
