"""What is known about times after every operator, and how far its outputs have come."""

import pytest

from analysed import World
from ebbtide.analysis.formula.progress import NEVER
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.temporal.edge import FROM

WORLD = World(
    """
    CREATE STREAM a (k BIGINT NOT NULL, x DOUBLE, at TIMESTAMP NOT NULL, due TIMESTAMP,
      PROGRESS FOR at AS at) APPEND ONLY;
    CREATE STREAM b (k BIGINT NOT NULL, at TIMESTAMP NOT NULL, seen TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at, PROGRESS FOR seen AS seen) APPEND ONLY;
    CREATE TABLE t (k BIGINT NOT NULL, v STRING, since TIMESTAMP NOT NULL, PRIMARY KEY (k),
      PROGRESS FOR since AS since) TIME since LIFETIME 1 HOUR;
    CREATE TABLE fixed_ (k BIGINT NOT NULL, opened TIMESTAMP, PRIMARY KEY (k));
    """
)

FACTS = {
    # selection: the temporal part of the predicate
    "SELECT at, due FROM a WHERE due BETWEEN at AND at + INTERVAL 5 MINUTES": (
        "at <= due <= at + 5 min"
    ),
    "SELECT at, due FROM a WHERE NOT (due < at OR k = 1)": "at <= due",
    "SELECT at, due FROM a WHERE due < at OR k = 1": "due may be NULL",
    "SELECT at, due FROM a WHERE due - at > INTERVAL 1 MINUTE": "at < due - 1 min",
    "SELECT at, due FROM a WHERE due IS NULL": "due is NULL",
    # imbed and projection
    "SELECT at + INTERVAL 1 HOUR AS later, at FROM a": "later = at + 1 h",
    "SELECT GREATEST(at, due) AS last_, at FROM a": "at <= last_",
    "SELECT FLOOR(at TO 1 MINUTE) AS m, at FROM a": "at - 1 min < m <= at",
    "SELECT CEIL(at TO 1 MINUTE) AS m, at FROM a": "at <= m < at + 1 min",
    "SELECT COALESCE(due, at) AS c, at FROM a WHERE due >= at": "at <= c",
    # windows
    "SELECT at FROM a [RANGE 15 MINUTES]": "from = at and to = at + 15 min",
    "SELECT at FROM a [RANGE 10 MINUTES SLIDE 1 MINUTE]": (
        "to = from + 10 min and at <= from < at + 1 min"
    ),
    "SELECT at FROM a [FIXED 1 HOUR]": "from = at and at < to <= at + 1 h",
    "SELECT at FROM a [NOW]": "from = at and to = at + 1 us",
    "SELECT at FROM a [UNBOUNDED]": "from = at and at < to",
    "SELECT at FROM a [ROWS 3]": "at <= from and from < to",
    # functions on facts
    "SELECT at, window_start FROM TUMBLE(a, at, 20 SECONDS)": (
        "at - 20 s < window_start <= at"
    ),
    "SELECT at, window_end FROM HOP(a, at, 5 SECONDS, 20 SECONDS)": "at < window_end <= at + 20 s",
    "SELECT at, window_end FROM CUMULATE(a, at, 5 SECONDS, 20 SECONDS)": (
        "at < window_end <= at + 20 s"
    ),
    "SELECT at, window_end FROM SESSION(a, at, 10 SECONDS)": "at <= window_end - 10 s",
    # tables: a change begins at or after its version, and a lifetime ends it
    "SELECT since FROM t": "since <= from and from < to and to <= since + 1 h",
    # joins
    "SELECT a.at AS x, b.at AS y FROM a JOIN b ON b.at BETWEEN a.at AND a.at + INTERVAL 2 MINUTES":
        "x <= y <= x + 2 min",
    "SELECT a.at AS x, b.at AS y FROM a LEFT JOIN b ON b.at = a.at": "y = x or y is NULL",
    "SELECT a.at AS x FROM a [RANGE 1 HOUR] a JOIN t ON a.k = t.k": (
        "from < to and x <= from and to <= x + 1 h"
    ),
    # set operations: of either side
    "SELECT at, due FROM a WHERE due = at UNION ALL SELECT at, seen FROM b WHERE seen > at": (
        "due = at or at < due"
    ),
}  # fmt: skip

