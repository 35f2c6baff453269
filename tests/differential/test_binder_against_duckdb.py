"""The parser, the binder and the reference against DuckDB, on random SQL text over static tables.

Law: what Ebbtide accepts means what it means to DuckDB: the same bag of rows.  A query may be
refused with a code, or have no rows, but not too many, or the comparison would be blind; any other
exception is a bug.
The plan of what is accepted prints as SQL of the same plan.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import duckdb

from differential.sql_text import TABLES, VIEWS, Writer, theirs
from ebbtide.config import Config
from ebbtide.core.change import Change, facts
from ebbtide.errors import QueryError, UnsupportedError
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog

QUERIES = {"quick": 100, "ci": 300, "long": 20_000}
SHARE_REFUSED = 0.12
SHARE_UNJUDGED = 0.02
SHARE_WITH_ROWS = 0.4
WORLDS = 5
"""Different contents of the tables; each query is asked of one of them."""

Bag = Counter[tuple[Any, ...]]


@cache
def catalog() -> Catalog:
    known = Catalog()
    for name, columns in TABLES.items():
        listed = ", ".join(f"`{column}` {of}" for column, of in columns.items())
        (statement,) = parse(f"CREATE TABLE {name} ({listed})")
        known = execute(statement, known)
    for name, (query, _) in VIEWS.items():
        (statement,) = parse(f"CREATE VIEW {name} AS {query}")
        known = execute(statement, known)
    return known


@cache
def rows(world: int) -> dict[str, list[tuple[Any, ...]]]:
    """Few rows, with many NULLs and ties; in the first world every second table is empty."""
    dice = Random(world)
    values: dict[str, list[Any]] = {
        "INT": [None, 0, 1, 1, 2, 3, -1],
        "BIGINT": [None, 0, 1, 1, 2, 3],
        "DECIMAL(6, 2)": [None, Decimal("0.50"), Decimal("1.25"), Decimal("1.00")],
        "DOUBLE": [None, 0.5, 1.0, -0.25, 2.0],
        "STRING": [None, "a", "b", "B", "ab", ""],
        "BOOLEAN": [None, True, False],
        "DATE": [None, *(date(2024, 2, 28) + timedelta(days=day) for day in range(3))],
    }
    return {
        name: [
            tuple(dice.choice(values[of]) for of in columns.values())
            for _ in range(0 if world == 0 and place % 2 else dice.randint(2, 5))
        ]
        for place, (name, columns) in enumerate(TABLES.items())
    }


@cache
def inputs(world: int) -> dict[str, tuple[Change, ...]]:
    return {name: tuple(facts(lines)) for name, lines in rows(world).items()}


@cache
def judge(world: int) -> duckdb.DuckDBPyConnection:
    """DuckDB without its optimizer, which finds rows for `NULLIF(c, c) LIKE 'a%'` that are not."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("SET default_null_order = 'NULLS_FIRST_ON_ASC_LAST_ON_DESC'")
    connection.execute("PRAGMA disable_optimizer")
    connection.execute("SET order_by_non_integer_literal = true")
    for name, columns in TABLES.items():
        listed = ", ".join(f'"{column}" {of}' for column, of in columns.items())
        connection.execute(f"CREATE TABLE {name} ({listed})")
        for line in rows(world)[name]:
            connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", line)
    for name, (query, _) in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {query}")
    return connection


def bag(lines: Iterable[tuple[Any, ...]]) -> Bag:
    """Rows as they are compared: a truth value is no number, and a DECIMAL may be a DOUBLE."""
    return Counter(tuple(map(_compared, line)) for line in lines)


def _compared(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Decimal | int | float):
        return float(f"{float(value):.9g}") + 0.0
    return value


def judged(query: BoundQuery, text: str, world: int) -> Bag:
    """What DuckDB answers, with the columns of a star in our order."""
    found = judge(world).execute(theirs(text))
    names = [column[0].casefold() for column in found.description]
    ours = [name.casefold() for name in query.schema.names]
    places = list(range(len(names)))
    if sorted(ours) == sorted(names):
        places = [names.index(name) for name in ours]
    return bag(tuple(line[place] for place in places) for line in found.fetchall())


def mine(query: BoundQuery, world: int) -> Bag:
    return bag(evaluate_at(query.plan, inputs(world), 0).elements())


def bound(text: str) -> BoundQuery:
    return bind_query(parse_query(text), catalog())


def test_what_is_accepted_means_what_it_means_to_duckdb() -> None:
    count = QUERIES[Config.from_environment().profile]
    refused, unjudged, with_rows = Counter[str](), Counter[str](), 0
    for seed in range(count):
        text, world = Writer(Random(seed)).text(), seed % WORLDS
        try:
            query = bound(text)
        except (QueryError, UnsupportedError) as error:
            refused[error.code] += 1
            continue
        try:
            answer = judged(query, text, world)
        except duckdb.Error as error:
            unjudged[type(error).__name__] += 1
            continue
        assert mine(query, world) == answer, f"seed {seed}, world {world}\n{text}"
        with_rows += bool(answer)
    assert sum(refused.values()) <= SHARE_REFUSED * count, refused
    assert sum(unjudged.values()) <= SHARE_UNJUDGED * count, unjudged
    assert with_rows >= SHARE_WITH_ROWS * count


def test_what_is_accepted_prints_as_sql_of_the_same_plan() -> None:
    for seed in range(QUERIES[Config.from_environment().profile] // 5):
        text = Writer(Random(seed)).text()
        try:
            query = bound(text)
        except (QueryError, UnsupportedError):
            continue
        assert bound(query.sql) == query, f"seed {seed}\n{text}"


def test_a_text_depends_on_its_seed_alone() -> None:
    texts = [Writer(Random(seed)).text() for seed in range(20)]
    assert texts == [Writer(Random(seed)).text() for seed in range(20)]
    assert len(set(texts)) == len(texts)
