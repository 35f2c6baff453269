"""Nexmark on Spark: every query, over files, equals DuckDB on the same events."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ebbtide.bench.nexmark import queries
from ebbtide.bench.nexmark.suite import EventFiles, checked
from ebbtide.config import Config

EVENTS = 50_000 if Config.from_environment().profile == "long" else 5_000


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> EventFiles:
    return EventFiles.make(tmp_path_factory.mktemp("nexmark"), EVENTS, rate=100, ends=True)


@pytest.mark.parametrize("number", queries.NUMBERS)
def test_a_query_equals_duckdb(
    spark: SparkSession, events: EventFiles, tmp_path: Path, number: int
) -> None:
    assert checked(spark, events, number, tmp_path) > 0
