"""How far sums drift: rows of very different sizes go in and out of a window, a fresh sum judges.

Most rows are up to 10^15 in size, of either sign; the last ones, which the window holds in the end,
up to 10^3.  So whatever the large ones have left behind in a sum would be seen.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

from ebbtide.bench.data import KEYS, START_MS
from ebbtide.bench.figures import Figure
from ebbtide.bench.plain_spark import SHARDS
from ebbtide.engine.engine import Engine
from ebbtide.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARE, LIMIT = 5, 1e-12
"""So many rows for each one of the other cases; what is asked of the drift."""

FILES, PER_MS, WINDOW_MS, LAST_MS = 10, 2, 30_000, 45_000
"""The last rows come in a file of their own, after all others."""

SUMS = "SELECT k, SUM(v) AS total, AVG(v) AS mean FROM s [RANGE 30 SECONDS] GROUP BY k"


@dataclass(frozen=True)
class DriftRows:
    """Rows in the order of their times, which are in milliseconds since the epoch."""

    key: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    at: npt.NDArray[np.int64]

    def valid(self) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """The values of each key that the window holds in the end."""
        inside = self.at > self.at[-1] - WINDOW_MS
        key, value = self.key[inside], self.value[inside]
        for each in np.unique(key).tolist():
            yield each, value[key == each]


def rows(count: int) -> DriftRows:
    """So many rows, the same for each call."""
    chance = np.random.default_rng(11)
    at = START_MS + np.arange(count, dtype=np.int64) // PER_MS
    largest = np.where(at > at[-1] - LAST_MS, 3.0, 15.0)
    value = 10.0 ** (-3.0 + (largest + 3.0) * chance.random(count))
    return DriftRows(chance.integers(0, KEYS, count), value * chance.choice([-1.0, 1.0], count), at)


def measured(
    spark: SparkSession, work: Path, count: int, say: Callable[[str], None]
) -> Iterator[Figure]:
    """The greatest drift of a key's sum or mean, as a part of what it is a sum of."""
    given = rows(count * SHARE)
    _write(given, work / "drift")
    engine = Engine(work / "drifting", spark=spark, shards=SHARDS)
    engine.execute(
        "CREATE STREAM s (k BIGINT, v DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at)"
        f" FROM FILES '{work / 'drift'}' FORMAT csv"
        " OPTIONS (header 'false', maxFilesPerTrigger '1')"
    )
    query = engine.query(SUMS, name="drift")
    run = query.start(trigger={"availableNow": True})
    run.await_termination()
    run.stop()
    shown = {row.k: (row.total, row.mean) for row in query.snapshot().collect()}
    found = drift(given, shown)
    shutil.rmtree(work / "drifting")
    shutil.rmtree(work / "drift")
    say(f"drift after {len(given.at)} rows: {found:.2g} of the sum of sizes")
    title = (
        f"drift of `SUM` and `AVG` after {len(given.at) / 1e6:.3g} M rows in and out of a window"
    )
    yield Figure("drift", title, found, "of the sum of sizes", limit=LIMIT)


def drift(given: DriftRows, shown: dict[int, tuple[float, float]]) -> float:
    """How far sums and means, by key, are from those that are computed afresh."""
    worst, keys = 0.0, 0
    for key, values in given.valid():
        if key not in shown:
            raise InternalError("wrong-answer", f"key {key} has no sum in the end")
        total, mean = shown[key]
        exact, sizes = math.fsum(values), math.fsum(np.abs(values))
        error = max(abs(total - exact), abs(mean - exact / len(values)) * len(values))
        worst, keys = max(worst, error / sizes), keys + 1
    if keys != len(shown):
        raise InternalError("wrong-answer", f"{len(shown)} keys have sums in the end, not {keys}")
    return worst


def _write(given: DriftRows, path: Path) -> None:
    path.mkdir(parents=True)
    times = pa.array(given.at.astype("datetime64[ms]")).cast(pa.string())
    table = pa.table({"k": given.key, "v": given.value, "at": times})
    last = int(np.searchsorted(given.at, given.at[-1] - LAST_MS, "right"))
    cuts = [*np.linspace(0, last, FILES + 1).astype(int).tolist(), len(given.at)]
    options = pc.WriteOptions(include_header=False, quoting_style="none")
    for number, (first, end) in enumerate(pairwise(cuts)):
        name = path / f"{number:04d}.csv"
        pc.write_csv(table.slice(first, end - first), name, options)
        os.utime(name, (number, number))
