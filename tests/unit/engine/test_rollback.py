"""Going back to an earlier step: state, answers and unused rows are those after it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.change import Change, consolidate
from ebbtide.engine.query import Query
from ebbtide.engine.rollback import rollback
from ebbtide.engine.verification import verify
from ebbtide.errors import QueryError, StateError
from ebbtide.sinks.memory import Memory
from ebbtide.store import compaction
from ebbtide.store.journal import Journal

SECOND = 1_000_000
SCRIPT = """
CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND);
CREATE STREAM u (k BIGINT, at TIMESTAMP, PRIMARY KEY (k), PROGRESS FOR at AS at);
"""
QUERIES = {
    "sums": "SELECT k, SUM(v) AS t FROM s [RANGE 9 SECONDS] GROUP BY k",
    "both": "SELECT s.k, s.v FROM s [RANGE 3 SECONDS] JOIN u [RANGE 5 SECONDS] ON s.k = u.k",
    "last": "SELECT k, v FROM s [ROWS 2] EMIT CHANGES WITH FINALITY",
}


class Driver:
    """A program at work, and the rows that it was fed."""

    def __init__(self, location: Path, **options: Any) -> None:
        self.location, self.options = location, {"keep_versions": 8, **options}
        self.start()

    def start(self) -> None:
        self.engine = Engine(self.location, transport="local", shards=2)
        self.engine.execute(SCRIPT)
        self.queries = [self.engine.query(sql, name) for name, sql in QUERIES.items()]
        self.engine.start(*self.queries, name="p", **self.options)

    def feed(self, second: int) -> None:
        rows = [((second + i) % 3, second * 10 + i, second * SECOND) for i in range(3)]
        # One that is late however the others are cut into steps.
        self.engine.feed("s", [*rows, (7, 7, (second - 60) * SECOND)])
        self.engine.feed("u", [(second, second * SECOND), (None, second * SECOND)])

    def step(self, second: int) -> None:
        self.feed(second)
        self.engine.step()

    def said(self) -> dict[str, Any]:
        """All that can be read of now."""
        found: dict[str, Any] = {q.name: rows(q.snapshot()) for q in self.queries}
        for query in self.queries:
            found[f"sum of {query.name}"] = summed(query)
        for source in ("s", "u"):
            late = self.engine.late(source).select(["reason", "row", "op"])
            found[f"late {source}"] = rows(late)
        return found

    def back(self, to: int, **options: Any) -> None:
        self.engine.stop()
        rollback(str(self.location), "p", to, **options)


def rows(table: Any) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def summed(query: Query) -> dict[str, int]:
    """The sum of all changes at now."""
    now, counts = query.view.now(), {}
    for _, change in query.view.changes():
        if change.valid_from <= now < change.valid_to:
            counts[str(change.row)] = counts.get(str(change.row), 0) + change.diff
    return {row: count for row, count in counts.items() if count}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loose", [2, 16])
def test_it_is_as_it_was_and_then_as_it_would_be(
    tmp_path: Path, seed: int, loose: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "LOOSE", loose)
    random = Random(seed)
    driver, straight = Driver(tmp_path / "back"), Driver(tmp_path / "straight")
    after = {}
    for second in range(12):
        driver.step(second)
        straight.step(second)
        after[second] = driver.said()
    to = random.randrange(4, 11)
    driver.back(to)
    driver.start()
    assert driver.said() == after[to]
    assert Journal(driver.queries[0].view.root).latest().version == 12  # type: ignore[union-attr]
    # What was fed is read again, in one step, with what came meanwhile.
    driver.step(12)
    straight.step(12)
    assert driver.said() == straight.said()
    if random.random() < 0.5:
        driver.back(12)  # the rollback itself may be gone back to
        driver.start()
        assert driver.said() == after[to]
        driver.engine.step()
        assert driver.said() == straight.said()
    for second in range(13, 16):
        driver.step(second)
        straight.step(second)
        assert driver.said() == straight.said()
    assert not [error for part in verify(str(driver.location)) for error in part.wrong]
    driver.engine.stop()
    straight.engine.stop()


def test_a_wild_row_is_left_unused(tmp_path: Path) -> None:
    """A row of the far future makes all others late, until its step is gone back behind."""
    driver, straight = Driver(tmp_path / "back"), Driver(tmp_path / "straight")
    for second in range(3):
        driver.step(second)
        straight.step(second)
    driver.engine.feed("s", [(1, 1, "9999-01-01 00:00:00")])
    driver.engine.step()
    driver.back(2, leave_unused=True)
    driver.start()
    for second in range(3, 6):
        driver.step(second)
        straight.step(second)
    found, expected = driver.said(), straight.said()
    wild = [row for row in found["late s"] if "rolled-back" in row]
    assert len(wild) == 1
    assert "9999-01-01" in wild[0]
    found["late s"].remove(wild[0])
    assert found == expected
    driver.engine.stop()
    straight.engine.stop()


def test_sinks_are_told(tmp_path: Path) -> None:
    memory = Memory()
    driver = Driver(tmp_path, sink={"sums": memory})
    for second in range(5):
        driver.step(second)
    driver.back(2)
    driver.options["sink"] = {"sums": memory}
    driver.start()
    assert sorted(memory.steps) == [0, 1, 2, 3, 4, 5]

    def told(steps: range) -> tuple[Change, ...]:
        """The sum of what the sink got in some steps."""
        found = [row for step in steps for row in memory.steps[step]]
        return consolidate(
            Change((row["k"], row["t"]), micros(row["valid_from"]), micros(row["valid_to"]), n)
            for row in found
            for n in (row["diff"],)
        )

    assert told(range(6)) == told(range(3))
    driver.engine.stop()


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


class Killed(BaseException):
    """The process is gone."""


def test_a_rollback_happens_or_does_not(tmp_path: Path) -> None:
    driver = Driver(tmp_path)
    after = {}
    for second in range(8):
        driver.step(second)
        after[second] = driver.said()
    driver.engine.stop()
    outcomes = set()
    for point in range(40):
        left = [point]

        def counting(real: Any, left: list[int] = left) -> Any:
            def call(*given: Any, **named: Any) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return real(*given, **named)

            return call

        with pytest.MonkeyPatch.context() as patch:
            for name in ("replace", "fsync", "unlink"):
                patch.setattr(os, name, counting(getattr(os, name)))
            with suppress(Killed):
                rollback(str(tmp_path), "sums", 5)
        driver.start()
        latest = Journal(driver.queries[0].view.root).latest()
        assert latest is not None
        assert driver.said() == after[7 if latest.version == 7 else 5]
        outcomes.add(latest.version)
        driver.engine.stop()
        if latest.version > 7:
            break
    assert outcomes == {7, 8}
    driver.start()
    driver.engine.step()
    found = driver.said()
    assert found == after[7]
    driver.engine.stop()


def test_what_cannot_be_gone_back_to_is_told(tmp_path: Path) -> None:
    driver = Driver(tmp_path, keep_versions=3)
    for second in range(6):
        driver.step(second)
    with pytest.raises(StateError) as caught:
        rollback(str(tmp_path), "p", 4)
    assert caught.value.code == "state-in-use"
    driver.engine.stop()
    for to in (1, 5, 9):
        with pytest.raises(QueryError) as refused:
            rollback(str(tmp_path), "p", to)
        assert refused.value.code == "no-version"
        assert refused.value.detail == "it can go back to: 2, 3, 4"
    with pytest.raises(QueryError, match="no query"):
        rollback(str(tmp_path), "nobody", 4)
    said = rollback(str(tmp_path), "SUMS", 2, dry_run=True)
    assert (said.latest, said.to, said.step) == (5, 2, 6)
    assert said.taken_back["sums"] > 0
    assert Journal(driver.queries[0].view.root).latest().version == 5  # type: ignore[union-attr]
