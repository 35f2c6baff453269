"""Longer ways than one operator, and several views of one stream, each beside the floor or beside
one view alone; with expected answers.

A changing table has a price for each of 100,000 keys from the start on, and a new one for one of
them ten times a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ebbtide.bench import answers
from ebbtide.bench.answers import Answer
from ebbtide.bench.data import KEYS, START_MS, ReadingFiles, readings, written
from ebbtide.bench.figures import Figure, median
from ebbtide.bench.plain_spark import SHARDS, PlainSpark, plain_spark
from ebbtide.bench.systems import same
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE_KEYS = 100_000
EVERY_MS = 100
PAIR_KEYS = answers.BAND_MS
"""With a row a millisecond, a row meets about one of the other stream."""
FILES, BATCHES = 10, 2
LAST = 100
"""How many rows of a key its window of rows has."""

SLOWEST = 2.0
"""How many times the time of the floor a pipeline may take."""

VIEWS = {"one key": 2.0, "five keys": 3.0}
"""How many times the time of one view five of them may take, as one program."""


@dataclass(frozen=True)
class Prices:
    """A changing table: the key, the price and the time of every upsert, in order."""

    path: Path
    key: npt.NDArray[np.int64]
    price: npt.NDArray[np.float64]
    at: npt.NDArray[np.int64]

    def current(self, at: int) -> npt.NDArray[np.float64]:
        """The price of every key at an instant."""
        found = np.full(TABLE_KEYS, np.nan)
        begun = self.at <= at
        found[self.key[begun]] = self.price[begun]
        return found


@dataclass(frozen=True)
class PipelineData:
    """The streams and the table of the pipelines."""

    one: ReadingFiles
    two: tuple[ReadingFiles, ReadingFiles]
    clicks: ReadingFiles
    prices: Prices

    @staticmethod
    def make(path: Path, rows: int) -> PipelineData:
        """Writes the files."""
        left, right = (
            readings(path / n, seed, rows // 2, FILES, keys=PAIR_KEYS)
            for n, seed in (("l", 2), ("r", 3))
        )
        clicks = readings(path / "c", 4, rows, FILES, per_ms=2, keys=TABLE_KEYS)
        one = readings(path / "s", 1, rows, FILES, per_ms=2)
        return PipelineData(one, (left, right), clicks, prices(path / "t", rows // 2))


def prices(path: Path, span_ms: int) -> Prices:
    """Makes the files of the table, one for each of the stream's."""
    chance = np.random.default_rng(5)
    updates = np.arange(EVERY_MS, span_ms, EVERY_MS, dtype=np.int64)
    key = np.concatenate([np.arange(TABLE_KEYS), chance.integers(0, TABLE_KEYS, len(updates))])
    at = np.concatenate([np.zeros(TABLE_KEYS, np.int64), updates]) + START_MS
    price = np.round(chance.random(len(key)) * 10, 2)
    times = pa.array(at.astype("datetime64[ms]")).cast(pa.string())
    table = pa.table({"k": key, "w": price, "at": times})
    ends = [TABLE_KEYS + len(updates) * (n + 1) // FILES for n in range(FILES)]
    begins = [0, *ends[:-1]]
    written(path, [table.slice(a, b - a) for a, b in zip(begins, ends, strict=True)])
    return Prices(path, key, price, at)


@dataclass(frozen=True)
class Pipeline:
    """A query, the sources that it reads, and what its snapshot sums up to for each key."""

    name: str
    title: str
    sql: str
    sources: tuple[str, ...]
    expected: Callable[[PipelineData, int], Answer]

    def floor_of(self, field: PipelineData) -> ReadingFiles:
        """The stream whose floor it is held against."""
        return field.clicks if "c" in self.sources else field.one


def _last_rows(field: PipelineData, at: int) -> Answer:
    rows = field.one
    come = np.flatnonzero(rows.at <= at)
    order = come[np.lexsort((rows.value[come], rows.at[come], rows.key[come]))]
    keys, values = rows.key[order], rows.value[order]
    starts = np.searchsorted(keys, np.arange(KEYS + 1))
    parts = ((k, values[max(a, b - LAST) : b]) for k, (a, b) in enumerate(_pairs(starts)))
    return {k: float(part.mean()) for k, part in parts if len(part)}


def _pairs(starts: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    return zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)


def _crowds(field: PipelineData, at: int) -> Answer:
    """How many keys have each number of pairs, of those that have more than two."""
    sides = [answers.valid(rows, at, answers.BAND_MS)[0] for rows in field.two]
    left, right = (np.bincount(keys, minlength=PAIR_KEYS) for keys in sides)
    pairs = left * right
    numbers, counts = np.unique(pairs[pairs > 2], return_counts=True)
    return {int(n): float(c) for n, c in zip(numbers, counts, strict=True)}


def _priced(size_ms: int | None) -> Callable[[PipelineData, int], Answer]:
    def expected(field: PipelineData, at: int) -> Answer:
        rows = field.clicks
        begun = rows.at <= at
        mask = rows.at == at if size_ms is None else begun & (at < rows.at + size_ms)
        keys = rows.key[mask]
        worth = rows.value[mask] * field.prices.current(at)[keys]
        sums = np.bincount(keys // 100, worth, TABLE_KEYS // 100)
        there = np.bincount(keys // 100, minlength=TABLE_KEYS // 100)
        return {int(k): float(sums[k]) for k in np.flatnonzero(there)}

    return expected


_PRICED = "SELECT c.k DIV 100 AS k, c.v * t.w AS x FROM c [{}] JOIN t ON c.k = t.k"

PIPELINES = (
    Pipeline(
        "table-now",
        "a stream under `[NOW]` with a changing table of 100,000 keys",
        _PRICED.format("NOW"),
        ("c", "t"),
        _priced(None),
    ),
    Pipeline(
        "table-hour",
        "a stream under `[RANGE 1 HOUR]` with a changing table of 100,000 keys",
        _PRICED.format("RANGE 1 HOUR"),
        ("c", "t"),
        _priced(3_600_000),
    ),
    Pipeline(
        "rows",
        "`AVG` over the last 100 rows of each key",
        f"SELECT k, AVG(v) AS x FROM s [PARTITION BY k ROWS {LAST}] GROUP BY k",
        ("s",),
        _last_rows,
    ),
    Pipeline(
        "chain",
        "join, aggregate, filter, aggregate on another key",
        "SELECT n AS k, COUNT(*) AS x FROM (SELECT l.k, COUNT(*) AS n FROM l [RANGE 5 SECONDS]"
        " JOIN r [RANGE 5 SECONDS] ON l.k = r.k GROUP BY l.k) AS j WHERE n > 2 GROUP BY n",
        ("l", "r"),
        _crowds,
    ),
)

_MEAN = "SELECT {key} AS k, AVG(v) AS x FROM s [RANGE 5 MINUTES] GROUP BY {key}"
_KEYS = ("k", "k DIV 2", "k DIV 4", "k DIV 5", "k DIV 10")
_SIZES = (5, 4, 3, 2, 1)
PROGRAMS = {
    "one view": {"v0": _MEAN.format(key="k")},
    "one key": {
        f"v{i}": f"SELECT k, AVG(v) AS x FROM s [RANGE {size} MINUTES] GROUP BY k"
        for i, size in enumerate(_SIZES)
    },
    "five keys": {f"v{i}": _MEAN.format(key=key) for i, key in enumerate(_KEYS)},
}
_DIVISORS = (1, 2, 4, 5, 10)


def measured(
    spark: SparkSession, work: Path, rows: int, repeats: int, say: Callable[[str], None]
) -> Iterator[Figure]:
    """All figures; the first run of everything is checked, and does not count."""
    field = PipelineData.make(work / "pipelines", rows)
    for pipeline in PIPELINES:
        compared = _checked(spark, pipeline, field, work / f"checked-{pipeline.name}")
        say(f"{pipeline.name}: {compared} rows of snapshots are right")
    for name in PROGRAMS:
        compared = _checked_views(spark, name, field, work / f"checked-{name}")
        say(f"five views, {name}: {compared} rows of snapshots are right")
    times: dict[str, list[float]] = {}
    with open(work / "spark_beside.log", "w") as log, plain_spark(log) as plain:
        for turn in range(repeats + 1):
            for name, seconds in _turn(spark, plain, field, work / f"pipelines{turn}"):
                say(f"{turn}: {name} {seconds:.2f} s")
                if turn:
                    times.setdefault(name, []).append(seconds)
    yield from _figures(rows, {name: median(found) for name, found in times.items()})


def _turn(
    spark: SparkSession, plain: PlainSpark, field: PipelineData, work: Path
) -> Iterator[tuple[str, float]]:
    files = FILES // BATCHES
    yield "floor", plain.floor(field.one, files, work / "floor")
    yield "floor of clicks", plain.floor(field.clicks, files, work / "floor-c")
    for pipeline in PIPELINES:
        queries = _queries(
            spark, field, pipeline.sources, {"v": pipeline.sql}, work / pipeline.name
        )
        yield pipeline.name, _seconds(queries)
    for name, views in PROGRAMS.items():
        yield name, _seconds(_queries(spark, field, ("s",), views, work / name))


def _figures(rows: int, seconds: dict[str, float]) -> Iterator[Figure]:
    for pipeline in PIPELINES:
        mine = seconds[pipeline.name]
        under = seconds["floor of clicks" if "c" in pipeline.sources else "floor"]
        yield Figure(pipeline.name, pipeline.title, rows / mine, "rows/s")
        title = f"{pipeline.title}, against the floor"
        yield Figure(f"{pipeline.name}-floor", title, mine / under, "times as long", limit=SLOWEST)
    for name, limit in VIEWS.items():
        title = f"five views of a stream on {name}, as one program, against one view"
        ratio = seconds[name] / seconds["one view"]
        yield Figure(f"views-{name.replace(' ', '-')}", title, ratio, "times as long", limit=limit)


def _checked(spark: SparkSession, pipeline: Pipeline, field: PipelineData, root: Path) -> int:
    (query,) = _queries(spark, field, pipeline.sources, {"v": pipeline.sql}, root)
    _caught_up([query])
    compared = 0
    for at in _instants(pipeline.floor_of(field)):
        expected = pipeline.expected(field, at)
        _compare(pipeline.name, query, at, expected)
        compared += len(expected)
    return compared


def _checked_views(spark: SparkSession, name: str, field: PipelineData, root: Path) -> int:
    queries = _queries(spark, field, ("s",), PROGRAMS[name], root)
    _caught_up(queries)
    compared = 0
    for at in _instants(field.one):
        for number, query in enumerate(queries):
            size = _SIZES[number] if name == "one key" else _SIZES[0]
            divisor = _DIVISORS[number] if name == "five keys" else 1
            keys, values = answers.valid(field.one, at, size * answers.MINUTE_MS)
            sums, counts = np.bincount(keys // divisor, values), np.bincount(keys // divisor)
            expected = {int(k): float(sums[k] / counts[k]) for k in np.flatnonzero(counts)}
            _compare(f"{name}, {query.name}", query, at, expected)
            compared += len(expected)
    return compared


def _compare(name: str, query: Query, at: int, expected: Answer) -> None:
    rows = query.snapshot(at=at * 1000).groupBy("k").sum("x").toDF("k", "x").collect()
    if not same({row.k: row.x for row in rows}, expected):
        raise InternalError("wrong-answer", f"{name} is wrong at {at} ms")


def _instants(rows: ReadingFiles) -> Iterator[int]:
    """Instants at which a row begins: one under [NOW] is there at no other."""
    ordered = np.sort(rows.at)
    return (int(ordered[int(len(ordered) * part)]) for part in (0.1, 0.5, 0.99))


def _queries(
    spark: SparkSession,
    field: PipelineData,
    sources: tuple[str, ...],
    views: dict[str, str],
    root: Path,
) -> list[Query]:
    engine = Engine(root, spark=spark, shards=SHARDS)
    paths = {
        "s": field.one.path,
        "l": field.two[0].path,
        "r": field.two[1].path,
        "c": field.clicks.path,
    }
    files = f"FORMAT csv OPTIONS (header 'false', maxFilesPerTrigger '{FILES // BATCHES}')"
    for name in sources:
        engine.execute(
            f"CREATE TABLE t (k BIGINT, w DOUBLE, at TIMESTAMP, PRIMARY KEY (k),"
            f" PROGRESS FOR at AS at) FROM FILES '{field.prices.path}' {files} TIME at"
            if name == "t"
            else f"CREATE STREAM {name} (k BIGINT, v DOUBLE, at TIMESTAMP,"
            f" PROGRESS FOR at AS at - INTERVAL 1 SECOND) FROM FILES '{paths[name]}' {files}"
        )
    return [engine.query(sql, name=name) for name, sql in views.items()]


def _seconds(queries: list[Query]) -> float:
    began = time.perf_counter()
    _caught_up(queries, archive=False, sink={query.name: "noop" for query in queries})
    return time.perf_counter() - began


def _caught_up(queries: list[Query], **options: Any) -> None:
    engine = queries[0].engine
    run = engine.start(*queries, name="pipelines", trigger={"availableNow": True}, **options)
    try:
        run.await_termination()
    finally:
        run.stop()
