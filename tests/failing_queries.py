"""Queries that fail on some rows, over the sources of the scenarios, one for each place to fail.

Values are small, so that ``6 DIV v`` fails where it is 0; ``v * 4611686018427387904`` and sums of
it leave their type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ebbtide.algebra import AggregateFunction, register
from ebbtide.algebra.aggregates import AGGREGATES
from ebbtide.core.types import BIGINT, DOUBLE, Type

SUBQUERIES = {
    "the sum of rows that fail": """
        SELECT a.k, a.v, (SELECT SUM(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "several rows": """
        SELECT a.k, (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "a row that fails": """
        SELECT a.k, (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) + a.v AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "a sum that does not fit": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v <
          (SELECT SUM(b.w + 4611686018427387904) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k)
    """,
    "in a branch": """
        SELECT a.k, CASE WHEN a.v > 1 THEN
          (SELECT SUM(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) ELSE 0 END AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "beside a term that decides": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v > 1 OR
          (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) > 0
    """,
    "beside a filter and a partner": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v < 3
          AND EXISTS (SELECT 1 FROM c [RANGE 5 MICROSECONDS] WHERE c.k = a.k)
          AND (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) > 0
    """,
    "two of them": """
        SELECT a.k, (SELECT MAX(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x,
          (SELECT c.v FROM c [RANGE 4 MICROSECONDS] WHERE c.k = a.v) AS y
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "by another condition": """
        SELECT a.k, (SELECT SUM(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k > a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "by a condition that fails": """
        SELECT a.k, (SELECT b.w FROM b [RANGE 4 MICROSECONDS]
          WHERE b.k = a.k AND b.w > 6 DIV a.v) AS x FROM a [RANGE 5 MICROSECONDS]
    """,
    "by a value that fails": """
        SELECT a.k, (SELECT SUM(b.w) FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "a number of rows by a value that fails": """
        SELECT a.k, a.v, (SELECT COUNT(*) FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "EXISTS beside OR": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v = 2 OR EXISTS
          (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.k)
    """,
    "NOT EXISTS beside OR and another equality": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v = 2 OR NOT EXISTS
          (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.v AND b.k = a.k)
    """,
    "EXISTS beside OR by another comparison": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v = 2 OR NOT EXISTS
          (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w > a.v AND b.k = a.k)
    """,
    "EXISTS beside OR by two that fail": """
        SELECT a.k, a.v, CASE WHEN EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS]
          WHERE 6 DIV b.w = a.v AND 2 DIV b.k = a.k) THEN 1 ELSE 0 END AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "EXISTS beside OR by a value of the row": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.k = 1 OR NOT EXISTS
          (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE b.w = 6 DIV a.v AND b.k = a.k)
    """,
    "IN beside OR of values that fail": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.k = 1 OR a.v NOT IN
          (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS])
    """,
    "IN beside OR of values on both sides": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.k = 1 OR 6 DIV a.v IN
          (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k)
    """,
    "IN above groups": """
        SELECT a.k, COUNT(*) AS n FROM a [RANGE 5 MICROSECONDS] GROUP BY a.k
        HAVING COUNT(*) > 2 OR a.k IN (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS])
    """,
    "in an aggregate": """
        SELECT a.k, SUM((SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.v)) AS x
        FROM a [RANGE 5 MICROSECONDS] GROUP BY a.k
    """,
    "as a key": """
        SELECT a.k + (SELECT MIN(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x,
          COUNT(*) AS n FROM a [RANGE 5 MICROSECONDS] GROUP BY a.k,
          a.k + (SELECT MIN(6 DIV b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k)
    """,
    "above groups": """
        SELECT a.k, COUNT(*) AS n FROM a [RANGE 5 MICROSECONDS] GROUP BY a.k
        HAVING COUNT(*) > (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k)
    """,
    "one in another": """
        SELECT a.k, (SELECT SUM(b.w DIV
            (SELECT c.v FROM c [RANGE 3 MICROSECONDS] WHERE c.k = b.k))
          FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "the first of several": """
        SELECT a.k, (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k
          ORDER BY b.at, b.w LIMIT 1) AS x FROM a [RANGE 5 MICROSECONDS]
    """,
    "IN beside OR": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE a.v = 0 OR a.v IN
          (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w > 1 AND b.k = a.k)
    """,
    "with numbers of rows": """
        SELECT a.k, a.v, ROW_NUMBER() OVER (PARTITION BY a.k ORDER BY a.v) AS n
        FROM a [RANGE 5 MICROSECONDS] WHERE a.v > 1 OR
          (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) > 0
    """,
}
PARTNERS = (
    "EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.k)",
    "EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.v AND b.k = a.k)",
    "EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w > a.v AND b.k = a.k)",
    "EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w = a.v AND 2 DIV b.k = a.k)",
    "EXISTS (SELECT 1 FROM b [RANGE 4 MICROSECONDS] WHERE b.w = 6 DIV a.v AND b.k = a.k)",
    "a.v IN (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS])",
    "a.v IN (SELECT b.w FROM b [RANGE 4 MICROSECONDS] WHERE 6 DIV b.w > a.k)",
    "6 DIV a.v IN (SELECT 6 DIV b.w FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k)",
)
"""Conditions on a partner of a row of a, which fail on some pairs."""
INSTANTS = {
    "a projection": """
        SELECT k, CASE WHEN at > NOW() - INTERVAL 2 MICROSECONDS THEN 6 DIV v ELSE 0 END AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "several columns": """
        SELECT k, v * 4611686018427387904 AS y,
          CASE WHEN at > NOW() - INTERVAL 2 MICROSECONDS THEN 1 ELSE 6 DIV v END AS x,
          at <= NOW() - INTERVAL 1 MICROSECOND * (3 DIV v) AS z
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "a filter of an aggregate": """
        SELECT k, COUNT(*) FILTER (WHERE at > NOW() - INTERVAL 2 MICROSECONDS AND 6 DIV v > 1) AS n,
          COUNT(*) AS c FROM a [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "an argument of an aggregate": """
        SELECT k, SUM(CASE WHEN at > NOW() - INTERVAL 2 MICROSECONDS THEN 6 DIV v ELSE v END) AS n
        FROM a [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "times of a group": """
        SELECT k, COUNT(*) FILTER (WHERE at <= NOW() - INTERVAL 1 MICROSECOND * (3 DIV v)) AS n,
          SUM(CASE WHEN v = 1 THEN 5
            WHEN NOW() < at + INTERVAL 1 MICROSECOND * (6 DIV v) THEN v ELSE 0 END) AS x
        FROM a [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "times of all rows": """
        SELECT COUNT(*) FILTER (WHERE v > 1 AND at < NOW() - INTERVAL 1 MICROSECOND * (3 DIV v))
          AS n, MAX(v) FILTER (WHERE at > NOW() - INTERVAL 1 MICROSECOND * (2 DIV k)) AS m
        FROM a [RANGE 5 MICROSECONDS]
    """,
    "times of a list": """
        SELECT k, COUNT(*) FILTER (WHERE NOW() IN (at, at + INTERVAL 1 MICROSECOND * (6 DIV v)))
          AS n
        FROM a [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "a time of a key": """
        SELECT at <= NOW() - INTERVAL 1 MICROSECOND * (3 DIV v) AS old, COUNT(*) AS n
        FROM a [RANGE 5 MICROSECONDS] GROUP BY old
    """,
    "a key": """
        SELECT CASE WHEN at > NOW() - INTERVAL 2 MICROSECONDS THEN 6 DIV v ELSE v END AS g,
          COUNT(*) AS n FROM a [RANGE 5 MICROSECONDS] GROUP BY g
    """,
    "groups": """
        SELECT k, SUM(v) AS n FROM a [RANGE 5 MICROSECONDS] GROUP BY k
        HAVING 6 DIV MIN(v) > 1 OR MAX(at) > NOW() - INTERVAL 2 MICROSECONDS
    """,
    "an inner join": """
        SELECT a.k, a.v, b.w FROM a [RANGE 5 MICROSECONDS] JOIN b [RANGE 5 MICROSECONDS]
          ON a.k = b.k AND (a.at > NOW() - INTERVAL 2 MICROSECONDS OR 6 DIV b.w > a.v)
    """,
    "an outer join": """
        SELECT a.k, a.v, b.w FROM a [RANGE 5 MICROSECONDS] LEFT JOIN b [RANGE 5 MICROSECONDS]
          ON a.k = b.k AND (b.at > NOW() - INTERVAL 2 MICROSECONDS OR 6 DIV b.w > 2)
    """,
    "a partner": """
        SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE NOT EXISTS
          (SELECT 1 FROM b [RANGE 5 MICROSECONDS] WHERE b.k = a.k
             AND (b.at > NOW() - INTERVAL 2 MICROSECONDS OR 6 DIV b.w > 2))
    """,
}
RECURSIONS = {
    "a partner that must not be": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT k, n, at + INTERVAL 3 MICROSECONDS FROM r WHERE NOT EXISTS
          (SELECT 1 FROM b WHERE b.k = r.k AND b.at > r.at - INTERVAL 3 MICROSECONDS
             AND b.at <= r.at AND 6 DIV b.w > r.n);
    """,
    "a partner that must be": """
        INSERT INTO r SELECT k, w, at FROM b;
        INSERT INTO r SELECT k, v, at FROM a WHERE EXISTS
          (SELECT 1 FROM r WHERE r.k = a.k AND r.at < a.at
             AND r.at >= a.at - INTERVAL 4 MICROSECONDS AND 6 DIV r.n > a.v);
    """,
    "an outer join": """
        INSERT INTO r SELECT k, v, at FROM a;
        INSERT INTO r SELECT r.k, b.w, r.at + INTERVAL 4 MICROSECONDS FROM r
          LEFT JOIN b ON b.k = r.k AND b.at >= r.at - INTERVAL 2 MICROSECONDS AND b.at <= r.at
            AND 6 DIV b.w > r.n;
    """,
    "beside it": """
        INSERT INTO r SELECT a.k, a.v, a.at FROM a LEFT JOIN b ON b.k = a.k
          AND b.at >= a.at - INTERVAL 2 MICROSECONDS AND b.at <= a.at AND 6 DIV b.w > a.v;
        INSERT INTO r SELECT k, n + 1, at + INTERVAL 4 MICROSECONDS FROM r WHERE n < 9;
    """,
}
OWN = {
    "rows and groups": "SELECT k, INVERSES(v) AS x FROM a [RANGE 5 MICROSECONDS] GROUP BY k",
    "that takes nothing back": """
        SELECT k, FORGETFUL(v) AS x, SUM(v) AS y FROM c [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "different values": """
        SELECT k, INVERSES(DISTINCT v) AS x FROM a [RANGE 5 MICROSECONDS] GROUP BY k
    """,
    "filtered, of an argument that fails": """
        SELECT k, INVERSES(6 DIV v) FILTER (WHERE v < 3) AS x FROM a [RANGE 5 MICROSECONDS]
        GROUP BY k
    """,
    "of all rows": "SELECT INVERSES(v) AS x, COUNT(*) AS n FROM a [RANGE 5 MICROSECONDS]",
    "that is not of its type": "SELECT k, WRONG(v) AS x FROM a [RANGE 5 MICROSECONDS] GROUP BY k",
    "in frames": """
        SELECT k, v, INVERSES(v) OVER (PARTITION BY k ORDER BY at
          ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS x FROM a [RANGE 5 MICROSECONDS]
    """,
    "in a subquery": """
        SELECT a.k, (SELECT INVERSES(b.w) FROM b [RANGE 4 MICROSECONDS] WHERE b.k = a.k) AS x
        FROM a [RANGE 5 MICROSECONDS]
    """,
}


@contextmanager
def own_aggregates() -> Iterator[None]:
    """INVERSES, which fails on 0, FORGETFUL, which fails on large sums, WRONG, whose type is not
    what it says where the largest value is 1."""
    made = {"INVERSES": inverses, "FORGETFUL": forgetful, "WRONG": wrong}
    for name, make in made.items():
        register(name, make)
    try:
        yield
    finally:
        for name in made:
            del AGGREGATES[name]


def inverses(types: tuple[Type, ...]) -> AggregateFunction:
    """The sum of 6 DIV x."""
    return AggregateFunction(
        type=BIGINT,
        initial=0,
        accumulate=lambda state, row: state + 6 // row[0],
        merge=lambda a, b: a + b,
        result=lambda state: state,
        retract=lambda state, row: state - 6 // row[0],
    )


def forgetful(types: tuple[Type, ...]) -> AggregateFunction:
    """The sum, if it is small."""

    def result(state: int) -> int:
        if abs(state) > 3:
            raise ValueError(f"{state} is too large")
        return state

    return AggregateFunction(
        type=DOUBLE,
        initial=0,
        accumulate=lambda state, row: state + row[0],
        merge=lambda a, b: a + b,
        result=result,
    )


def wrong(types: tuple[Type, ...]) -> AggregateFunction:
    """The largest, as a text if it is 1."""
    return AggregateFunction(
        type=BIGINT,
        initial=(),
        accumulate=lambda state, row: (*state, row[0]),
        merge=lambda a, b: a + b,
        result=lambda state: (max(state) if max(state) != 1 else "one") if state else None,
    )
