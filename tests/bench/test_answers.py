"""The expected answers of benchmarks are those of a count row by row."""

from __future__ import annotations

import math
from dataclasses import astuple
from pathlib import Path

import pytest

from ebbtide.bench import answers, drift
from ebbtide.bench.data import ReadingFiles, readings
from ebbtide.bench.figures import Figure, as_json, as_table
from ebbtide.errors import InternalError


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReadingFiles, ReadingFiles]:
    path: Path = tmp_path_factory.mktemp("readings")
    left, right = readings(path / "l", 1, 12_000, 2), readings(path / "r", 2, 12_000, 2)
    # A few keys, so that rows meet.
    left.key[:], right.key[:] = left.key % 7, right.key % 7
    return left, right


def rows_of(data: ReadingFiles) -> list[tuple[int, float, int]]:
    return list(zip(data.key.tolist(), data.value.tolist(), data.at.tolist(), strict=True))


def test_files_hold_the_rows(tmp_path: Path) -> None:
    data = readings(tmp_path, 5, 100, 4)
    lines = [line for file in sorted(tmp_path.iterdir()) for line in file.read_text().splitlines()]
    assert [int(line.split(",")[0]) for line in lines] == data.key.tolist()
    assert lines[0].endswith("2026-01-01 00:00:00.000")


def test_windows(pair: tuple[ReadingFiles, ReadingFiles]) -> None:
    data, at = pair[0], int(pair[0].at[9000])
    found: dict[int, list[float]] = {}
    for key, value, time in rows_of(data):
        if time <= at < time + answers.WINDOW_MS:
            found.setdefault(key, []).append(value)
    assert answers.tops(data, at) == {key: max(values) for key, values in found.items()}
    means = {key: sum(values) / len(values) for key, values in found.items()}
    assert answers.means(data, at) == pytest.approx(means)


def test_counts_are_of_the_last_full_minute(pair: tuple[ReadingFiles, ReadingFiles]) -> None:
    data = pair[0]
    at = int(data.at.max()) // answers.MINUTE_MS * answers.MINUTE_MS + answers.MINUTE_MS + 17
    found: dict[int, int] = {}
    for key, _, time in rows_of(data):
        if time <= at - 17 < time + answers.WINDOW_MS:
            found[key] = found.get(key, 0) + 1
    assert answers.counts(data, at) == found


def test_pairs(pair: tuple[ReadingFiles, ReadingFiles]) -> None:
    left, right = (data.first(1) for data in pair)
    at = int(left.at[-1])
    mine = [row for row in rows_of(left) if row[2] <= at < row[2] + answers.BAND_MS]
    other = [row for row in rows_of(right) if row[2] <= at < row[2] + answers.BAND_MS]
    total: dict[int, float] = {}
    for key, value, _ in mine:
        for also, more, _ in other:
            if key == also:
                total[key] = total.get(key, 0.0) + value + more
    assert answers.pairs(left, right, at) == pytest.approx(total)


def test_drift_is_seen_and_so_is_a_missing_sum() -> None:
    given = drift.rows(200_000)
    exact = {key: math.fsum(values) for key, values in given.valid()}
    counts = {key: len(values) for key, values in given.valid()}
    shown = {key: (total, total / counts[key]) for key, total in exact.items()}
    assert drift.drift(given, shown) < 1e-15
    # What is left of sums that a running sum of all rows has gone through.
    running = dict.fromkeys(exact, 0.0)
    for key, value in zip(given.key.tolist(), given.value.tolist(), strict=True):
        running[key] += value
    for key, value, at in zip(*(part.tolist() for part in astuple(given)), strict=True):
        running[key] -= value if at <= given.at[-1] - drift.WINDOW_MS else 0.0
    naive = {key: (total, total / counts[key]) for key, total in running.items()}
    assert drift.drift(given, naive) > 1e-9
    del shown[7]
    with pytest.raises(InternalError, match="key 7"):
        drift.drift(given, shown)


def test_figures_say_what_is_asked_and_missed() -> None:
    figures = [Figure("a", "speed", 4.0, "times", target=5), Figure("b", "cost", 1.0, "s", limit=2)]
    assert [figure.met for figure in figures] == [False, True]
    table = as_table(as_json(figures))
    assert "| speed | 4 times | at least 5 (missed) |" in table
    assert "| cost | 1 s | at most 2 |" in table
