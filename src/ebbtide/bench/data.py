"""What is measured on: readings of keys in order of time, some of them a little late, as CSV.

A row or some a millisecond, each up to a second before its place; the same for the same seed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pc

KEYS = 1000
LATE_MS = 1000
START_MS = int(np.datetime64("2026-01-01T00:00:00", "ms").astype(np.int64))


@dataclass(frozen=True)
class ReadingFiles:
    """A directory of files, and what is in them; ``at`` is in milliseconds since the epoch.

    In ``apart`` are the same rows in two files, every other row in one, for whoever reads files
    side by side and in any order: read so, no row is late.
    """

    path: Path
    apart: Path
    files: int
    key: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    at: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.at)

    def first(self, files: int) -> ReadingFiles:
        """The rows of the first files alone."""
        rows = len(self) // self.files * files
        mine = self.key[:rows], self.value[:rows], self.at[:rows]
        return ReadingFiles(self.path, self.apart, files, *mine)


def readings(
    path: Path, seed: int, rows: int, files: int, per_ms: int = 1, keys: int = KEYS
) -> ReadingFiles:
    """Makes the files, and gives what is in them."""
    chance = np.random.default_rng(seed)
    place = np.arange(rows, dtype=np.int64) // per_ms
    at = np.maximum(0, place - chance.integers(0, LATE_MS + 1, rows)) + START_MS
    key = chance.integers(0, keys, rows)
    value = np.round(chance.random(rows) * 100, 3)
    apart = path.with_name(f"{path.name}-apart")
    times = pa.array(at.astype("datetime64[ms]")).cast(pa.string())
    table = pa.table({"k": key, "v": value, "at": times})
    part = rows // files
    written(path, [table.slice(number * part, part) for number in range(files)])
    written(apart, [table.take(pa.array(np.arange(first, rows, 2))) for first in (0, 1)])
    return ReadingFiles(path, apart, files, key, value, at)


def written(path: Path, parts: list[pa.Table]) -> None:
    """Writes files of CSV, the oldest first."""
    path.mkdir(parents=True, exist_ok=True)
    options = pc.WriteOptions(include_header=False, quoting_style="none")
    for number, part in enumerate(parts):
        name = path / f"{number:04d}.csv"
        pc.write_csv(part, name, options)
        # Sources of files take the oldest first.
        os.utime(name, (number, number))
