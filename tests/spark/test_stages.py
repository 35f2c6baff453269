"""Rows that skip a stage: made in the first, read in the third; and those of sources that wait."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle
from tests.spark.law import check, feed

from ebbtide import Engine

SCRIPT = """
CREATE STREAM s (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 MINUTE;
CREATE STREAM u (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 MINUTE;
"""
# Counts by a, which are counted by their number, joined with what was made in the first stage, with
# rows of a source by another key.
QUERY = """
SELECT m.n, f.a, u.b FROM
  (SELECT n, COUNT(*) AS m FROM
    (SELECT a, COUNT(*) AS n FROM s [RANGE 20 SECONDS] GROUP BY a) AS c GROUP BY n) AS m
  JOIN (SELECT b AS a, COUNT(*) AS n FROM s [RANGE 20 SECONDS] GROUP BY b) AS f ON f.n = m.m
  JOIN u [RANGE 20 SECONDS] ON u.a = m.n
"""


def test_rows_that_skip_a_stage_are_carried(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    query = engine.query(QUERY, "skipping")
    run = query.start()
    stages = run.program.lowered.stages
    assert stages.count >= 3
    assert any(route.stage > 1 for route in stages.entering)
    made = [
        stages.of_operator[r.producer.operator] for r in stages.routes if r not in stages.entering
    ]
    later = [r.stage for r in stages.routes if r not in stages.entering]
    assert any(end - begin > 1 for begin, end in zip(made, later, strict=True))
    oracle = Oracle.of(run.program.lowered.declarations)
    shown = 0
    for step in range(5):
        at = [(5 * step + i) * 10**6 for i in range(6)]
        rows = [("insert", (i % 3, i % 2, t)) for i, t in enumerate(at)]
        fed = {name: Fed.of(rows, 10 * step) for name in ("s", "u")}
        oracle.take(fed)
        feed(engine, fed)
        engine.step()
        check(engine, query, oracle)
        shown += query.snapshot().count()
    assert shown
    engine.stop()
