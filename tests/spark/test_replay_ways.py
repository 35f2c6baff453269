"""Random queries over archived streams on Spark: every way of replay, with kills in its middle.

Deletes, replacements and late rows far behind the horizon of the operators; after every step each
answer is the reference's on all that the naive admission accepts.  Some steps are killed at an
operation on a file in their driver, where replays run, and go on in a new engine.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.crashes import Killed, killed_before
from tests.histories import Oracle, declarations_of
from tests.properties.test_minimal_replay import QUERIES, SOURCES, WINDOWS, history
from tests.spark.law import check, feed

from ebbtide.config import Config
from ebbtide.core.declaration import Way
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.store.journal import Journal

SEEDS = {"quick": 1, "ci": 1, "long": 30}[Config.from_environment().profile]
VIEWS = 8
STEPS = 9


def started(
    spark: SparkSession, path: Path, way: Way | None, texts: list[str]
) -> tuple[Engine, list[Query]]:
    """An engine that runs queries as one program, from where it was."""
    engine = Engine(path, spark=spark, shards=2)
    clause = "" if way is None else f" REPLAY {way.value};"
    engine.execute(SOURCES.replace("0 MICROSECONDS;", f"0 MICROSECONDS{clause or ';'}"))
    queries = [engine.query(text, name=f"v{number}") for number, text in enumerate(texts)]
    engine.start(*queries, name="program")
    return engine, queries


@pytest.mark.parametrize("seed", range(2, 2 + SEEDS))
@pytest.mark.parametrize(
    "way", [None, *Way], ids=lambda way: "chosen" if way is None else way.value
)
def test_every_way_of_replay_is_right_on_spark(
    spark: SparkSession, tmp_path: Path, seed: int, way: Way | None
) -> None:
    random = Random(seed)
    chosen = random.sample(QUERIES, VIEWS)
    texts = [
        text.format(w=random.choice(WINDOWS), v=random.choice(WINDOWS)) + " ALLOW UNBOUNDED STATE"
        for text in chosen
    ]
    engine, queries = started(spark, tmp_path, way, texts)
    declarations = {d.name: d for query in queries for d in declarations_of(query.bound.plan)}
    oracle = Oracle.of(list(declarations.values()), {"bids", "clicks"})
    killed = 0
    for fed in history(random, list(declarations.values()), STEPS):
        feed(engine, fed)
        oracle.take(fed)
        if random.random() < 0.5:
            try:
                with killed_before(random.randint(1, 150)):
                    engine.step()
            except Killed:
                killed += 1
                engine.stop()
                engine, queries = started(spark, tmp_path, way, texts)
        engine.step()
        for query in queries:
            check(engine, query, oracle)
    records = list(Journal(engine.root_of("v0")).entries())
    ways = Counter(counts.way for record in records for counts in record.replays.values())
    engine.stop()
    assert ways, "nothing was replayed"
    assert killed, "no step was killed"
