"""The balance test on Spark: money that moves between accounts is never made or lost."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.balance import BALANCE, SCRIPT, assert_balanced, transfers
from tests.spark.law import emitted

from ebbtide.config import Config
from ebbtide.core.time import NEG_INF
from ebbtide.runtime.engine import Engine

STEPS = 1000 if Config.from_environment().profile == "long" else 15


def test_the_total_is_zero_after_every_step(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    query = engine.query(BALANCE, "balance")
    query.start()
    for rows in transfers(STEPS, seed=3):
        engine.feed("transfers", rows)
        manifest = engine.step()["balance"]
        if manifest.details["now"] > NEG_INF:
            assert_balanced(emitted(query), manifest.details["now"])
    engine.stop()
