"""Expiry strategies on Spark: negatives and messages through its exchanges, over a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine

pytestmark = pytest.mark.jvm

S = 1_000_000
STREAM = "CREATE STREAM {} (item INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)"
QUERIES = {
    # Pairs of all shards go to the first, and so do the messages for them.
    "top": "SELECT MAX(b.price) AS m FROM a [RANGE 5 SECONDS] JOIN b [RANGE 9 SECONDS] "
    "ON a.item = b.item",
    "by_item": "SELECT a.item, SUM(b.price) AS p FROM a [RANGE 5 SECONDS] JOIN b [RANGE 9 SECONDS] "
    "ON a.item = b.item GROUP BY a.item",
    "by_price": "SELECT b.price, COUNT(*) AS n FROM a [RANGE 5 SECONDS] JOIN b [RANGE 9 SECONDS] "
    "ON a.item = b.item GROUP BY b.price",
}
STEPS: list[dict[str, list[tuple[int, int, int]]]] = [
    {"a": [(1, 0, 0), (2, 0, 0), (3, 0, 1)], "b": [(1, 10, 0), (1, 20, 1), (2, 20, 1)]},
    {"b": [(3, 30, 3), (1, 10, 4)]},
    {"a": [(9, 0, 6)]},
    {"a": [(1, 0, 8)]},
    {"a": [(9, 0, 20)]},
]


def answers(path: Path, transport: str, spark: Any, **expiry: Any) -> list[list[Any]]:
    """The snapshots of all queries after each step; in the middle everything starts again."""
    seen: list[list[Any]] = []
    for some in (STEPS[:2], STEPS[2:]):
        engine = Engine(path, transport=transport, shards=2, spark=spark)
        for name in ("a", "b"):
            engine.execute(STREAM.format(name))
        queries = [engine.query(text, name, **expiry) for name, text in QUERIES.items()]
        run = engine.start(*queries, name="all")
        for fed in some:
            for name, rows in fed.items():
                engine.feed(name, [(item, price, at * S) for item, price, at in rows])
            engine.step()
            seen.append([sorted(query.view.snapshot()) for query in queries])
        run.stop()
    return seen


@pytest.mark.parametrize(
    "expiry",
    [
        {"expiry": "negative"},
        {"expiry": "negative", "join_message": True},
        {"expiry": "piggyback", "join_message": True},
    ],
)
def test_answers_are_those_of_the_default(
    tmp_path: Path, spark: Any, expiry: dict[str, Any]
) -> None:
    expected = answers(tmp_path / "local", "local", None)
    assert answers(tmp_path / "spark", "spark", spark, **expiry) == expected
    assert expected[-1] == [[(None,)], [], []]


def test_late_answers_are_late_alike(tmp_path: Path, spark: Any) -> None:
    expected = answers(tmp_path / "local", "local", None, expiry="input")
    assert answers(tmp_path / "spark", "spark", spark, expiry="input") == expected
    assert expected[-1][0] == [(20,)]
