"""One small Spark session for the tests that ask Spark."""

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

from ebbtide.spark import shelf
from ebbtide.spark.session import start_spark


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session in this process: ANSI mode, UTC, two cores, two partitions, no interface."""
    session = start_spark(
        2,
        {
            "spark.driver.memory": "2g",
            "spark.sql.shuffle.partitions": "2",
            # `${...}` in a text is text.
            "spark.sql.variable.substitute": "false",
            "spark.log.level": "OFF",
        },
    )
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _parcels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every other test all parcels lie on the shelf, however small."""
    if crc32(request.node.nodeid.encode()) % 2:
        monkeypatch.setattr(shelf, "LEAST", 0)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Everything here needs a JVM, and one of them is enough."""
    for item in items:
        if "tests/spark" in str(item.path):
            item.add_marker(pytest.mark.jvm)
            item.add_marker(pytest.mark.xdist_group("spark"))
