"""The recursive examples of paper 5 on Spark, against their rules in Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.papers.test_paper_5_recursion import (
    FRAGMENTS,
    RULES,
    SOURCES,
    WINDOWS,
    Row,
    arrivals,
    fed,
    in_seconds,
    known,
    story,
)

from ebbtide.engine.engine import Engine


def answer(query: Any) -> Counter[Row]:
    """The answer of a query, with times as seconds after noon."""
    return Counter(tuple(map(in_seconds, row)) for row in query.snapshot().collect())


def test_every_step_shows_what_the_rules_say(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SOURCES + WINDOWS + FRAGMENTS)
    queries = {name: engine.query(RULES[name][0], name=name) for name in ("windows", "fragments")}
    engine.start(*queries.values(), name="fires")
    seen: dict[str, list[Row]] = {"Smoke": [], "FireStart": [], "FireEnd": []}
    for step in arrivals(4, story(4), 2):
        for name, rows in step.items():
            engine.feed(name, [fed(name, row) for row in rows])
            seen[name] += rows
        engine.step()
        for name, query in queries.items():
            assert answer(query) == RULES[name][1](seen, known(seen)), name
    engine.stop()
