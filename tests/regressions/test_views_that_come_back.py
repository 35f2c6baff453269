"""A view that an evolution removed, and a later one added again, said twice what it had said.

What an older view of its name had said stood in the history for ever: beside the new one, where
the columns were the same, and else as rows that could not be read; what it had left out was shown
by ``errors`` of a query that cannot fail; and journal and logs grew without a bound.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.errors import UnsupportedError
from ebbtide.sinks.memory import Memory
from ebbtide.store import compaction
from ebbtide.store.history import History
from ebbtide.store.program import root_of_program

SECOND = 1_000_000
COUNTS = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k"
SHARES = "SELECT k, 12 / v AS d FROM s [RANGE 1 HOUR]"
WIDE = "SELECT k, v, 12 / v AS d FROM s [RANGE 1 HOUR]"
PLAIN = "SELECT k, CAST(v AS DOUBLE) AS d FROM s [RANGE 1 HOUR]"


class Driver:
    """A program that evolves."""

    def __init__(self, location: Path, **options: Any) -> None:
        self.location, self.options, self.second = location, options, 0

    def declared(self, views: dict[str, str]) -> Engine:
        engine = Engine(self.location, transport="local")
        engine.execute("CREATE STREAM s (k STRING, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
        for name, text in views.items():
            engine.query(text, name=name)
        return engine

    def evolve(self, **views: str) -> Any:
        engine = self.declared(views)
        return engine.evolve(*map(engine.definitions.query, views), name="p")

    def run(self, steps: int, **views: str) -> Engine:
        engine = self.declared(views)
        engine.start(*map(engine.definitions.query, views), name="p", **self.options)
        for _ in range(steps):
            self.second += 1
            engine.feed("s", [("a", self.second % 3, self.second * SECOND)])
            engine.step()
        return engine


def summed(changes: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """How often each row is said for each interval, net."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for change in changes:
        key = tuple(change[name] for name in ("k", "d", "valid_from", "valid_to"))
        counts[key] += change["diff"]
    return Counter({key: count for key, count in counts.items() if count})


def test_it_says_once_what_it_says(tmp_path: Path) -> None:
    sink = Memory()
    driver = Driver(tmp_path, sink={"shares": sink})
    driver.run(3, counts=COUNTS, shares=SHARES).stop()
    driver.options = {}
    assert driver.evolve(counts=COUNTS).removed == ("shares", "shares@errors")
    driver.run(2, counts=COUNTS).stop()
    driver.evolve(counts=COUNTS, shares=SHARES)
    driver.options = {"sink": {"shares": sink}}
    engine = driver.run(2, counts=COUNTS, shares=SHARES)
    shares = engine.definitions.query("shares")
    for second in range(1, 8):
        values = [number % 3 for number in range(1, second + 1)]
        rows = shares.snapshot(second * SECOND).to_pylist()
        assert sorted(row["d"] for row in rows) == sorted(12 / v for v in values if v)
        assert shares.errors(second * SECOND).num_rows == values.count(0)
    assert summed(sink.rows) == summed(shares.changes().to_pylist())
    engine.stop()


def test_other_columns_are_refused_as_long_as_the_history_is_there(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    driver.run(2, counts=COUNTS, shares=SHARES).stop()
    driver.evolve(counts=COUNTS)
    with pytest.raises(UnsupportedError) as caught:
        driver.evolve(counts=COUNTS, shares=WIDE)
    assert caught.value.code == "view-columns-differ"
    assert driver.evolve(counts=COUNTS, wide=WIDE).added == ("wide", "wide@errors")


def test_errors_of_a_query_that_could_fail_before(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    driver.run(3, shares=SHARES).stop()
    driver.evolve(shares=PLAIN)
    engine = driver.run(1, shares=PLAIN)
    for second in range(1, 5):
        assert engine.definitions.query("shares").errors(second * SECOND).num_rows == 0
    engine.stop()


def test_a_view_that_is_gone_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "LOOSE", 2)
    driver = Driver(tmp_path, keep_changes="3 seconds")
    driver.run(6, counts=COUNTS, shares=SHARES).stop()
    driver.evolve(counts=COUNTS)
    driver.run(20, counts=COUNTS).stop()
    history = History.read(root_of_program(str(tmp_path), "p"))
    assert history.dropped > 10
    shares = history.view("shares")
    assert shares.parts == ()
    assert shares.base is not None
    assert shares.base.rows == 0
