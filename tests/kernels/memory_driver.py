"""A process that takes a kernel through steps on a state that another process has left behind.

    python memory_driver.py build|step DIRECTORY KERNEL LIVE STEPS

``build`` leaves a state of so many live rows.  ``step`` goes on from there, and prints as JSON
what this process holds of its own, after some steps, at least from then on, and in the end, and
what was stored, in KiB; and how many segments there are in the end and how many files are open.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))  # for a program of its own

from ebbtide.core.folds import Fold
from ebbtide.core.time import NEG_INF
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.operators.join import Join
from ebbtide.state import store as opening
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.store import DirectoryStore, WriteScope
from kernels.rules import times_of

SCHEMA = batch_schema([pa.int64(), pa.float64()])
WINDOW, PARTS, CHANGES, SETTLED = 1_000_000, 20, 2500, 30
KERNELS: dict[str, tuple[Kernel, int]] = {
    "average": (Aggregate((0,), (Call("AVG", (1,), pa.float64(), Fold.ACCUMULATOR),)), 1),
    "greatest": (Aggregate((0,), (Call("MAX", (1,), pa.float64(), Fold.EXTREME),)), 1),
    "join": (Join(Condition((0,), (0,))), 2),
}


def rows(chance: np.random.Generator, count: int, keys: int, start: int, end: int) -> Any:
    """Rows of some keys, as a window shows them."""
    at = np.sort(chance.integers(start, end, count))
    columns = [chance.integers(0, keys, count), chance.random(count), at, at + WINDOW]
    columns.append(np.ones(count, np.int64))
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


class Stepping:
    """A kernel on state in a directory; what a step no longer uses is removed after it."""

    def __init__(self, directory: str, name: str, described: Any = None) -> None:
        self.store = DirectoryStore(directory)
        self.kernel, self.inputs = KERNELS[name]
        layouts = self.kernel.areas((SCHEMA,) * self.inputs)
        self.areas = tuple(
            SweepArea.restore(layout, segments, WriteScope(self.store))
            for layout, segments in zip(layouts, described or [[] for _ in layouts], strict=True)
        )
        self.before, self.version = NEG_INF, 0

    def step(self, parts: tuple[Any, ...], now: int) -> None:
        scope = WriteScope(self.store, "op", 0, self.version)
        areas = tuple(area.at(scope) for area in self.areas)
        times = times_of(self.kernel, self.before, now, (now - 1000,) * self.inputs)
        self.areas = self.kernel.step(parts, areas, times).areas
        used = {segment.name for area in self.areas for segment in area.segments}
        self.store.delete(self.store.names() - used)
        self.before, self.version = now, self.version + 1


def build(directory: Path, name: str, live: int) -> None:
    """Leaves a window full of rows of many keys."""
    chance = np.random.default_rng(1)
    stepping = Stepping(str(directory / "state"), name)
    for part in range(PARTS):
        start, end = part * WINDOW // PARTS, (part + 1) * WINDOW // PARTS
        new = tuple(
            rows(chance, live // PARTS // stepping.inputs, live // 4, start, end)
            for _ in range(stepping.inputs)
        )
        stepping.step(new, end)
    left = [stepping.before, stepping.version, [area.describe() for area in stepping.areas]]
    (directory / "left.json").write_text(json.dumps(left))


def step(directory: Path, name: str, live: int, steps: int) -> dict[str, int]:
    """Goes on, with as many rows that come in a step as go."""
    chance = np.random.default_rng(2)
    before, version, described = json.loads((directory / "left.json").read_text())
    stepping = Stepping(str(directory / "state"), name, described)
    stepping.before, stepping.version = before, version
    stored = sum(area.bytes for area in stepping.areas)
    stride, memory = WINDOW * CHANGES // live, []
    for _ in range(steps):
        start, end = stepping.before, stepping.before + stride
        count = CHANGES // stepping.inputs
        new = tuple(rows(chance, count, live // 4, start, end) for _ in range(stepping.inputs))
        stepping.step(new, end)
        memory.append(own_memory())
    return {
        "settled": memory[SETTLED],
        "least": min(memory[SETTLED:]),
        "end": memory[-1],
        "stored": stored // 1024,
        "segments": sum(len(area.segments) for area in stepping.areas),
        "opened": len(opening._OPENED.files),
    }


def own_memory() -> int:
    """What this process holds beside mapped files, in KiB, without what is free inside of it."""
    pa.default_memory_pool().release_unused()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0])


def main() -> None:
    """Reads the command line."""
    mode, directory, name, live, steps = sys.argv[1:]
    if mode == "build":
        build(Path(directory), name, int(live))
    else:
        sys.stdout.write(json.dumps(step(Path(directory), name, int(live), int(steps))))


if __name__ == "__main__":
    main()
