"""Times `ebbtide run` on ten rows, from its start to its answer, part by part.

    python scripts/startup.py
    python scripts/startup.py --runs 5 --json startup.json

A file of ten rows is read by a process of its own, again and again, each time by a program that has
never run.  The process is the command itself; what it does is timed from outside, by functions that
stand around its own.  Medians are shown, of the time and of what processors have worked for it
meanwhile, and the load of the machine before each run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from compileall import compile_dir
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from math import nan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import ebbtide
from ebbtide.bench.processor import processor_seconds

SCRIPT = """
CREATE STREAM bids (item BIGINT, price DOUBLE, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) FROM FILES '{rows}' FORMAT json;
SELECT item, COUNT(*) AS bids, AVG(price) AS mean FROM bids [RANGE 10 MINUTES] GROUP BY item;
"""
ROWS = 10

PROBES = {
    "Java's version": "ebbtide.spark.session:check_java",
    "JVM": "ebbtide.spark.session:launch",
    "Spark": "ebbtide.spark.session:start_spark",
    "kernels": "ebbtide.engine.warming:warm",
    "workers": "ebbtide.spark.worker_warming:_try",
    "program": "ebbtide.cli.script_run:ScriptRun._started",
    "batch": "ebbtide.spark.run:SparkRun._batch",
    "job 1": "ebbtide.spark.transport:SparkTransport.enter",
    "job 2": "ebbtide.spark.transport:SparkEntered.run",
    "answer": "ebbtide.cli.run:_results",
}
"""What is timed, by its name: a function, or a method, of a module."""

PARTS = (
    ("Python, imports and SQL", "began", "Spark begins"),
    ("the JVM", "Spark begins", "JVM ends"),
    ("the session of Spark", "JVM ends", "Spark ends"),
    ("waiting for kernels", "Spark ends", "program begins"),
    ("starting the program", "program begins", "program ends"),
    ("the first trigger", "program ends", "batch begins"),
    ("preparing the step", "batch begins", "job 1 begins"),
    ("job 1: files, judging, exchange", "job 1 begins", "job 1 ends"),
    ("job 2: kernels", "job 1 ends", "job 2 ends"),
    ("commit", "job 2 ends", "batch ends"),
    ("ending Spark, the answer", "batch ends", "answer ends"),
)
"""The parts, each from one moment to another."""

STEP = ("from Spark being up to the first answer", "program begins", "batch ends")
WHOLE = ("from `ebbtide run` to the first answer", "began", "batch ends")


def main() -> None:
    """Runs the command several times, and shows medians."""
    asked = argparse.ArgumentParser(description="Times `ebbtide run` on ten rows.")
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--json", help="write all figures there")
    chosen = asked.parse_args()
    # As an installer does: a process that may not write what it compiled does it again each time.
    compile_dir(os.path.dirname(ebbtide.__file__), quiet=1)
    runs = [_run() for _ in range(chosen.runs)]
    for name, begin, end in (*PARTS, STEP, WHOLE):
        taken = [run[end] - run[begin] for run in runs]
        work = [run.get(f"work, {end}", nan) - run.get(f"work, {begin}", nan) for run in runs]
        each = ", ".join(f"{t:.2f}" for t in taken)
        print(f"{median(taken):7.2f} s {median(work):7.2f} s  {name:42} ({each})")
    for beside in ("kernels", "workers"):
        spans = [(run.get(f"{beside} begins"), run.get(f"{beside} ends")) for run in runs]
        print(f"{beside}, beside the rest: {spans}")
    print(f"load before the runs: {', '.join(str(run['load']) for run in runs)}")
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


def _run() -> dict[str, float]:
    """The moments of one run, in seconds from its start."""
    with TemporaryDirectory(prefix="startup-") as directory:
        rows, script = Path(directory, "rows"), Path(directory, "bids.sql")
        rows.mkdir()
        lines = (
            json.dumps({"item": i % 3, "price": i + 0.5, "at": f"2026-01-01 00:00:{i:02d}"})
            for i in range(ROWS)
        )
        (rows / "ten.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
        script.write_text(SCRIPT.format(rows=rows), encoding="utf-8")
        moments = Path(directory, "moments.json")
        command = ["run", str(script), "--until-caught-up", "--location", f"{directory}/ebbtide"]
        load, began = os.getloadavg()[0], time.time()
        subprocess.run(
            [sys.executable, __file__, "--child", str(moments), *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        found = json.loads(moments.read_text(encoding="utf-8"))
        times = {name: at - began for name, at in found["times"].items()}
        work = {f"work, {name}": done for name, done in found["work"].items() if done is not None}
        return {"load": load, "began": 0.0, "work, began": 0.0} | times | work


def child(moments: str, arguments: list[str]) -> None:
    """The command, with functions around some of its own that note when they begin and end."""
    watch = Watch()
    sys.meta_path.insert(0, watch)
    from ebbtide.cli.app import main as command

    try:
        command(arguments)
    finally:
        noted = {"times": watch.moments, "work": watch.work}
        Path(moments).write_text(json.dumps(noted), encoding="utf-8")


class Watch(MetaPathFinder):
    """Finds the modules of the probes as Python does, and times their functions once they are
    loaded."""

    def __init__(self) -> None:
        self.moments: dict[str, float] = {}
        self.work: dict[str, float | None] = {}
        self.probes: dict[str, list[tuple[str, str]]] = {}
        for name, place in PROBES.items():
            module, _, path = place.partition(":")
            self.probes.setdefault(module, []).append((name, path))

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The module, if there are probes in it; others are found by others."""
        spec = PathFinder.find_spec(name, path, target) if name in self.probes else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def loaded(module: Any) -> None:
            load(module)
            for probe, function in self.probes[name]:
                self._surround(module, function, probe)

        spec.loader.exec_module = loaded  # type: ignore[method-assign]
        return spec

    def _note(self, moment: str) -> None:
        """Notes the time of a moment, the first time that it comes, and the work done until it."""
        if moment not in self.moments:
            self.moments[moment] = time.time()
            self.work[moment] = processor_seconds(os.getpid())

    def _surround(self, owner: Any, path: str, name: str) -> None:
        *owners, last = path.split(".")
        for part in owners:
            owner = getattr(owner, part)
        function = getattr(owner, last)

        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            self._note(f"{name} begins")
            try:
                return function(*arguments, **options)
            finally:
                self._note(f"{name} ends")

        setattr(owner, last, timed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    else:
        main()
