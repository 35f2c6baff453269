"""Rows per second of the cases, beside the floor, Spark's own windows and Flink."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ebbtide.bench import systems
from ebbtide.bench.cases import CASES, BenchCase
from ebbtide.bench.data import ReadingFiles, readings
from ebbtide.bench.figures import Figure, median
from ebbtide.bench.flink import Flink, flink_in
from ebbtide.bench.plain_spark import PlainSpark, plain_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, BATCHES = 10, 2
"""All input is cut into so many files, and taken in so many steps."""

TARGETS = {
    ("mean", "flink"): 5.0,
    ("mean", "floor"): 1 / 1.3,
    ("top", "flink"): 5.0,
    ("top", "floor"): 1 / 1.6,
    ("join", "flink"): 2.0,
    ("count", "flink"): 1.0,
    ("count", "spark"): 1.0,
}
"""How many times as fast as another it has to be."""


@dataclass(frozen=True)
class SpeedData:
    """The data of the cases: one stream of all rows, and two of half as many."""

    one: tuple[ReadingFiles, ...]
    two: tuple[ReadingFiles, ...]

    @staticmethod
    def make(path: Path, rows: int, files: int = FILES) -> SpeedData:
        """Writes the files."""
        left, right = (
            readings(path / name, seed, rows // 2, files) for name, seed in (("l", 2), ("r", 3))
        )
        return SpeedData((readings(path / "s", 1, rows, files, per_ms=2),), (left, right))

    def of(self, case: BenchCase) -> tuple[ReadingFiles, ...]:
        """The streams of a case."""
        return self.one if case.streams == 1 else self.two


def measured(
    spark: SparkSession,
    work: Path,
    rows: int,
    repeats: int,
    say: Callable[[str], None],
    flink: Path | None = None,
) -> Iterator[Figure]:
    """All figures; the first run of everything warms up and is checked, and does not count."""
    field = SpeedData.make(work / "data", rows)
    small = SpeedData.make(work / "small", 20_000, 1)
    with (
        open(work / "peers.log", "w") as log,
        _beside(flink, log) as peer,
        plain_spark(log) as plain,
    ):
        for case in CASES:
            compared = systems.checked(spark, case, field.of(case), _files(), work / case.name)
            say(f"{case.name}: {compared} rows of snapshots are right")
            if peer is not None:
                peer.check(case, small.of(case))
                say(f"{case.name}: Flink answers with the rows that are expected")
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        for turn in range(repeats + 1):
            for key, seconds in _turn(spark, plain, work / f"turn{turn}", field, peer):
                say(f"{turn}: {' on '.join(key)} {seconds:.2f} s")
                if turn:
                    times[key].append(seconds)
    yield from _figures(rows, {key: median(found) for key, found in times.items()})


def _beside(python: Path | None, log: TextIO) -> Any:
    return nullcontext(None) if python is None else flink_in(python, log)


def _files() -> int:
    return FILES // BATCHES


def _turn(
    spark: SparkSession, plain: PlainSpark, work: Path, field: SpeedData, flink: Flink | None
) -> Iterator[tuple[tuple[str, str], float]]:
    """Everything once: what runs in this process, and then Flink, each warm from the run before."""
    yield ("rows", "floor"), plain.floor(field.one[0], _files(), work / "floor")
    for case in CASES:
        streams, place = field.of(case), work / case.name
        yield (case.name, "ebbtide"), systems.ebbtide(spark, case, streams, _files(), place)
        if case.name == "count":
            seconds = plain.windows(streams[0], _files(), work / "spark")
            yield (case.name, "spark"), seconds
    if flink is not None:
        for case in CASES:
            yield (case.name, "flink"), flink.seconds(case, field.of(case))


def _figures(rows: int, seconds: dict[tuple[str, str], float]) -> Iterator[Figure]:
    floor = seconds["rows", "floor"]
    yield Figure("floor", "the floor: scan, exchange, Python and back", rows / floor, "rows/s")
    for case in CASES:
        mine = seconds[case.name, "ebbtide"]
        yield Figure(case.name, case.title, rows / mine, "rows/s")
        for other in ("floor", "spark", "flink"):
            theirs = floor if other == "floor" else seconds.get((case.name, other))
            if theirs is None or (other == "floor" and case.streams == 2):
                continue
            target = TARGETS.get((case.name, other))
            title = f"{case.title}, against {_NAMES[other]}"
            yield Figure(f"{case.name}-{other}", title, theirs / mine, "times as fast", target)


_NAMES = {"floor": "the floor", "spark": "Spark's windows", "flink": "Flink"}
