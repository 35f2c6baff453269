"""ASOF joins against DuckDB, in the forms of both, on random rows.

No two right rows of a key have the same time: of equally near ones DuckDB takes any.
"""

from collections import Counter
from random import Random
from typing import Any

import duckdb
import pytest

from ebbtide.config import Config
from ebbtide.core.change import facts
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog

WORLDS = {"quick": 10, "ci": 16, "long": 1000}[Config.from_environment().profile]
TABLES = {"l": "k BIGINT, t BIGINT, v BIGINT", "r": "k BIGINT, t BIGINT, w BIGINT"}

# How it is written here, and there if that is otherwise.
QUERIES = {
    "SELECT l.v, r.w FROM l ASOF JOIN r ON l.k = r.k AND l.t >= r.t": None,
    "SELECT l.v, r.w FROM l ASOF JOIN r ON l.k = r.k AND l.t > r.t": None,
    "SELECT l.v, r.w FROM l ASOF JOIN r ON l.k = r.k AND l.t <= r.t": None,
    "SELECT l.v, r.w FROM l ASOF JOIN r ON l.k = r.k AND l.t < r.t": None,
    "SELECT l.v, r.w FROM l ASOF LEFT JOIN r ON l.k = r.k AND l.t >= r.t": None,
    "SELECT l.v, r.w FROM l ASOF LEFT JOIN r ON l.k = r.k AND r.t > l.t": None,
    "SELECT l.v, r.w FROM l ASOF JOIN r USING (k, t)": None,
    "SELECT l.v, r.w FROM l ASOF LEFT JOIN r USING (k, t)": None,
    "SELECT l.v, r.w FROM l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k": (
        "SELECT l.v, r.w FROM l ASOF JOIN r ON l.k = r.k AND l.t >= r.t"
    ),
    "SELECT l.v, r.w FROM l LEFT ASOF JOIN r MATCH_CONDITION (r.t >= l.t) ON l.k = r.k": (
        "SELECT l.v, r.w FROM l ASOF LEFT JOIN r ON l.k = r.k AND r.t >= l.t"
    ),
}


def catalog() -> Catalog:
    known = Catalog()
    for name, columns in TABLES.items():
        (statement,) = parse(f"CREATE TABLE {name} ({columns})")
        known = execute(statement, known)
    return known


def rows(dice: Random) -> dict[str, list[tuple[Any, ...]]]:
    """Keys with NULLs, and times that are close together."""
    keys = (1, 1, 2, None)
    left = [(dice.choice(keys), dice.choice((None, *range(8))), v) for v in range(9)]
    places = dice.sample([(k, t) for k in (1, 2, None) for t in (None, *range(8))], 9)
    return {"l": left, "r": [(*place, w) for w, place in enumerate(places)]}


@pytest.mark.parametrize("sql", QUERIES)
def test_the_nearest_rows_are_those_of_duckdb(sql: str) -> None:
    plan = bind_query(parse_query(sql), catalog()).plan
    dice = Random(sql)
    for _ in range(WORLDS):
        world = rows(dice)
        with duckdb.connect() as connection:
            for name, columns in TABLES.items():
                connection.execute(f"CREATE TABLE {name} ({columns})")
                connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", world[name])
            theirs = Counter(connection.execute(QUERIES[sql] or sql).fetchall())
        inputs = {name: facts(given) for name, given in world.items()}
        assert Counter(evaluate_at(plan, inputs, 0)) == theirs, world