PROGRESS = {
    ("SELECT at FROM a", "at"): "progress(a.at)",
    ("SELECT at, due FROM a WHERE due >= at", "due"): "progress(a.at)",
    ("SELECT at, due FROM a", "due"): "-inf",
    ("SELECT at, seen FROM b", "seen"): "progress(b.seen)",
    ("SELECT at + INTERVAL 1 HOUR AS later FROM a", "later"): "progress(a.at) + 1 h",
    ("SELECT FLOOR(at TO 1 MINUTE) AS m FROM a", "m"): "progress(a.at) - 1 min + 1 us",
    ("SELECT at FROM a UNION ALL SELECT at FROM b", "at"): "min(progress(a.at), progress(b.at))",
    ("SELECT at FROM a EXCEPT SELECT at FROM b", "at"): "min(progress(a.at), progress(b.at))",
    ("SELECT at FROM a INTERSECT SELECT at FROM b", "at"): "min(progress(a.at), progress(b.at))",
    ("SELECT a.at AS x, b.at AS y FROM a, b", "x"): "-inf",
    ("SELECT GREATEST(a.at, b.at) AS x FROM a, b", "x"): "min(progress(a.at), progress(b.at))",
    ("SELECT a.at AS x FROM a JOIN fixed_ f ON a.k = f.k", "x"): "progress(a.at)",
    ("SELECT a.at AS x FROM a LEFT JOIN b ON b.k = a.k AND b.seen <= a.at", "x"): (
        "min(progress(a.at), progress(b.seen))"
    ),
    ("SELECT b.at AS y FROM a LEFT JOIN b ON b.k = a.k AND b.at = a.at", "y"): "-inf",
    ("SELECT DISTINCT at FROM a", "at"): "progress(a.at)",
    ("SELECT k, at FROM (SELECT k, at, ROW_NUMBER() OVER (PARTITION BY at ORDER BY x) AS n FROM a) "
     "AS r WHERE n <= 2", "at"): "progress(a.at)",
    ("SELECT at, SUM(x) OVER (ORDER BY at ROWS 2 PRECEDING) AS s FROM a", "at"): "progress(a.at)",
    ("SELECT at, LEAD(x) OVER (ORDER BY at) AS s FROM a", "at"): "-inf",
    ("SELECT at, SUM(x) OVER (ORDER BY at RANGE BETWEEN CURRENT ROW AND INTERVAL 1 MINUTE "
     "FOLLOWING) AS s FROM a", "at"): "progress(a.at) - 1 min",
    ("SELECT MAX(at) AS last_ FROM a GROUP BY k", "last_"): "-inf",
    ("SELECT k, instant FROM ISTREAM(SELECT k FROM a [RANGE 1 HOUR])", "instant"): "progress(a.at)",
    ("SELECT k, instant FROM DSTREAM(SELECT k FROM a [RANGE 1 HOUR])", "instant"): "progress(a.at)",
    ("SELECT k, instant FROM RSTREAM(SELECT k FROM a [RANGE 1 HOUR] EVERY 1 MINUTE)", "instant"): (
        "progress(a.at)"
    ),
    ("SELECT k FROM a [RANGE 1 HOUR]", "from"): "progress(a.at)",
    ("SELECT k FROM b [RANGE 1 HOUR ON seen]", "from"): "progress(b.seen)",
    ("SELECT k, COUNT(*) AS n FROM a [ROWS 5] GROUP BY k", "from"): "progress(a.at)",
    ("SELECT v FROM t", "from"): "progress(t.since)",
    # a version is no older than its lifetime
    ("SELECT since FROM t", "since"): "progress(t.since) - 1 h + 1 us",
}  # fmt: skip


@pytest.mark.parametrize("sql", FACTS)
def test_facts(sql: str) -> None:
    assert str(WORLD.analysed(sql).root.edge.readable) == FACTS[sql]


@pytest.mark.parametrize(("sql", "attribute"), PROGRESS)
def test_propagated_progress(sql: str, attribute: str) -> None:
    edge = WORLD.analysed(sql).root.edge
    by_name = {variable.attribute: variable for variable in edge.columns.values()}
    variable = FROM if attribute == "from" else by_name[attribute]
    assert str(propagated(variable, edge.facts, edge.bounds)) == PROGRESS[sql, attribute]


def test_a_window_on_a_time_without_a_promise_does_not_progress() -> None:
    edge = WORLD.analysed("SELECT k FROM a [RANGE 1 HOUR ON due]").root.edge
    assert propagated(FROM, edge.facts, edge.bounds) == NEVER
