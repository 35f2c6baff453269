"""Nexmark on Spark: every query checked against DuckDB, then timed beside Flink.

All read the same events.  What is checked are the answers over fewer events, with the archive; what
is timed are all events into a sink that keeps nothing, in the same steps as all other benchmarks.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import numpy as np
import pyarrow as pa

from ebbtide.algebra.relation import Stream
from ebbtide.bench.data import written
from ebbtide.bench.figures import Figure, median
from ebbtide.bench.flink import Flink, flink_in
from ebbtide.bench.nexmark import queries
from ebbtide.bench.nexmark.events import Nexmark
from ebbtide.bench.plain_spark import PlainSpark, plain_spark
from ebbtide.bench.processor import processor_seconds
from ebbtide.core.time import SECOND
from ebbtide.core.tree import find
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import InternalError, UnsupportedError
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAMS = ("person", "auction", "bid")
FILES, BATCHES, SHARDS = 8, 2, 2
"""In each step two files for either core, as Flink has one for either."""

CHECKED = 50_000
"""So many events are checked: enough for windows to close, and for two steps."""

WARMING = 10
"""What warms up is so many times smaller than what is timed."""

FASTER = 2.0
"""How many times as fast as Flink the queries are to be, in the geometric mean."""

_NOBODY = 10**9

Say = Callable[[str], None]
Timed: TypeAlias = tuple[int | str, str]
"""The number of a query and the system that ran it, or a stream and its floor."""


@dataclass(frozen=True)
class EventFiles:
    """Events as files of CSV, by stream, and as tables.

    Beside each stream, under ``apart``, are its rows in two files, every other row in one, for
    whoever reads files side by side and in any order.
    """

    path: Path
    tables: dict[str, Any]

    @staticmethod
    def make(path: Path, count: int, rate: int = 10_000, ends: bool = False) -> EventFiles:
        """Writes the events, in files of equal stretches of time.

        If they are to end, an event of each stream comes an hour later: then all is over before.
        """
        tables = Nexmark(rate=rate).tables(count)
        first = tables["person"].column("date_time")[0].value
        cuts = [first + count * SECOND // rate * i // FILES for i in range(1, FILES)]
        for name in STREAMS:
            table = pa.concat_tables(
                [tables[name], _last(tables[name])] if ends else [tables[name]]
            )
            at = np.asarray(table.column("date_time").cast(pa.int64()))
            places = [0, *np.searchsorted(at, cuts).tolist(), len(at)]
            parts = [table.slice(a, b - a) for a, b in pairwise(places)]
            written(path / name, [_as_text(part) for part in parts])
            halves = (pa.array(np.arange(start, len(at), 2)) for start in (0, 1))
            written(path / "apart" / name, [_as_text(table.take(half)) for half in halves])
        written(path / "side_input", [tables["side_input"]])
        return EventFiles(path, tables)


@dataclass(frozen=True)
class Timing:
    """A run: how long it took, and how long processors worked for it, where that is known."""

    seconds: float
    processor: float | None


def measured(
    spark: SparkSession,
    work: Path,
    events: int,
    repeats: int,
    say: Say,
    flink: Path | None = None,
    numbers: Sequence[int] = queries.NUMBERS,
) -> Iterator[Figure]:
    """The figures of some queries; none is timed before its answer has been found right.

    A turn over a tenth of the events warms everything up.
    """
    small = EventFiles.make(work / "small", min(events, CHECKED), rate=1000, ends=True)
    for number in numbers:
        rows = checked(spark, small, number, work / f"checked{number}")
        say(f"q{number}: {rows} rows are right")
    fields = [EventFiles.make(work / "warming", max(events // WARMING, FILES))]
    fields += [EventFiles.make(work / "events", events)] * repeats
    times: dict[Timed, list[Timing]] = defaultdict(list)
    with (
        open(work / "peers.log", "w") as log,
        _beside(flink, log) as peer,
        plain_spark(log) as plain,
    ):
        for turn, field in enumerate(fields):
            if peer is not None:
                peer.declare(_for_flink(field))
            for key, timing in _turn(spark, plain, field, numbers, work / f"turn{turn}", peer):
                what = key[0] if key[1] == "floor" else f"q{key[0]}"
                worked = "" if timing.processor is None else f", {timing.processor:.2f} s of work"
                say(f"{turn}: {what} on {key[1]} {timing.seconds:.2f} s{worked}")
                if turn:
                    times[key].append(timing)
    yield from figures_of(events, numbers, {key: _median(found) for key, found in times.items()})


def checked(spark: SparkSession, field: EventFiles, number: int, root: Path) -> int:
    """Runs a query over events that end, and compares its answer; how many rows it has."""
    query = _query(spark, field, number, root)
    _caught_up(query)
    found = bag(query.snapshot().toArrow().to_pylist())
    wanted = bag(_theirs(field, number))
    if found != wanted or not found:
        raise InternalError("wrong-answer", f"q{number} is wrong")
    return found.total()


def bag(rows: Iterable[dict[str, Any] | tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows, each in the one form that both engines' rows have."""
    values = (row.values() if isinstance(row, dict) else row for row in rows)
    return Counter(tuple(map(_plain, row)) for row in values)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, Decimal | float):
        return round(float(value), 6)
    return value


