"""On Spark, too, a reader beside a running program finds a total and its parts in agreement."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.agreement import assert_agreement

from ebbtide.config import Config
from ebbtide.engine.engine import Engine

STEPS = {"quick": 5, "ci": 5, "long": 300}[Config.from_environment().profile]


def test_a_total_and_its_parts_agree_at_every_step(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    assert_agreement(engine, STEPS)
    engine.stop()
