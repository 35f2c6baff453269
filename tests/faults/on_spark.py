"""Faults in a program on Spark: its processes are killed, its checkpoint and its files are harmed.

The program is that of ``tests/spark/fault_driver.py``, in processes of its own.  Each series kills
or harms it several times, lets it come to its end, and compares all that it has left with what an
undisturbed run has left.

=============  =====================================================================================
driver         the driver is killed at a point of a step, while it starts, or at any moment
executor       an executor of a local cluster is killed
worker         a Python worker is killed in the middle of a task
checkpoint     Spark's checkpoint loses or tears what was never synced, while the program is down
source         a file that was noted is gone, half copied or another one until the next start
=============  =====================================================================================

A program that is refused must say so with a code; the remedy that its hint names must work.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.spark import fault_driver
from tests.spark.files import put
from tests.spark.victim import Left, Victim, left, write_files

STEPS = 14
CLUSTER = "local-cluster[2,1,1024]"
SHARES = (("driver", 14), ("executor", 8), ("worker", 10), ("checkpoint", 10), ("source", 8))
IN_TASKS = ("join", "aggregate", "written", "merge", "scan", "sink")
_CODE = re.compile(r"error\[([a-z-]+)\]")


@dataclass
class Figures:
    """What became of faults."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    happened: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "seed": self.seed,
            "faults": self.faults.total(),
            "by kind": dict(self.faults),
            "codes": dict(self.codes),
            "happened": self.happened,
            "wrong": self.wrong,
        }

    def note(self, kind: str, what: str) -> None:
        """Notes a fault that happened."""
        self.faults[kind] += 1
        self.happened.append(f"{kind}: {what}")


