"""What a program on Spark keeps besides its state, damaged; and hostile names in all places."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.faults import checkpoint_fuzz, injection

from ebbtide.config import Config

PROFILE = Config.from_environment().profile
DAMAGES = {"quick": 100, "ci": 120, "long": 3000}[PROFILE]
NAMES = {"quick": 1, "ci": 2, "long": 50}[PROFILE]


def test_no_damage_to_the_checkpoint_is_silent(spark: SparkSession, tmp_path: Path) -> None:
    model = checkpoint_fuzz.made(spark, tmp_path)
    figures = checkpoint_fuzz.run(model, DAMAGES, 1, tmp_path)
    assert figures.wrong == []
    assert figures.outcomes["error with a code"] > 0
    assert figures.outcomes["right answer"] > DAMAGES / 3


def test_no_name_is_more_than_a_name_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    figures = injection.run(NAMES, 1, tmp_path, spark)
    assert figures.wrong == []
    assert figures.ran == NAMES
