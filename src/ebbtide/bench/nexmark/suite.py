"""Nexmark on Spark: every query checked against DuckDB, then timed beside Flink.

All read the same events.  What is checked are the answers over fewer events, with the archive; what
is timed are all events into a sink that keeps nothing, in the same steps as all other benchmarks.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
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
from ebbtide.bench.systems import floor_of
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
FILES, BATCHES, SHARDS = 10, 2, 2
CHECKED = 50_000
"""So many events are checked: enough for windows to close, and for two steps."""

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


def measured(
    spark: SparkSession,
    work: Path,
    events: int,
    repeats: int,
    say: Say,
    flink: Path | None = None,
    numbers: Sequence[int] = queries.NUMBERS,
) -> Iterator[Figure]:
    """The figures of some queries; none is timed before its answer has been found right."""
    small = EventFiles.make(work / "small", min(events, CHECKED), rate=1000, ends=True)
    for number in numbers:
        rows = checked(spark, small, number, work / f"checked{number}")
        say(f"q{number}: {rows} rows are right")
    field = EventFiles.make(work / "events", events)
    times: dict[Timed, list[float]] = defaultdict(list)
    with open(work / "flink.log", "w") as log, _beside(flink, log) as peer:
        if peer is not None:
            peer.declare(_for_flink(field))
        for turn in range(repeats + 1):
            for key, seconds in _turn(spark, field, numbers, work / f"turn{turn}", peer):
                what = key[0] if key[1] == "floor" else f"q{key[0]}"
                say(f"{turn}: {what} on {key[1]} {seconds:.2f} s")
                if turn:
                    times[key].append(seconds)
    yield from _figures(events, numbers, {key: median(found) for key, found in times.items()})


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
    return [statement.format(**paths) for statement in queries.flink_schema()]


def _turn(
    spark: SparkSession, field: EventFiles, numbers: Sequence[int], work: Path, flink: Flink | None
) -> Iterator[tuple[Timed, float]]:
    """Every query once, on one system and then on the other, each warm from the run before.

    Between them the floor of each stream: its files scanned, sent by key, to Python and back.
    """
    for number in numbers:
        query = _query(spark, field, number, work / f"q{number}")
        began = time.perf_counter()
        _caught_up(query, archive=False, sink="noop")
        yield (number, "ebbtide"), time.perf_counter() - began
    for name in STREAMS:
        columns = _columns(field.tables[name])
        key = field.tables[name].schema.names[0]
        seconds = floor_of(
            spark, field.path / name, columns, key, FILES // BATCHES, work / f"floor-{name}"
        )
        yield (name, "floor"), seconds
    for number in numbers if flink is not None else ():
        assert flink is not None
        text = queries.flink(number)
        if text is not None:
            yield (number, "flink"), flink.timed(text)


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


def _figures(events: int, numbers: Sequence[int], seconds: dict[Timed, float]) -> Iterator[Figure]:
    ratios = []
    for number in numbers:
        mine, theirs = seconds[number, "ebbtide"], seconds.get((number, "flink"))
        title = f"Nexmark q{number}"
        yield Figure(f"nexmark-q{number}", title, events / mine, "events/s")
        under = sum(seconds[name, "floor"] for name in read_by(number))
        above = f"{title}, against the floor of {' and '.join(read_by(number))}"
        yield Figure(f"nexmark-q{number}-floor", above, mine / under, "times as long")
        if theirs is not None:
            ratios.append(theirs / mine)
            yield Figure(
                f"nexmark-q{number}-flink",
                f"{title}, against Flink",
                ratios[-1],
                "times as fast",
                1.0,
            )
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        title = f"Nexmark, geometric mean of {len(ratios)} queries, against Flink"
        yield Figure("nexmark-flink", title, mean, "times as fast", FASTER)
