"""The analysis of a query takes less than a second; Nexmark's queries may run as they stand."""

import time

import pytest

from analysed import World
from corpus import NEXMARK_QUERIES, statements

WIDE = World(
    "\n".join(
        f"CREATE STREAM s{i} (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at) APPEND ONLY;"
        for i in range(10)
    )
)
NEXMARK = World(";\n".join(statements("nexmark/schema.sql")) + ";")
QUERIES = NEXMARK_QUERIES


def seconds(world: World, sql: str) -> float:
    """Seconds of work, whatever else the machine does meanwhile."""
    start = time.process_time()
    world.explained(sql)
    return time.process_time() - start


@pytest.mark.parametrize("window", ["", "[RANGE 1 HOUR]"])
def test_a_join_of_ten_streams(window: str) -> None:
    joins = " ".join(
        f"JOIN s{i} {window} AS s{i} ON s{i}.k = s0.k "
        f"AND s{i}.at BETWEEN s{i - 1}.at AND s{i - 1}.at + INTERVAL 1 MINUTE"
        for i in range(1, 10)
    )
    assert seconds(WIDE, f"SELECT s0.k, s9.at FROM s0 {window} AS s0 {joins}") < 1


@pytest.mark.parametrize("name", QUERIES)
def test_nexmark(name: str) -> None:
    (sql,) = statements(name)
    assert seconds(NEXMARK, sql) < 1
    NEXMARK.checked(sql)
