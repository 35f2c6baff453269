"""A program that runs one query, fed by hand, on the Spark master that it is told.

    python cluster_driver.py MASTER LOCATION

It prints what the query has emitted, consolidated, as text.
"""

from __future__ import annotations

import random
import sys

from pyspark.sql import SparkSession
from tests.spark import fault_driver
from tests.spark.law import emitted, some_rows

from ebbtide.engine.engine import Engine

SCRIPT = """
CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS;
CREATE STREAM r (a BIGINT, c BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS;
"""
QUERY = """SELECT l.b, COUNT(*) AS n, SUM(r.c) AS s FROM l [RANGE 5 SECONDS]
  JOIN r [RANGE 3 SECONDS] ON l.a = r.a GROUP BY l.b"""


def output(spark: SparkSession, location: str) -> list[str]:
    """What the query emits in three steps."""
    engine = Engine(location, spark=spark, shards=2)
    engine.execute(SCRIPT)
    query = engine.query(QUERY, "clustered")
    query.start()
    rng = random.Random(4)
    for step in range(3):
        for name in ("l", "r"):
            engine.feed(name, some_rows(rng, 2, 8, 4 * step, 4 * step + 6))
        engine.step()
    found = [str(change) for change in emitted(query)]
    engine.stop()
    return found


if __name__ == "__main__":
    spark = fault_driver.session(sys.argv[1])
    sys.stdout.write("\n".join(output(spark, sys.argv[2])) + "\n")
    fault_driver.stop(spark)
