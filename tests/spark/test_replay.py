"""Rows behind the horizon of the operators, replayed on Spark: the answers are those in process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ebbtide import Engine
from ebbtide.core.time import SECOND

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
    CREATE STREAM facts (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
"""
VIEWS = {
    "totals": "SELECT auction, SUM(price) AS total FROM bids [UNBOUNDED] GROUP BY auction",
    "last": "SELECT auction, price FROM bids [ROWS 2 SLIDE 2]",
    "both": "SELECT b.auction, f.x FROM bids [RANGE 7 SECONDS] b "
    "JOIN facts [RANGE 9 SECONDS] f ON b.auction = f.id % 2",
}
INSTANTS = (0, 3, 9, 12, 13, 20, 25)


def said(engine: Engine) -> dict[str, list[Any]]:
    """What an engine says of some instants after old rows, deletes and replacements."""
    engine.execute(SOURCES)
    engine.start(*(engine.query(sql, name=name) for name, sql in VIEWS.items()), name="program")
    for second in range(0, 26, 3):
        engine.feed("bids", [(second % 2, second, second * SECOND)])
        engine.feed("facts", [(second, second, second * SECOND)])
        engine.step()
    engine.feed("bids", [(0, 100, 3 * SECOND), (1, 50, 12 * SECOND)])
    engine.feed("facts", [(9, 0, 9 * SECOND)], op="delete")
    engine.feed("facts", [(12, 77, 12 * SECOND)], op="replace")
    engine.step()
    engine.feed("bids", [(2, 1, 26 * SECOND)])
    engine.step()
    views = {name: engine.definitions.query(name).view for name in VIEWS}
    found = {name: [view.snapshot(t * SECOND) for t in INSTANTS] for name, view in views.items()}
    engine.stop()
    return found


def test_a_replay_on_spark_says_what_one_in_process_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    on_spark = said(Engine(tmp_path / "spark", spark=spark, shards=2))
    assert on_spark == said(Engine(tmp_path / "local", transport="local", shards=2))
    assert on_spark["totals"][-1] == [(0, 160), (1, 98)]