def _theirs(field: EventFiles, number: int) -> list[tuple[Any, ...]]:
    """DuckDB's answer: of all events, or without the last ones where these are not over."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            "missing-package",
            "the answers are compared with those of DuckDB, which is not installed",
            hint="pip install duckdb",
        ) from error
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in field.tables.items():
            last = [_last(table)] if name in STREAMS and number not in queries.OVER else []
            connection.register(name, pa.concat_tables([table, *last]))
        rows: list[tuple[Any, ...]] = connection.execute(queries.expected(number)).fetchall()
    return rows


def _last(table: Any) -> Any:
    """An event that has to do with no other, an hour behind the others."""
    row = table.slice(table.num_rows - 1).to_pylist()[0]
    at = row["date_time"] + timedelta(hours=1)
    row.update({name: at for name in ("date_time", "expires", "proc_time") if name in row})
    row.update({name: _NOBODY for name in ("id", "seller", "auction", "bidder") if name in row})
    return pa.Table.from_pylist([row], schema=table.schema)


def _as_text(table: Any) -> Any:
    """A table with its times as texts, as CSV has them."""
    times = [i for i, field in enumerate(table.schema) if pa.types.is_timestamp(field.type)]
    for place in times:
        name = table.schema.names[place]
        table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


def _beside(python: Path | None, log: TextIO) -> Any:
    return nullcontext(None) if python is None else flink_in(python, log)


def _for_flink(field: EventFiles) -> list[str]:
    paths = {name: (field.path / "apart" / name).resolve().as_uri() for name in STREAMS}
    paths["side_input"] = (field.path / "side_input").resolve().as_uri()
    declared = queries.flink_schema()
    gone = [f"DROP TABLE IF EXISTS {text.split()[2]}" for text in declared]
    return [*gone, *(text.format(**paths) for text in declared)]


def _turn(
    spark: SparkSession,
    plain: PlainSpark,
    field: EventFiles,
    numbers: Sequence[int],
    work: Path,
    flink: Flink | None,
) -> Iterator[tuple[Timed, Timing]]:
    """The floor of each stream, then every query, on one system and right after it on the other.

    The floor is the stream's files scanned, sent by key, to Python and back.
    """
    timed = partial(_timed, other=None if flink is None else flink.peer.process.pid)
    for name in STREAMS:
        path, columns = field.path / name, _columns(field.tables[name])
        key, root = field.tables[name].schema.names[0], work / f"floor-{name}"
        floor = partial(plain.floor_of, path, columns, key, FILES // BATCHES, root)
        yield (name, "floor"), timed(floor)
    for number in numbers:
        query = _query(spark, field, number, work / f"q{number}")
        yield (number, "ebbtide"), timed(partial(_caught_up, query, archive=False, sink="noop"))
        text = queries.flink(number)
        if flink is not None and text is not None:
            before = processor_seconds(flink.peer.process.pid)
            seconds = flink.timed(text)
            worked = processor_seconds(flink.peer.process.pid)
            yield (number, "flink"), Timing(seconds, _difference(worked, before))


def _timed(run: Callable[[], Any], other: int | None) -> Timing:
    """A run in this process and those below it, without another one."""
    before, began = _worked(other), time.perf_counter()
    run()
    seconds = time.perf_counter() - began
    return Timing(seconds, _difference(_worked(other), before))


def _worked(other: int | None) -> float | None:
    mine = processor_seconds(os.getpid())
    return mine if other is None else _difference(mine, processor_seconds(other))


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _median(timings: Sequence[Timing]) -> Timing:
    worked = [timing.processor for timing in timings if timing.processor is not None]
    return Timing(median([t.seconds for t in timings]), median(worked) if worked else None)


@cache
def read_by(number: int) -> tuple[str, ...]:
    """The streams that a query reads."""
    known = Catalog()
    for declaration in queries.schema():
        known = execute(parse(declaration)[0], known)
    plan = bind_query(parse_query(queries.query(number)), known).plan
    read = {stream.declaration.name for stream in find(plan, Stream)}
    return tuple(name for name in STREAMS if name in read)


def _columns(table: Any) -> str:
    """The columns of a table as Spark declares them."""
    names = {pa.int64(): "BIGINT", pa.string(): "STRING"}
    return ", ".join(f"{f.name} {names.get(f.type, 'TIMESTAMP')}" for f in table.schema)


def _query(spark: SparkSession, field: EventFiles, number: int, root: Path) -> Query:
    engine = Engine(root, spark=spark, shards=SHARDS)
    for declaration, name in zip(queries.schema(), (*STREAMS, "side_input"), strict=True):
        streams = f", maxFilesPerTrigger '{FILES // BATCHES}'" if name in STREAMS else ""
        engine.execute(
            f"{declaration} FROM FILES '{field.path / name}' FORMAT csv"
            f" OPTIONS (header 'false'{streams})"
        )
    return engine.query(queries.query(number), name=f"q{number}")


def _caught_up(query: Query, **options: Any) -> None:
    run = query.start(trigger={"availableNow": True}, **options)
    try:
        run.await_termination()
    finally:
        run.stop()


def figures_of(
    events: int, numbers: Sequence[int], times: Mapping[Timed, Timing]
) -> Iterator[Figure]:
    """What the runs over so many events come to."""
    ratios = []
    for number in numbers:
        mine, theirs = times[number, "ebbtide"], times.get((number, "flink"))
        name, title = f"nexmark-q{number}", f"Nexmark q{number}"
        yield Figure(name, title, events / mine.seconds, "events/s")
        under = sum(times[stream, "floor"].seconds for stream in read_by(number))
        above = f"{title}, against the floor of {' and '.join(read_by(number))}"
        yield Figure(f"{name}-floor", above, mine.seconds / under, "times as long")
        if mine.processor is not None:
            yield Figure(f"{name}-work", f"{title}, processors", mine.processor, "s")
        if theirs is None:
            continue
        ratios.append(theirs.seconds / mine.seconds)
        beside = f"{title}, against Flink"
        yield Figure(f"{name}-flink-rate", f"{title} on Flink", events / theirs.seconds, "events/s")
        if theirs.processor is not None:
            worked = f"{title} on Flink, processors"
            yield Figure(f"{name}-flink-work", worked, theirs.processor, "s")
        yield Figure(f"{name}-flink", beside, ratios[-1], "times as fast", 1.0)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        title = f"Nexmark, geometric mean of {len(ratios)} queries, against Flink"
        yield Figure("nexmark-flink", title, mean, "times as fast", FASTER)
