"""The join of two streams on a key within five seconds, as the kernel alone.

Load: two streams of ``ROWS`` facts each over an hour, 1000 keys, in order of time or up to two
seconds out of order.  Run: ``STEPS`` steps on one core, the state in memory.  Expected answer: the
pairs with equal keys less than five seconds apart, counted without any kernel.

    python benchmarks/join_kernel.py [--rows 1000000] [--steps 20]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import HOUR, INF, NEG_INF, SECOND
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.kernel import Times
from ebbtide.kernels.operators.join import Join
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, batch_schema, with_times
from ebbtide.state.columns import ints
from ebbtide.state.keep import ended_by

KEYS = 1000
WITHIN = 5 * SECOND
FACTS = batch_schema([pa.int64(), pa.int64(), pa.float64()])


@dataclass(frozen=True)
class Load:
    """A stream: its facts in order of arrival."""

    keys: Any
    times: Any
    batch: Any


def load(seed: int, rows: int, disorder_us: int) -> Load:
    """A stream made at random."""
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, HOUR, rows))
    arrival = np.argsort(times + random.integers(0, disorder_us + 1, rows), kind="stable")
    keys, values = random.integers(0, KEYS, rows), random.random(rows)
    always = np.full(rows, NEG_INF), np.full(rows, INF), np.ones(rows, np.int64)
    columns = [keys[arrival], times[arrival], values[arrival], *always]
    return Load(*columns[:2], pa.Table.from_arrays(list(map(pa.array, columns)), schema=FACTS))


def expected(left: Load, right: Load) -> int:
    """How many pairs there are: for each left fact the right ones around it, by bisection."""
    key = np.int64(2 * (HOUR + WITHIN))
    places = np.sort(right.keys * key + right.times)
    around = left.keys * key + left.times
    first = np.searchsorted(places, around - WITHIN, "right")
    last = np.searchsorted(places, around + WITHIN, "left")
    return int((last - first).sum())


@dataclass(frozen=True)
class Outcome:
    """What a run gave, what it took, and the most rows of state after a step."""

    pairs: int
    seconds: float
    cpu_seconds: float
    state_rows: int


def windowed(facts: Any) -> Any:
    """The facts under ``[RANGE 5 SECONDS]``."""
    times = ints(facts, "c1")
    return with_times(facts, times, times + WITHIN, ints(facts, DIFF))


def run(left: Load, right: Load, steps: int, delay_us: int) -> Outcome:
    """The join of the facts under their windows, step by step."""
    join = Join(Condition((0,), (0,)))
    areas = tuple(SweepArea(layout) for layout in join.areas((FACTS, FACTS)))
    before, pairs, most = NEG_INF, 0, 0
    cuts = np.linspace(0, left.batch.num_rows, steps + 1).astype(int).tolist()
    began, cpu = time.perf_counter(), time.process_time()
    for first, last in pairwise(cuts):
        inputs = [side.batch.slice(first, last - first) for side in (left, right)]
        newest = [int(side.times[:last].max()) for side in (left, right)]
        now, keeps = max(before, *newest), [ended_by(t - delay_us - 1) for t in newest]
        changes = tuple(map(windowed, inputs))
        result = join.step(changes, areas, Times(before, now, (keeps[1], keeps[0])))
        areas, before = result.areas, now
        pairs += result.changes.num_rows
        most = max(most, sum(area.rows for area in areas))
    return Outcome(pairs, time.perf_counter() - began, time.process_time() - cpu, most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    run(load(1, 1000, 0), load(2, 1000, 0), 2, 0)  # compiles
    for name, disorder_us in (("in order", 0), ("out of order", 2 * SECOND)):
        left, right = (load(seed, options.rows, disorder_us) for seed in (1, 2))
        found = run(left, right, options.steps, disorder_us)
        assert found.pairs == expected(left, right), (found.pairs, expected(left, right))
        record = {
            "benchmark": "join_kernel",
            "input": name,
            "rows": 2 * options.rows,
            "steps": options.steps,
            **asdict(found),
            "rows_per_second": round(2 * options.rows / found.seconds),
            "rows_per_cpu_second": round(2 * options.rows / found.cpu_seconds),
            "machine": platform.machine(),
        }
        sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
