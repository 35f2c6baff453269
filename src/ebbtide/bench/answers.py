"""What the right answers are, computed plainly with NumPy from all rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ebbtide.bench.data import KEYS, ReadingFiles

MINUTE_MS = 60_000
WINDOW_MS = 5 * MINUTE_MS
BAND_MS = 5000

Answer: TypeAlias = Mapping[int, float]
"""A number for each key."""


def means(rows: ReadingFiles, at: int) -> Answer:
    """The mean of each key's values in the last five minutes."""
    keys, values = valid(rows, at, WINDOW_MS)
    sums, counts = np.bincount(keys, values, KEYS), np.bincount(keys, minlength=KEYS)
    return {int(k): float(sums[k] / counts[k]) for k in np.flatnonzero(counts)}


def tops(rows: ReadingFiles, at: int) -> Answer:
    """The greatest of each key's values in the last five minutes."""
    keys, values = valid(rows, at, WINDOW_MS)
    best = np.full(KEYS, -np.inf)
    np.maximum.at(best, keys, values)
    return {int(k): float(best[k]) for k in np.flatnonzero(best > -np.inf)}


def counts(rows: ReadingFiles, at: int) -> Answer:
    """How many rows each key had in the five minutes before the last full minute."""
    last = at // MINUTE_MS * MINUTE_MS
    keys, _ = valid(rows, last, WINDOW_MS)
    found = np.bincount(keys, minlength=KEYS)
    return {int(k): float(found[k]) for k in np.flatnonzero(found)}


def pairs(left: ReadingFiles, right: ReadingFiles, at: int) -> Answer:
    """The sum of both values over each key's pairs of rows of the last five seconds."""
    (a, x), (b, y) = valid(left, at, BAND_MS), valid(right, at, BAND_MS)
    n, m = np.bincount(a, minlength=KEYS), np.bincount(b, minlength=KEYS)
    total = np.bincount(a, x, KEYS) * m + np.bincount(b, y, KEYS) * n
    return {int(k): float(total[k]) for k in np.flatnonzero(n * m)}


def windows_of_keys(rows: ReadingFiles) -> int:
    """How many pairs of a key and a window, five minutes every minute, have rows."""
    ends = rows.at // MINUTE_MS
    found = {(int(k), int(w)) for k, w in np.unique(np.stack([rows.key, ends], 1), axis=0).tolist()}
    return len({(k, w + i) for k, w in found for i in range(WINDOW_MS // MINUTE_MS)})


def pairs_in_band(left: ReadingFiles, right: ReadingFiles) -> int:
    """How many pairs of rows of one key are at most five seconds apart."""
    span = int(max(left.at.max(), right.at.max())) + 3 * BAND_MS
    mine = np.sort(right.key * span + right.at)
    theirs = left.key * span + left.at
    upto = np.searchsorted(mine, theirs + BAND_MS, "right")
    before = np.searchsorted(mine, theirs - BAND_MS, "left")
    return int((upto - before).sum())


def valid(
    rows: ReadingFiles, at: int, size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The keys and values of the rows of the last ``size`` milliseconds."""
    mask = (rows.at <= at) & (at < rows.at + size)
    return rows.key[mask], rows.value[mask]
