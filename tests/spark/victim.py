"""A program that is disturbed while it runs, and what it leaves behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.spark import fault_driver
from tests.spark.files import as_csv, as_json, put

from ebbtide.engine.query import Query
from ebbtide.store.journal import Journal
from ebbtide.store.record import StepRecord

PATIENCE = 900


def write_files(path: Path, steps: int, seed: int) -> None:
    """The input: a file of each source for every step, with late and malformed rows."""
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
    """The program in a group of processes of its own, which can be killed as one."""

    def __init__(self, data: Path, master: str = "local[2]") -> None:
        self.root = self.root_of(data)
        self.control = data / "control"
        self.control.mkdir(exist_ok=True)
        for name in ("arm", "reached"):
            (self.control / name).unlink(missing_ok=True)
        self.log = data / "log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, fault_driver.__file__, master, str(data), str(self.control)],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @staticmethod
    def root_of(data: Path, place: str = fault_driver.NAME) -> Path:
        """The directory of the query."""
        return data / place / "programs" / fault_driver.NAME

    @property
    def said(self) -> str:
        """What the program has written, the last of it."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-6000:]

    def latest(self) -> int:
        """The last version that is there."""
        names = self.root.glob("state/manifest-*.json")
        return max((int(name.stem.split("-")[1]) for name in names), default=-1)

    def arm(self, point: str) -> None:
        """Lets whoever comes to a point wait there."""
        (self.control / "reached").unlink(missing_ok=True)
        hidden = self.control / ".arm"
        hidden.write_text(point, encoding="utf-8")
        hidden.rename(self.control / "arm")

    def disarm(self) -> None:
        """Lets them go on."""
        (self.control / "arm").unlink()

    def reach(self, point: str, version: int) -> bool:
        """Waits until a process is at a point after a version; False if all ended before."""
        if not self.wait(lambda: self.latest() >= version):
            return False
        self.arm(point)
        return self.wait((self.control / "reached").exists)

    @property
    def reached(self) -> int:
        """The process that waits at the point."""
        return int((self.control / "reached").read_text(encoding="utf-8"))

    def wait(self, until: Callable[[], bool]) -> bool:
        """Waits until something is so; False if the program ended well before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if until():
                return True
            if self.process.poll() is not None:
                assert self.process.returncode == 0, self.said
                return False
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"nothing happens: {self.said}")

    def last(self, seconds: float) -> bool:
        """Waits for so long; False if the program ended well before."""
        end = time.monotonic() + seconds
        return self.wait(lambda: time.monotonic() >= end)

    def kill(self) -> None:
        """Kills the program with Spark, if it is still there."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill_reached(self) -> None:
        """Kills the process that is at the point."""
        os.kill(self.reached, signal.SIGKILL)

    def kill_executor(self, other: bool = False) -> None:
        """Kills the executor that is at the point, or another one, once there are two."""
        assert self.wait(lambda: len(self._processes()[1]) > 1)
        parents, executors = self._processes()
        ancestor = self.reached
        while ancestor not in executors and ancestor in parents:
            ancestor = parents[ancestor]
        chosen = executors - {ancestor} if other or ancestor not in executors else {ancestor}
        os.kill(min(chosen), signal.SIGKILL)

    def finish(self) -> None:
        """Lets the program come to its end."""
        self.wait(lambda: False)

    def _processes(self) -> tuple[dict[int, int], set[int]]:
        """The parents of all processes, and the executors of this program."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
        parents = {int(pid): int(parent) for pid, parent, *_ in rows}
        ours = {self.process.pid}
        while grown := {p for p, parent in parents.items() if parent in ours} - ours:
            ours |= grown
        return parents, {int(p) for p, _, *rest in rows if int(p) in ours and _executes(rest)}


def _executes(args: list[str]) -> bool:
    return any("CoarseGrainedExecutorBackend" in text for text in args)


@dataclass(frozen=True)
class Left:
    """What a query over the files has left behind; equal for runs that did the same.

    The clock is no part of it: nothing here follows it.
    """

    steps: list[Any]
    areas: Any
    lines: dict[str, Any]
    sink: list[list[str]]


def left(data: Path, place: str) -> Left:
    """What is there of a query: its steps, its state, and what its sink has."""
    root = Victim.root_of(data, place)
    steps = [
        (e.version, e.nows, _written(root, e), e.sources, _counts(e))
        for e in Journal(str(root)).entries()
    ]
    latest = Journal(str(root)).latest()
    assert latest is not None
    for name in latest.segments():
        content = (root / "state" / name).read_bytes()
        assert name.endswith(sha256(content).hexdigest()[:32])
    sink = data / place / "files"
    found = [
        _rows(sink, [str(f.relative_to(sink)) for f in (sink / f"step={n}").rglob("*.parquet")])
        for n in range(len(steps))
    ]
    lines = {name: frontier["lines"] for name, frontier in latest.frontiers.items()}
    return Left(steps, latest.areas, lines, found)


def snapshots(query: Query, steps: int) -> list[list[Any]]:
    """What is valid now, and at some instants before."""
    instants = [None, *(second * 10**6 for second in range(5, 4 * steps + 40, max(steps, 16)))]
    return [sorted(query.snapshot(at).collect()) for at in instants]


def _rows(root: Path, files: Sequence[str]) -> list[str]:
    return sorted(
        str(row) for file in files for row in pq.ParquetFile(root / file).read().to_pylist()
    )


def _written(root: Path, record: StepRecord) -> dict[str, list[str]]:
    files = {**record.output, "": record.unused}
    return {name: _rows(root, [str(w.file) for w in files[name]]) for name in files}


def _counts(record: StepRecord) -> dict[str, Any]:
    return {
        name: replace(counts, seconds=0.0, seconds_max=0.0)
        for name, counts in record.operators.items()
    }
