"""The 23 queries of Nexmark: on the reference, and in plain SQL by another engine.

Each query is written for DuckDB by hand, without streams: windows are buckets of time, sessions
are sums of gaps, top-n is QUALIFY.  Both see the same events; what a relation shows at the end of
time is what a query on all events says.
"""

from datetime import datetime
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from ebbtide.bench.nexmark import queries
from ebbtide.bench.nexmark.events import Nexmark
from ebbtide.bench.nexmark.suite import bag
from ebbtide.core.change import Change, facts, snapshot
from ebbtide.core.time import INF, to_datetime
from ebbtide.core.types import TIMESTAMP
from ebbtide.core.values import Row
from ebbtide.reference import evaluate
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog

COUNT = 400
COUNTS = {2: 2000, 3: 2000}  # both ask for few auctions


@cache
def events(count: int) -> dict[str, Any]:
    return Nexmark(seed=7, rate=8).tables(count)


def rows_of(table: Any) -> list[Row]:
    """The rows of a table, with times as instants."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.int64()))
    return list(zip(*table.to_pydict().values(), strict=True))


@cache
def catalog() -> Catalog:
    known = Catalog()
    for text in queries.schema():
        known = execute(parse(text)[0], known)
    return known


def query(number: int) -> BoundQuery:
    return bind_query(parse_query(queries.query(number)), catalog())


def answer(number: int) -> tuple[Change, ...]:
    tables = events(COUNTS.get(number, COUNT))
    inputs = {name: facts(rows_of(table)) for name, table in tables.items()}
    return evaluate(query(number).plan, inputs)


def mine(number: int) -> list[tuple[object, ...]]:
    """The answer at the end of time, with times as DuckDB has them."""
    timed = [column.type == TIMESTAMP for column in query(number).plan.schema]
    return [
        tuple(_day(v) if is_time else v for v, is_time in zip(row, timed, strict=True))
        for row in snapshot(answer(number), INF - 1).elements()
    ]


def _day(value: Any) -> datetime | None:
    return None if value is None else to_datetime(value).replace(tzinfo=None)


def theirs(number: int) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in events(COUNTS.get(number, COUNT)).items():
            connection.register(name, table)
        rows: list[tuple[object, ...]] = connection.execute(queries.expected(number)).fetchall()
    return rows


@pytest.mark.parametrize("number", queries.NUMBERS)
def test_the_reference_and_duckdb_agree(number: int) -> None:
    found = bag(mine(number))
    assert found == bag(theirs(number))
    assert found, "a query that says nothing shows nothing"
