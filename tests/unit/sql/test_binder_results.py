"""What bound queries mean, by the reference, agrees with another engine on the same rows.

The rows are few and full of NULLs and duplicates, where subqueries as joins go wrong first.
"""

import random
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from functools import cache

import duckdb
import pytest

from corpus import statements
from ebbtide.core.change import Multiset, facts
from ebbtide.core.values import Row, normalise
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog

CREATE, QUERIES = statements("plain.sql")[:3], statements("plain.sql")[3:]

SEEDS = 6

# What DuckDB writes in another way.
THEIRS = {
    "<=>": "IS NOT DISTINCT FROM",
    "LEFT SEMI JOIN": "SEMI JOIN",
    "LEFT ANTI JOIN": "ANTI JOIN",
    "ARRAY(": "LIST_VALUE(",
}


def rows(seed: int) -> dict[str, list[Row]]:
    """Few rows, with NULLs and duplicates."""
    dice = random.Random(seed)

    def number() -> int | None:
        return dice.choice([None, 0, 1, 1, 2, 3])

    def text() -> str | None:
        return dice.choice([None, "a", "b", "abc"])

    return {
        "t": [(number(), number(), text()) for _ in range(dice.randint(0, 9))],
        "u": [(number() or 0, number(), text()) for _ in range(dice.randint(0, 7))],
        "v": [(k, number()) for k in range(dice.randint(0, 4))],
    }


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    known = Catalog()
    for text in CREATE:
        known = execute(parse(text)[0], known)
    return known


@cache
def other_engine(seed: int) -> duckdb.DuckDBPyConnection:
    """DuckDB with the rows in it."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (a INT, b INT, c VARCHAR)")
    connection.execute("CREATE TABLE u (x INT, y INT, s VARCHAR)")
    connection.execute("CREATE TABLE v (k INT, w INT)")
    for name, lines in rows(seed).items():
        for line in lines:
            marks = ", ".join("?" for _ in line)
            connection.execute(f"INSERT INTO {name} VALUES ({marks})", line)
    return connection


def theirs(text: str, seed: int) -> Multiset:
    for mine, other in THEIRS.items():
        text = text.replace(mine, other)
    return bag(other_engine(seed).execute(text).fetchall())


def bag(lines: Iterable[Row]) -> Multiset:
    return Counter(tuple(map(plain, line)) for line in lines)


def plain(value: object) -> object:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return normalise(value)


@pytest.mark.parametrize("text", QUERIES)
def test_the_reference_and_duckdb_agree(text: str, catalog: Catalog) -> None:
    plan = bind_query(parse_query(text), catalog).plan
    for seed in range(SEEDS):
        inputs = {name: facts(lines) for name, lines in rows(seed).items()}
        assert bag(evaluate_at(plan, inputs, 0).elements()) == theirs(text, seed), rows(seed)


def test_there_are_many() -> None:
    assert len(QUERIES) >= 90