def run(count: int, seed: int, directory: Path, only: str | None = None) -> Figures:
    """Lets so many faults happen, of every kind its share, or all of one kind."""
    figures = Figures(seed)
    shares = [(kind, share) for kind, share in SHARES if only in (None, kind)]
    total = sum(share for _, share in shares)
    for kind, share in shares:
        wanted, done = -(-count * share // total), 0
        for series in range(100):
            if done >= wanted or figures.faults.total() >= count:
                break
            dice = Random(f"{seed}/{kind}/{series}")
            place = directory / f"{kind}-{series}"
            place.mkdir()
            before = figures.faults[kind]
            try:
                _SERIES[kind](place, dice, wanted - done, figures)
                if left(place, fault_driver.NAME) != undisturbed(place):
                    figures.wrong.append(f"{kind}, series {series}: {figures.happened}")
            except AssertionError as error:
                figures.wrong.append(f"{kind}, series {series}: {error}")
            done += figures.faults[kind] - before
            shutil.rmtree(place)
    return figures


def undisturbed(place: Path) -> Left:
    """What the program leaves if nothing happens, over the same files."""
    other = place / "undisturbed"
    other.mkdir()
    for name in ("l", "r"):
        (other / name).symlink_to(place / name)
    with Victim(other) as victim:
        victim.finish()
    return left(other, fault_driver.NAME)


def _drivers(place: Path, dice: Random, wanted: int, figures: Figures) -> None:
    write_files(place, STEPS, dice.randrange(10**6))
    points = [*fault_driver.POINTS, "start", "start", "random", "random"]
    for number in range(min(wanted, STEPS - 3)):
        point = dice.choice(points)
        with Victim(place) as victim:
            if point == "start":
                there = victim.last(dice.uniform(0, 20))
            elif point == "random":
                there = victim.wait(lambda: victim.latest() >= 0) and victim.last(dice.random() * 4)
            else:
                there = victim.reach(point, number - 1)
            if there:
                figures.note("driver", f"killed at {point}, at version {victim.latest()}")
    _finished(place)


def _executors(place: Path, dice: Random, wanted: int, figures: Figures) -> None:
    write_files(place, STEPS, dice.randrange(10**6))
    with Victim(place, CLUSTER) as victim:
        for version in range(0, STEPS - 3, 3)[:wanted]:
            point = dice.choice((*IN_TASKS, "scanned", "frozen"))
            if not victim.reach(point, version):
                break
            victim.kill_executor(other=dice.random() < 0.3)
            figures.note("executor", f"killed at {point}, at version {victim.latest()}")
            victim.disarm()
        victim.finish()


def _workers(place: Path, dice: Random, wanted: int, figures: Figures) -> None:
    write_files(place, STEPS, dice.randrange(10**6))
    with Victim(place, "local[2,4]") as victim:
        for version in range(0, STEPS - 3, 2)[:wanted]:
            point = dice.choice(IN_TASKS)
            if not victim.reach(point, version):
                break
            victim.kill_reached()
            figures.note("worker", f"killed at {point}, at version {victim.latest()}")
            victim.disarm()
        victim.finish()


def _checkpoints(place: Path, dice: Random, wanted: int, figures: Figures) -> None:
    write_files(place, STEPS, dice.randrange(10**6))
    for number in range(min(wanted, 5)):
        with Victim(place) as victim:
            if not victim.reach(dice.choice(("manifest", "ended", "join")), 2 * number):
                break
        harmed = list(_harm(Victim.root_of(place) / "checkpoint", dice))
        figures.note("checkpoint", ", ".join(harmed))
    _finished(place)


def _harm(checkpoint: Path, dice: Random) -> Iterator[str]:
    """Loses or tears the files of the last batch or two, each for itself, and their sums."""
    kinds = ("offsets", "commits", "sources/l", "sources/r")
    numbers = [int(path.name) for path in (checkpoint / "offsets").iterdir() if _numbered(path)]
    for batch in range(max(0, max(numbers) - dice.randint(0, 1)), max(numbers) + 1):
        for kind in kinds:
            path = checkpoint / kind / str(batch)
            if not path.exists() or dice.random() < 0.3:
                continue
            whole = path.read_bytes()
            how = dice.choice(("lost", "empty", "cut", "zeros"))
            path.unlink()
            if how != "lost":
                kept = {"empty": b"", "cut": whole[: len(whole) // 2], "zeros": bytes(len(whole))}
                path.write_bytes(kept[how])
            if dice.random() < 0.5:
                path.with_name(f".{batch}.crc").unlink(missing_ok=True)
            yield f"{kind}/{batch} {how}"


def _numbered(path: Path) -> bool:
    return path.name.isdigit()


def _sources(place: Path, dice: Random, wanted: int, figures: Figures) -> None:
    write_files(place, STEPS, dice.randrange(10**6))
    for number in range(min(wanted, 4)):
        batch = 2 * number + 1
        file = place / dice.choice("lr") / f"{batch:06d}"
        whole = file.read_bytes()
        how = dice.choice(("gone", "half copied", "another one"))
        if how != "gone":
            # It changes after the step that has noted it has ended with its process.
            lines = whole.splitlines(keepends=True)
            _put(file, whole[: len(whole) // 2] if how == "half copied" else b"".join(lines[:-2]))
        with Victim(place) as victim:
            if not victim.reach("scan", batch - 1):
                break
        if how != "gone":
            _put(file, whole)
            figures.note("source", f"{file.name} was {how} when it was noted")
            continue
        file.unlink()
        with Victim(place) as victim:
            assert victim.process.wait() == 1, victim.said
            code = _CODE.findall(victim.said)[-1]
            figures.codes[code] += 1
            assert code == "unreadable-source", victim.said
        # The remedy that the hint names.
        _put(file, whole)
        figures.note("source", f"{file.name} was gone after it was noted")
    _finished(place)


def _put(file: Path, content: bytes) -> None:
    put(file.parent, int(file.name), content)


def _finished(place: Path) -> None:
    with Victim(place) as victim:
        victim.finish()


_SERIES = {
    "driver": _drivers,
    "executor": _executors,
    "worker": _workers,
    "checkpoint": _checkpoints,
    "source": _sources,
}
