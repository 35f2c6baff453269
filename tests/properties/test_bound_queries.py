"""Random queries: their plans print as SQL of the same plan, and mean what they say elsewhere."""

from collections import Counter
from functools import cache
from random import Random

import duckdb
from hypothesis import assume, given
from hypothesis import strategies as st

from corpus.random_queries import TABLES, Writer
from ebbtide.core.change import facts
from ebbtide.core.time import SECOND
from ebbtide.core.values import Row
from ebbtide.errors import UnsupportedError
from ebbtide.reference import evaluate, evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog

WINDOWS = ("[RANGE 3 SECONDS]", "[ROWS 2]", "[NOW]", "[FIXED 2 SECONDS]", "[UNBOUNDED]")
SEEDS = 4

seeds = st.integers(0, 2**32)


@cache
def catalog() -> Catalog:
    known = Catalog()
    for name, (first, second) in TABLES.items():
        (statement,) = parse(
            f"CREATE STREAM {name} ({first} INT, {second} INT, at TIMESTAMP, PROGRESS FOR at AS at)"
        )
        known = execute(statement, known)
    return known


@cache
def rows(seed: int) -> dict[str, list[Row]]:
    dice = Random(seed)

    def value() -> int | None:
        return dice.choice([None, 0, 1, 1, 2, 3])

    return {
        name: [(value(), value(), time * SECOND) for time in range(dice.randint(0, 6))]
        for name in TABLES
    }


@cache
def other_engine(seed: int) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, (first, second) in TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({first} INT, {second} INT)")
        for row in rows(seed)[name]:
            connection.execute(f"INSERT INTO {name} VALUES (?, ?)", row[:2])
    return connection


def bound(text: str) -> BoundQuery:
    try:
        return bind_query(parse_query(text), catalog())
    except UnsupportedError:
        assume(False)
        raise


@given(seeds)
def test_what_a_query_means_is_what_it_means_elsewhere(seed: int) -> None:
    text = Writer(Random(seed), lambda name, _: name).query()
    query = bound(text)
    assert bind_query(parse_query(query.sql), catalog()) == query
    theirs = text.replace("LEFT SEMI JOIN", "SEMI JOIN").replace("LEFT ANTI JOIN", "ANTI JOIN")
    for data in range(SEEDS):
        inputs = {name: facts(lines) for name, lines in rows(data).items()}
        mine = evaluate_at(query.plan, inputs, 0)
        assert mine == Counter(other_engine(data).execute(theirs).fetchall()), text


@given(seeds)
def test_a_windowed_query_prints_and_has_an_answer(seed: int) -> None:
    text = Writer(Random(seed), lambda name, dice: f"{name} {dice.choice(WINDOWS)}").query()
    query = bound(text)
    assert bind_query(parse_query(query.sql), catalog()) == query
    inputs = {name: facts(lines) for name, lines in rows(1).items()}
    assert evaluate(query.plan, inputs) is not None
