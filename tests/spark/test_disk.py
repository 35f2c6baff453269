"""What is left on disk, on Spark: as much as of a query that has never seen a row."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.disk import LAST, PASSING, QUERIES, SCRIPT, SOURCES, STEPS, allowed, operations, sizes

from ebbtide.config import Config
from ebbtide.engine.engine import Engine

LONG = Config.from_environment().profile == "long"
CHOSEN = list(QUERIES) if LONG else ["sums", "outer join", "lookup"]
COUNT = 2000 if LONG else 200
JOURNAL = 256
"""How much longer the entry of a step with rows may be than that of one without."""


def started(root: Path, spark: SparkSession) -> Engine:
    engine = Engine(root, spark=spark, shards=2)
    engine.execute(SCRIPT)
    for name in CHOSEN:
        engine.query(QUERIES[name], name.replace(" ", "_")).start(archive=False)
    return engine


def step(engine: Engine, number: int, rows: bool) -> None:
    """A step with rows, or without; then with those that let time pass, the first one moves it."""
    if rows and number < STEPS:
        for name, operations_ in operations(number, COUNT).items():
            for word in dict.fromkeys(op for op, _ in operations_):
                engine.feed(name, [row for op, row in operations_ if op == word], word)
    if number == STEPS:
        for name in SOURCES:
            engine.advance(name, LAST)
    engine.step()


def test_disk_use_returns_to_that_of_an_empty_query(spark: SparkSession, tmp_path: Path) -> None:
    full, empty = started(tmp_path / "full", spark), started(tmp_path / "empty", spark)
    steps = STEPS + PASSING
    for number in range(steps):
        step(full, number, rows=True)
        step(empty, number, rows=False)
    for name in CHOSEN:
        left, never = (sizes(engine.root_of(name.replace(" ", "_"))) for engine in (full, empty))
        assert left.keys() == never.keys(), name
        assert left.pop("journal") <= never.pop("journal") + steps * JOURNAL, name
        assert sum(left.values()) <= sum(never.values()) + allowed(name), name
    full.stop()
    empty.stop()
