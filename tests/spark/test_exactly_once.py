"""Exactly once: a query that is killed again and again leaves what an undisturbed one leaves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.spark import crash_driver
from tests.spark.files import as_csv, as_json, put

from ebbtide.config import Config
from ebbtide.runtime.claim import Claim
from ebbtide.runtime.engine import Engine
from ebbtide.runtime.journal import Journal

LONG = Config.from_environment().profile == "long"
POINTS = ("kernel", "manifest", "merge", "written", "uncommitted", "random")
KILLS = 20 if LONG else 3
STEPS = 24 if LONG else 8
PATIENCE = 300


def write_files(path: Path, steps: int, seed: int) -> None:
    rng = random.Random(seed)
    for step in range(steps):
        low = 4 * step
        l_rows, r_rows = (
            [(rng.randint(0, 3), rng.randint(0, 3), rng.randint(low, low + 40) * 10**6)
             for _ in range(12)]
            for _ in range(2)
        )  # fmt: skip
        if step > 2:
            l_rows.append((1, 1, (low - 12) * 10**6))
        put(path / "l", step, as_json(["a", "b", "at"], l_rows, "{broken"))
        put(path / "r", step, as_csv(["a", "c", "at"], r_rows, "1,x,1970-01-01 00:00:00"))


class Victim:
    """The program in a group of processes of its own, which is killed as one."""

    def __init__(self, data: Path) -> None:
        self.root = Path(data, "killed", "queries", crash_driver.NAME)
        self.control = data / "control"
        self.control.mkdir(exist_ok=True)
        for name in ("arm", "reached"):
            (self.control / name).unlink(missing_ok=True)
        self.log = open(data / "log", "ab")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, crash_driver.__file__, str(data), str(self.control)],
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def latest(self) -> int:
        """The last version that is there."""
        names = self.root.glob("state/manifest-*.json")
        return max((int(name.stem.split("-")[1]) for name in names), default=-1)

    def arm(self, point: str) -> None:
        hidden = self.control / ".arm"
        hidden.write_text(point, encoding="utf-8")
        hidden.rename(self.control / "arm")

    def kill_at(self, point: str, version: int, rng: random.Random) -> bool:
        """Kills the program at a point after a version; False if it ended before."""
        if not self.wait(lambda: self.latest() >= version):
            return False
        if point == "random":
            pause = rng.uniform(0, 2)
            end = time.monotonic() + pause
            ran = self.wait(lambda: time.monotonic() >= end)
        else:
            self.arm(point)
            ran = self.wait(lambda: (self.control / "reached").exists())
        if ran:
            self.kill()
        return ran

    def wait(self, until: Any) -> bool:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if until():
                return True
            if self.process.poll() is not None:
                assert self.process.returncode == 0, Path(self.log.name).read_text()
                return False
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"nothing happens: {Path(self.log.name).read_text()[-3000:]}")

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def finish(self) -> None:
        """Lets the program come to its end."""
        self.wait(lambda: False)
        self.log.close()


def contents(root: Path, files: Sequence[str]) -> list[str]:
    return sorted(str(row) for file in files for row in pq.read_table(root / file).to_pylist())


def history(root: Path) -> list[Any]:
    return [
        (e.version, e.now, contents(root, e.output), contents(root, e.unused))
        for e in Journal(str(root)).entries()
    ]


def test_a_query_that_is_killed_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path, STEPS, seed=7)
    calm = Engine(tmp_path / "calm", spark=spark, shards=2)
    calm_run = crash_driver.run(calm, str(tmp_path))
    calm.stop()
    rng = random.Random(11)
    killed = 0
    for number in range(KILLS):
        victim = Victim(tmp_path)
        version = number * STEPS // KILLS - (0 if number else 1)
        killed += victim.kill_at(POINTS[number % len(POINTS)], version, rng)
    assert killed >= KILLS - (2 if LONG else 0)
    last = Victim(tmp_path)
    last.finish()
    root = last.root
    assert [step[0] for step in history(root)] == list(range(STEPS))
    assert history(root) == history(Path(calm_run.root))
    ours, theirs = (Journal(str(path)).latest() for path in (root, calm_run.root))
    assert ours is not None
    assert theirs is not None
    assert ours.areas == theirs.areas
    assert ours.frontiers == theirs.frontiers
    for name in ours.segments():
        assert (root / "state" / name).exists()
    for step in range(STEPS):
        found = [
            sorted(str(r) for f in path.glob("*.parquet") for r in pq.read_table(f).to_pylist())
            for path in (
                tmp_path / place / "files" / f"step={step}" for place in ("killed", "calm")
            )
        ]
        assert found[0] == found[1]
    claim = Claim(str(root), crash_driver.NAME)
    # All that is left over was written and merged again within the last step.
    assert {name.split("-")[2] for name in claim.sweep()} <= {str(STEPS - 1)}
    assert claim.sweep() == set()
    claim.release()
