"""Damage to what a program on Spark keeps besides its state: the checkpoint, its copies, the clock.

    python -m tests.faults.checkpoint_fuzz --count 3000 --seed 7

runs a program over files on Spark and keeps its directory as a model.  A trial copies it, damages
one file, and does what a start does before Spark has its turn: it puts the checkpoint right, and
asks which files each of the last batches had, which sources there are, and what the clock was.
That has to be what the undamaged directory says, or an error with a code.  What only Spark reads
(``commits``, ``metadata``, sums) is damaged in ``on_spark``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.byte_fuzz import Figures, asked, damage, judged
from tests.spark.files import as_json, put

from ebbtide.engine.engine import Engine
from ebbtide.errors import EbbtideError
from ebbtide.spark import checkpoint_copy
from ebbtide.spark.batch_files import files_of_batch
from ebbtide.spark.checkpoint import agreed, logs_in_order
from ebbtide.store.clock import Readings

SECOND = 1_000_000
STEPS = 14
NAME = "files"
OURS = ("checkpoint/offsets", "checkpoint/sources/s", "inputs", "clock", "sources.json")


class Anew(Exception):
    """The clock would be read anew."""


def made(spark: Any, place: Path) -> Path:
    """The directory of a program that has taken some files, one a step."""
    for number in range(STEPS):
        put(place / "s", number, as_json(["a", "at"], [(number, number * SECOND)]))
    engine = Engine(place / "location", spark=spark, shards=1, clock=lambda: STEPS * SECOND)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) NOT BEYOND 1 HOUR
          FROM FILES '{place}/s' FORMAT json OPTIONS (maxFilesPerTrigger '1')""")
    query = engine.query("SELECT a FROM s [RANGE 1 HOUR]", NAME)
    query.start(trigger={"availableNow": True}).await_termination()
    engine.stop()
    return Path(engine.root_of(NAME))


def questions(root: str) -> dict[str, Callable[[], Any]]:
    """What a start asks, in turn."""
    last = STEPS - 1

    def clock() -> int | str:
        def anew() -> int:
            raise Anew

        try:
            return Readings(root).of(last, anew)
        except Anew:
            return "anew"

    def batches() -> Any:
        return {batch: files_of_batch(root, batch) for batch in range(last - 3, last + 1)}

    return {
        "clock": clock,
        "restored": lambda: checkpoint_copy.restore(root, NAME, last),
        "sources": lambda: (agreed(root, NAME, {"s": ("s",)}), logs_in_order(root)),
        "files": batches,
        "same": lambda: checkpoint_copy.check_same(root, NAME, last),
    }


def run(model: Path, count: int, seed: int, directory: Path) -> Figures:
    """Makes trials, each from its own seed."""
    place = directory / "place"
    right = asked(questions(str(model)), in_turn=True)
    assert not any(isinstance(answer, EbbtideError) for answer in right.values()), right
    figures = Figures(seed)
    for number in range(count):
        shutil.rmtree(place, ignore_errors=True)
        _copied(model, place)
        random = Random(f"{seed}/{number}")
        how = damage(place, random)
        try:
            found = asked(questions(str(place)), in_turn=True)
        except Exception as error:
            figures.outcomes["uncaught"] += 1
            figures.wrong.append(f"{number} {how}: {error!r}")
            continue
        if found.get("clock") == "anew" and "clock/" in how:
            # A reading that is gone is read anew, by a step that has told nobody anything.
            del found["clock"]
        differing, errors = judged(found, right)
        if differing:
            figures.outcomes["silent difference"] += 1
            figures.wrong.append(f"{number} {how}: {', '.join(differing)}")
        elif errors:
            figures.outcomes["error with a code"] += 1
            figures.codes.update({error.code for error in errors})
        else:
            figures.outcomes["right answer"] += 1
    return figures


def _copied(model: Path, place: Path) -> None:
    """The parts that are damaged here, in files of their own."""
    for part in OURS:
        source, target = model / part, place / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)


def main() -> int:
    """Runs trials and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.checkpoint_fuzz")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    from ebbtide.spark.session import start_spark

    spark = start_spark(2, {"spark.log.level": "OFF"})
    with tempfile.TemporaryDirectory() as directory:
        model = made(spark, Path(directory))
        spark.stop()
        limit = 4 << 30
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        figures = run(model, chosen.count, chosen.seed, Path(directory))
    json.dump(figures.told(), sys.stdout, indent=1)
    sys.stdout.write(os.linesep)
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
