"""Approximate archives on Spark: the estimates are those in process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ebbtide import Engine
from ebbtide.core.time import SECOND

HOW = {
    "sampled": "SAMPLE 50 PERCENT SEED 3",
    "weighed": "SAMPLE 50 PERCENT BY IMPACT OF euros",
    "binned": "AS HISTOGRAM OF euros EVERY 10 SECONDS",
}


def said(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """What an engine estimates and answers after rows that came too late, for each summary."""
    for name, how in HOW.items():
        engine.execute(
            f"CREATE STREAM {name} (shop STRING, euros DOUBLE, at TIMESTAMP,"
            f" PRIMARY KEY (shop, at), PROGRESS FOR at AS at) RETAIN 5 SECONDS ARCHIVE 1 HOUR {how}"
        )
    queries = {
        name: engine.query(
            f"SELECT shop, SUM(euros) AS total, AVG(euros) AS mean FROM {name} [RANGE 100 SECONDS]"
            " GROUP BY shop",
            name=f"of_{name}",
        )
        for name in HOW
    }
    engine.start(*queries.values(), name="approximated")
    for first in range(0, 400, 100):
        for name in HOW:
            seconds = range(first, first + 100)
            rows = [(s, 10.0 + t % 7, t * SECOND) for t in seconds for s in "ab"]
            engine.feed(name, rows)
        engine.step()
    for name in HOW:
        engine.feed(name, [("a", 500.0, 120 * SECOND + 1)])
        engine.feed(name, [("b", None, 130 * SECOND)], op="delete")
    engine.step()
    found = {}
    for name, query in queries.items():
        estimated = query.approximate(150 * SECOND)
        rows = estimated.collect() if hasattr(estimated, "collect") else estimated.to_pylist()
        found[name] = sorted(tuple(r.values() if isinstance(r, dict) else r) for r in rows)
        found[f"{name} answer"] = query.view.snapshot(150 * SECOND)
    engine.stop()
    return found


def test_an_approximation_on_spark_says_what_one_in_process_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    on_spark = said(Engine(tmp_path / "spark", spark=spark, shards=2))
    in_process = said(Engine(tmp_path / "local", transport="local", shards=2))
    assert on_spark == in_process
    for name in HOW:
        ((_, answer, _), _), ((_, estimate, *_), _) = on_spark[f"{name} answer"], on_spark[name]
        assert 400 < estimate - answer < 600
