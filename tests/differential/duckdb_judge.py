"""DuckDB as a judge of parser, binder and reference: random SQL text over static tables.

Law: what Ebbtide accepts means what it means to DuckDB: the same bag of rows.  A query may be
refused with a code, or be one that DuckDB does not take; any other exception is a bug.

    python -m tests.differential --first 0 --count 20000

judges so many texts, each from its seed, and prints a JSON object: how many agree, how many are
refused or not judged and why, and those that differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import duckdb
from tests.differential.sql_text import TABLES, VIEWS, Writer, theirs

from ebbtide.core.change import Change, facts
from ebbtide.errors import QueryError, UnsupportedError
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog

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


@dataclass
class Figures:
    """What became of texts."""

    agree: int = 0
    with_rows: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def judge(self, seed: int) -> None:
        """Asks both for the answer to the text of a seed."""
        text, world = Writer(Random(seed)).text(), seed % WORLDS
        try:
            query = bound(text)
        except (QueryError, UnsupportedError) as error:
            self.refused[error.code] += 1
            return
        except Exception as error:
            self.wrong.append(f"seed {seed}: {error!r}\n{text}")
            return
        try:
            answer = judged(query, text, world)
        except duckdb.Error as error:
            self.unjudged[type(error).__name__] += 1
            return
        found = mine(query, world)
        if found == answer:
            self.agree += 1
            self.with_rows += bool(answer)
        else:
            self.wrong.append(f"seed {seed}, world {world}: {found} and not {answer}\n{text}")

    def told(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "agree": self.agree,
            "with rows": self.with_rows,
            "refused": dict(self.refused.most_common()),
            "unjudged": dict(self.unjudged.most_common()),
            "wrong": self.wrong,
        }
