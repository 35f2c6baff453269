"""Recursive streams over the sources of the scenarios, one for each way in which rows follow.

Times are microseconds near the epoch, so that gains, windows and delays are of one size.
"""

from __future__ import annotations

from functools import cache

from tests.scenarios import catalog

from ebbtide.algebra.relation import Relation
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared

STREAM = """
CREATE STREAM r (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
RULES = {
    "a chain": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT k, n + 1, at + INTERVAL 4 MICROSECONDS FROM r WHERE n < 9;
    """,
    "a chain of facts that are taken back": """
        INSERT INTO r SELECT k, v, at FROM c;
        INSERT INTO r SELECT k, n, at + INTERVAL 4 MICROSECONDS FROM r;
    """,
    "facts in the future": """
        INSERT INTO r SELECT k, v, at + INTERVAL 6 MICROSECONDS FROM a;
        INSERT INTO r SELECT k, n, at + INTERVAL 5 MICROSECONDS FROM r WHERE k < 2;
    """,
    "until something ends it": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT k, n, at + INTERVAL 3 MICROSECONDS FROM r WHERE NOT EXISTS
          (SELECT 1 FROM b WHERE b.k = r.k AND b.at > r.at - INTERVAL 3 MICROSECONDS
             AND b.at <= r.at);
    """,
    "with a partner": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT r.k, b.w, b.at FROM r JOIN b ON b.k = r.k AND b.at > r.at
          AND b.at <= r.at + INTERVAL 4 MICROSECONDS;
    """,
    "with one of its own": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT x.k, x.n + y.n, GREATEST(x.at, y.at) + INTERVAL 3 MICROSECONDS
          FROM r x JOIN r y ON x.k = y.k AND x.n < y.n AND x.at <= y.at
            AND y.at <= x.at + INTERVAL 2 MICROSECONDS
          WHERE x.n + y.n < 5;
    """,
    "unless there was one": """
        INSERT INTO r SELECT k, v, at FROM a WHERE NOT EXISTS
          (SELECT 1 FROM r WHERE r.k = a.k AND r.at < a.at
             AND r.at >= a.at - INTERVAL 4 MICROSECONDS);
    """,
    "if there was one": """
        INSERT INTO r SELECT k, w, at FROM b;
        INSERT INTO r SELECT k, v, at FROM a WHERE EXISTS
          (SELECT 1 FROM r WHERE r.k = a.k AND r.at < a.at
             AND r.at >= a.at - INTERVAL 4 MICROSECONDS);
    """,
    "fragments": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT r.k, GREATEST(r.n, MAX(b.w)), r.at + INTERVAL 3 MICROSECONDS
          FROM r JOIN b ON b.k = r.k AND b.at > r.at - INTERVAL 3 MICROSECONDS AND b.at <= r.at
          GROUP BY r.k, r.n, r.at;
    """,
    "groups of its own": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT k, COUNT(*), at + INTERVAL 5 MICROSECONDS FROM r GROUP BY k, at;
    """,
    "each once": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT DISTINCT k, 0, at + INTERVAL 4 MICROSECONDS FROM r;
    """,
    "with or without a partner": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT r.k, b.w, r.at + INTERVAL 4 MICROSECONDS FROM r
          LEFT JOIN b ON b.k = r.k AND b.at >= r.at - INTERVAL 2 MICROSECONDS AND b.at <= r.at
          WHERE COALESCE(r.n, 0) < 4;
    """,
    "without a key": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT k + 1, n, at + INTERVAL 4 MICROSECONDS FROM r WHERE NOT EXISTS
          (SELECT 1 FROM b WHERE b.at > r.at - INTERVAL 2 MICROSECONDS AND b.at <= r.at);
    """,
    "through a view and a stream": """
        CREATE STREAM far (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO far SELECT k, n, at + INTERVAL 2 MICROSECONDS FROM r WHERE n < 9;
        CREATE VIEW later AS SELECT k, n, at + INTERVAL 2 MICROSECONDS AS at FROM far;
        INSERT INTO r SELECT k, n + 1, at FROM later;
    """,
}
QUERIES = (
    "SELECT k, n, at FROM r",
    "SELECT k, FLOOR(at TO 5 MICROSECONDS) AS t, COUNT(*) AS c, MAX(n) AS m FROM r"
    " GROUP BY k, FLOOR(at TO 5 MICROSECONDS)",
    "SELECT r.k, r.at, a.v FROM r JOIN a ON a.k = r.k AND a.at > r.at - INTERVAL 3 MICROSECONDS"
    " AND a.at <= r.at",
    "SELECT k, COUNT(*) AS c FROM r [RANGE 5 MICROSECONDS] GROUP BY k",
)


@cache
def recursive(name: str, query: str) -> Relation:
    """The plan of a query that reads a recursive stream."""
    return recursion_of(RULES[name], query)


def recursion_of(rules: str, query: str) -> Relation:
    """The plan of a query that reads a stream which is fed by rules."""
    known = catalog()
    for statement in parse(f"{STREAM}{rules}{query};"):
        bound = bind(statement, known)
        if isinstance(bound, Declared):
            known = bound.catalog
        elif isinstance(bound, BoundInsert):
            known = inserted(bound.target, bound.query, known)
    assert isinstance(bound, BoundQuery)
    return bound.plan
