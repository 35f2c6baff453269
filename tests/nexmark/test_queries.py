"""The 23 queries of Nexmark: on the reference, and in plain SQL by another engine.

``duckdb/`` has each query written for DuckDB by hand, without streams: windows are buckets of
time, sessions are sums of gaps, top-n is QUALIFY.  Both see the same events; what a relation shows
at the end of time is what a query on all events says.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

import duckdb
import pytest

from corpus import statements
from ebbtide.core.change import Change, Multiset, facts, snapshot
from ebbtide.core.time import INF, from_datetime, to_datetime
from ebbtide.core.values import Row
from ebbtide.reference import evaluate
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, StreamEntry, TableEntry
from nexmark_events import Nexmark

NUMBERS = range(23)
COUNT = 400
COUNTS = {2: 2000}  # auctions whose number is a multiple of 123 are rare
THEIRS = Path(__file__).parent / "duckdb"
TYPES = {"BIGINT": "BIGINT", "STRING": "VARCHAR", "TIMESTAMP": "TIMESTAMP"}


@cache
def events(count: int) -> dict[str, list[Row]]:
    return Nexmark(seed=7, rate=8).streams(count)


@cache
def catalog() -> Catalog:
    known = Catalog()
    for text in statements("nexmark/schema.sql"):
        known = execute(parse(text)[0], known)
    return known


def query(number: int) -> BoundQuery:
    (text,) = statements(f"nexmark/q{number}.sql")
    return bind_query(parse_query(text), catalog())


def answer(number: int) -> tuple[Change, ...]:
    rows = events(COUNTS.get(number, COUNT))
    inputs = {name: facts(lines) for name, lines in rows.items()}
    return evaluate(query(number).plan, inputs)


@cache
def other_engine(count: int) -> duckdb.DuckDBPyConnection:
    """DuckDB with the same events."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for entry in catalog():
        assert isinstance(entry, StreamEntry | TableEntry)
        schema = entry.declaration.schema
        columns = ", ".join(f"{column.name} {TYPES[column.type.sql]}" for column in schema)
        connection.execute(f"CREATE TABLE {entry.name} ({columns})")
        lists = ", ".join(f"unnest(?::{TYPES[column.type.sql]}[])" for column in schema)
        values = [
            [to_datetime(v).replace(tzinfo=None) if c.type.sql == "TIMESTAMP" else v for v in vs]
            for c, vs in zip(schema, zip(*events(count)[entry.name], strict=True), strict=True)
        ]
        connection.execute(f"INSERT INTO {entry.name} SELECT {lists}", values)
    return connection


def theirs(number: int) -> Multiset:
    text = (THEIRS / f"q{number}.sql").read_text(encoding="utf-8")
    return bag(other_engine(COUNTS.get(number, COUNT)).execute(text).fetchall())


def bag(rows: Iterable[Row]) -> Multiset:
    return Counter(tuple(map(plain, row)) for row in rows)


def plain(value: object) -> object:
    """A value in the one form that both engines' values have."""
    if isinstance(value, datetime):
        return from_datetime(value, UTC)
    if isinstance(value, Decimal | float):
        return round(float(value), 6)
    return value


@pytest.mark.parametrize("number", NUMBERS)
def test_the_reference_and_duckdb_agree(number: int) -> None:
    mine = bag(snapshot(answer(number), INF - 1).elements())
    assert mine == theirs(number)
    assert mine, "a query that says nothing shows nothing"


def test_all_are_here() -> None:
    assert len(list(THEIRS.glob("q*.sql"))) == len(NUMBERS)
