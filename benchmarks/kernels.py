"""How fast the aggregation kernel is, alone: rows per second through whole steps, state included.

AVG and MAX over `[RANGE 5 MINUTES]` per key, 1000 keys, in steps of 100 000 rows, state in files.
In order, and with rows up to 5 s late.  Prints one JSON object per run, and checks the answer of
the last step against a plain computation; it never checks the time.

    python benchmarks/kernels.py [AVG|MAX ...] [--steps N]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.algebra.aggregates import aggregate
from ebbtide.core.time import MINUTE, NEG_INF, SECOND
from ebbtide.core.types import DOUBLE
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.kernel import Times
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.keep import ended_by
from ebbtide.state.store import DirectoryStore, WriteScope

ROWS, KEYS, WINDOW, STEP = 100_000, 1000, 5 * MINUTE, MINUTE
SCHEMA = batch_schema([pa.int64(), pa.float64()])


def batch(chance: np.random.Generator, step: int, late_us: int) -> Any:
    """The rows of one step: a minute's, each up to `late_us` before its place."""
    at = np.sort(chance.integers(step * STEP, (step + 1) * STEP, ROWS))
    at -= chance.integers(0, late_us + 1, ROWS)
    columns = [chance.integers(0, KEYS, ROWS), chance.integers(0, 10_000, ROWS) / 8.0]
    columns += [at, at + WINDOW, np.ones(ROWS, np.int64)]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


def run(function: str, late_us: int, steps: int) -> dict[str, Any]:
    """Takes the kernel through some steps; the first ones fill the window and are not timed."""
    fold = aggregate(function, (DOUBLE,)).fold
    kernel = Aggregate((0,), (Call(function, (1,), pa.float64(), fold),))
    chance = np.random.default_rng(1)
    wall, processor, before, rows = [], [], NEG_INF, []
    with tempfile.TemporaryDirectory() as directory:
        store = DirectoryStore(directory)
        areas = tuple(SweepArea(layout) for layout in kernel.areas((SCHEMA,)))
        for step in range(steps):
            changes = batch(chance, step, late_us)
            rows.append(changes)
            now = int(changes.column("valid_from").to_numpy().max())
            scoped = tuple(area.at(WriteScope(store, "aggregate", 0, step)) for area in areas)
            start = time.perf_counter(), time.thread_time()
            keep = ended_by(now - late_us - 1)
            times = Times(before, now, (keep,), output=keep)
            result = kernel.step((changes,), scoped, times)
            wall.append(time.perf_counter() - start[0])
            processor.append(time.thread_time() - start[1])
            used = {segment.name for area in result.areas for segment in area.segments}
            store.delete(store.names() - used)
            areas, before = result.areas, now
        check(function, areas[1], rows, before)
        size = sum(area.bytes for area in areas)
    timed = slice(steps // 2, None)
    return {
        "benchmark": f"{function} over 5 minutes, {KEYS} keys",
        "late_seconds": late_us / SECOND,
        "rows_per_step": ROWS,
        "live_rows": areas[0].rows,
        "state_bytes": size,
        "rows_per_second": round(ROWS / float(np.median(wall[timed]))),
        "rows_per_processor_second": round(ROWS / float(np.median(processor[timed]))),
        "rows_per_processor_second_at_best": round(ROWS / float(np.min(processor[timed]))),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }


def check(function: str, output: SweepArea, rows: list[Any], now: int) -> None:
    """The rows that stand at `now` are those of a plain computation."""
    table = pa.concat_tables(rows)
    live = table.filter(pa.compute.greater(table["valid_to"], now))
    name = {"AVG": "mean", "MAX": "max", "MIN": "min", "SUM": "sum"}[function]
    wanted = live.group_by("c0").aggregate([("c1", name)]).sort_by("c0")
    found = output.query(None, now, now + 1)
    net = found.group_by(["c0", "c1"]).aggregate([("diff", "sum")])
    net = net.filter(pa.compute.not_equal(net["diff_sum"], 0)).sort_by("c0")
    assert net["c0"].to_pylist() == wanted["c0"].to_pylist()
    assert np.allclose(net["c1"].to_numpy(), wanted[f"c1_{name}"].to_numpy(), rtol=1e-12)


def main() -> None:
    """Reads the command line and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", default=["AVG", "MAX"])
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    for function in options.functions:
        for late_us in (0, 5 * SECOND):
            sys.stdout.write(json.dumps(run(function, late_us, options.steps)) + "\n")


if __name__ == "__main__":
    main()
