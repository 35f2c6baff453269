"""What a long run costs: the time of a step, a restart and a snapshot, and the number of files.

    python -m tests.long_run --steps 10000 --keep "50 seconds"
    python -m tests.long_run --steps 1000 --keep "50 seconds" --spark

runs a program that is fed by hand and prints the figures after 100 steps and at the end, as JSON.
Every answer that it reads is compared with what was fed.  Times are of the processor, which other
processes do not change, and on Spark, where several processes work, of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any

from ebbtide import Engine
from ebbtide.engine.query import Query

SECOND = 1_000_000
SCRIPT = """CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 1 SECOND)"""
QUERY = "SELECT k, SUM(v) AS total FROM s [RANGE 20 SECONDS] GROUP BY k"
KEYS, ROWS, RANGE = 7, 5, 20
PERIOD = 32
"""Every 16 steps their files are compacted into one.  How many files there are, and the time of
whatever reads them, go up and down with that: a snapshot of the past takes four times as long right
before a compaction as right after one.  So all is measured in each of so many steps: of counts the
most matters, of times the median."""
RESTARTS = 4
"""After every so many of these steps the program is started again."""


@dataclass(frozen=True)
class Figures:
    """Milliseconds, but for the counts."""

    steps: int
    files: int
    bytes: int
    step: float
    restart: float
    snapshot: float
    past: float
    changes: float


def fed(second: int) -> list[tuple[int, int, int]]:
    """The rows of a second."""
    return [((second + i) % KEYS, second + i, second * SECOND) for i in range(ROWS)]


def expected(at: int) -> dict[int, int]:
    """The answer at a second."""
    sums: dict[int, int] = defaultdict(int)
    for second in range(max(0, at - RANGE + 1), at + 1):
        for key, value, _ in fed(second):
            sums[key] += value
    return dict(sums)


class LongRun:
    """A program at work in a location."""

    def __init__(self, location: str, keep: str | None, session: Any = None) -> None:
        self.location, self.keep, self.session = location, keep, session
        self.number = 0
        self.clock = process_time if session is None else perf_counter
        self.engine, self.query = self._started()

    def _started(self) -> tuple[Engine, Query]:
        transport = "local" if self.session is None else "spark"
        engine = Engine(self.location, transport=transport, spark=self.session, shards=2)
        engine.execute(SCRIPT)
        query = engine.query(QUERY, "q")
        query.start(keep_changes=self.keep)
        return engine, query

    def step(self) -> float:
        """One step of one second; its time."""
        self.engine.feed("s", fed(self.number))
        began = self.clock()
        self.engine.step()
        self.number += 1
        return 1000 * (self.clock() - began)

    def restart(self) -> float:
        """Stops the program and starts it again; the time of the start."""
        for run in self.engine._runs.values():
            run.stop()
        began = self.clock()
        self.engine, self.query = self._started()
        return 1000 * (self.clock() - began)

    def snapshot(self, at: int | None = None) -> float:
        """Reads the answer, as it was at a second, and compares it; the time of that."""
        began = self.clock()
        found = self._rows(self.query.snapshot(None if at is None else at * SECOND))
        seconds = self.clock() - began
        answer = {row["k"]: row["total"] for row in found}
        assert answer == expected(self.number - 1 if at is None else at), answer
        return 1000 * seconds

    def changes(self) -> float:
        """Reads the changes of the last few steps; the time of that."""
        began = self.clock()
        found = self._rows(self.query.changes(since=self.number - 10))
        assert {row["step"] for row in found} == set(range(self.number - 9, self.number))
        return 1000 * (self.clock() - began)

    def _rows(self, frame: Any) -> list[dict[str, Any]]:
        table = frame if self.session is None else frame.toArrow()
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows

    def figures(self, steps: int) -> Figures:
        """Goes on until there were so many steps, and measures."""
        while self.number < steps - PERIOD:
            self.step()
        times: list[tuple[float, ...]] = []
        counts: list[tuple[int, int]] = []
        restarts: list[float] = []
        while self.number < steps:
            took = self.step()
            counts.append(measured(self.location))
            times.append((took, self.snapshot(), self.snapshot(self.number - 10), self.changes()))
            if self.number % RESTARTS == 0:
                restarts.append(self.restart())
        step, snapshot, past, changes = (median(column) for column in zip(*times, strict=True))
        files, room = (max(column) for column in zip(*counts, strict=True))
        return Figures(steps, files, room, step, median(restarts), snapshot, past, changes)


def measured(location: str) -> tuple[int, int]:
    """How many files there are, and their bytes."""
    sizes = [os.path.getsize(path) for path in paths(location) if os.path.exists(path)]
    return len(sizes), sum(sizes)


def paths(location: str) -> Iterator[str]:
    """All files but Spark's own."""
    for path, directories, names in os.walk(location):
        if "checkpoint" in directories:
            directories.remove("checkpoint")
        yield from (os.path.join(path, name) for name in names)


def main() -> int:
    """Runs and prints the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--keep")
    parser.add_argument("--spark", action="store_true")
    chosen = parser.parse_args()
    session = None
    if chosen.spark:
        from ebbtide.spark.session import start_spark

        session = start_spark(2, {"spark.log.level": "OFF"})
    with tempfile.TemporaryDirectory() as location:
        run = LongRun(location, chosen.keep, session)
        few, many = run.figures(chosen.first), run.figures(chosen.steps)
        run.engine.stop()
    told = {"keep": chosen.keep, "spark": chosen.spark, "few": asdict(few), "many": asdict(many)}
    json.dump(told, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
