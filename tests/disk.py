"""What a query leaves on disk once time has passed all of its input.

Rows come in, time moves past every window and every RETAIN, and after a few steps without rows the
directory of the query takes as much as that of a query that has never seen a row.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

SECOND = 1_000_000

SCRIPT = """
CREATE STREAM s (k BIGINT, v DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND);
CREATE STREAM u (k BIGINT, v DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)
  RETAIN 20 SECONDS;
CREATE STREAM keyed (k BIGINT, v DOUBLE, at TIMESTAMP, PRIMARY KEY (k, at),
  PROGRESS FOR at AS at - INTERVAL 1 SECOND) RETAIN 20 SECONDS;
CREATE TABLE t (k BIGINT, v DOUBLE, at TIMESTAMP, PRIMARY KEY (k),
  PROGRESS FOR at AS at - INTERVAL 1 SECOND) TIME at RETAIN 20 SECONDS;
"""
SOURCES = ("s", "u", "keyed", "t")

QUERIES = {
    "filter": "SELECT k, v FROM s [RANGE 10 SECONDS] WHERE v > 10",
    "sums": "SELECT k, AVG(v) AS mean FROM s [RANGE 10 SECONDS] GROUP BY k",
    "extremes": "SELECT k, MAX(v) AS top FROM u [RANGE 10 SECONDS] GROUP BY k",
    "median": "SELECT k, MEDIAN(v) AS middle FROM s [RANGE 10 SECONDS] GROUP BY k",
    "total": "SELECT SUM(v) AS total FROM s [FIXED 10 SECONDS]",
    "slide": "SELECT k, COUNT(*) AS n FROM u [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "join": "SELECT s.k, u.v FROM s [RANGE 5 SECONDS] JOIN u [RANGE 9 SECONDS] ON s.k = u.k",
    "outer join": "SELECT s.k, u.v FROM s [RANGE 5 SECONDS] FULL JOIN u [RANGE 9 SECONDS]"
    " ON s.k = u.k AND s.v < u.v",
    "semi join": "SELECT k, v FROM s [RANGE 5 SECONDS] WHERE k IN"
    " (SELECT k FROM u [RANGE 2 SECONDS])",
    "anti join": "SELECT k, v FROM s [RANGE 5 SECONDS] a WHERE NOT EXISTS"
    " (SELECT 1 FROM u [RANGE 2 SECONDS] b WHERE b.k = a.k)",
    "distinct": "SELECT DISTINCT k FROM s [RANGE 10 SECONDS]",
    "except": "SELECT k FROM s [RANGE 10 SECONDS] EXCEPT SELECT k FROM u [RANGE 3 SECONDS]",
    "except all": "SELECT k FROM s [RANGE 10 SECONDS] EXCEPT ALL SELECT k FROM u [RANGE 3 SECONDS]",
    "intersect": "SELECT k FROM s [RANGE 10 SECONDS] INTERSECT ALL"
    " SELECT k FROM u [RANGE 9 SECONDS]",
    "rows": "SELECT k, v FROM s [ROWS 5]",
    "top": "SELECT k, v FROM s [RANGE 10 SECONDS] ORDER BY v DESC LIMIT 3",
    "over": "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY v) AS so_far"
    " FROM s [RANGE 10 SECONDS]",
    "keyed": "SELECT k, SUM(v) AS total FROM keyed [RANGE 10 SECONDS] GROUP BY k",
    "table": "SELECT k, v FROM t",
    "lookup": "SELECT s.k, t.v FROM s [RANGE 10 SECONDS] LEFT JOIN t ON s.k = t.k",
    "groups of a table": "SELECT FLOOR(v) AS class, COUNT(*) AS n FROM t GROUP BY FLOOR(v)",
}

KEYS, STEPS, LAST = 40, 4, 200 * SECOND
"""Rows come in so many steps of three seconds; by ``LAST`` everything has passed."""

PASSING = 3
"""Steps without rows until everything is gone, with the one that time moves in."""

LEFT = {"rows": 8192}
"""The last rows of a window of rows stay, whatever the time is, and are the answer."""


def allowed(name: str) -> int:
    """The bytes that a query may take more than one that has never seen a row."""
    return LEFT.get(name, 512)


def operations(step: int, count: int) -> dict[str, list[tuple[str, tuple[Any, ...]]]]:
    """What comes to each source in a step; what is in the table ends in the last one."""
    random = Random(step)

    def rows(n: int) -> list[tuple[Any, ...]]:
        return [(random.randrange(KEYS), random.random() * 50, _at(random, step)) for _ in range(n)]

    versions = [("upsert", row) for row in rows(count // 4)]
    if step == STEPS - 1:
        versions = [("end", (key, None, 3 * SECOND * STEPS)) for key in range(KEYS)]
    return {
        "s": [("insert", row) for row in rows(count)],
        "u": [("insert", row) for row in rows(count)],
        "keyed": [("insert", row) for row in rows(count // 4)],
        "t": versions,
    }


def _at(random: Random, step: int) -> int:
    return 3 * SECOND * step + random.randrange(3 * SECOND) - random.randrange(SECOND)


def sizes(root: str) -> dict[str, int]:
    """The bytes of all files of a query, by the directories in which they lie."""
    found: dict[str, int] = {}
    for path, _, names in os.walk(root):
        part = os.path.relpath(path, root).partition(os.sep)[0]
        for name in names:
            found[part] = found.get(part, 0) + os.path.getsize(os.path.join(path, name))
    return found
