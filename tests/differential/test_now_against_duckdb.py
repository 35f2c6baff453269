"""Conditions on NOW() against DuckDB, at every instant at which something could change.

Law: at an instant, a query with NOW() in it shows what plain SQL gives with the instant in place of
NOW(), on the rows that are there.  Neither the rewriting of conditions nor the reference evaluator
is asked: DuckDB evaluates the text, at every instant of interest.
"""

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest

from ebbtide import Engine
from ebbtide.config import Config

START = datetime(2026, 1, 1)
TICK = timedelta(microseconds=1)
WORLDS = {"quick": 1, "ci": 2, "long": 20}[Config.from_environment().profile]
CASES = {"quick": 10, "ci": 16, "long": 400}[Config.from_environment().profile]

CONDITIONS = (
    "ts > NOW() - INTERVAL '5' SECONDS",
    "ts >= NOW() - INTERVAL '5' SECONDS",
    "NOW() < ts + INTERVAL '5' SECONDS",
    "NOW() - ts <= INTERVAL '5' SECONDS",
    "INTERVAL '3' SECONDS > NOW() - ts",
    "until - NOW() > INTERVAL '2' SECONDS",
    "NOW() BETWEEN ts AND until",
    "NOW() NOT BETWEEN ts AND until",
    "NOW() BETWEEN ts + INTERVAL '1' SECOND AND ts + INTERVAL '3' SECONDS",
    "until <= NOW()",
    "until > CURRENT_TIMESTAMP",
    "NOW() = until",
    "NOW() <> until",
    "NOW() IN (ts, until)",
    "NOW() IS DISTINCT FROM until",
    "NOT (NOW() < until)",
    "(NOW() < until) IS NULL",
    "(NOW() < until) IS NOT TRUE",
    "NOW() < until OR NOW() >= ts + INTERVAL '8' SECONDS",
    "NOW() < until OR k = 1",
    "k = 1 AND ts > NOW() - INTERVAL '2' SECONDS OR k = 2 AND ts > NOW() - INTERVAL '4' SECONDS",
    "CASE WHEN k = 1 THEN ts > NOW() - INTERVAL '2' SECONDS ELSE until > NOW() END",
    "CASE WHEN NOW() < until THEN k ELSE k + 1 END = 2",
    "CASE k WHEN 1 THEN NOW() > until WHEN 2 THEN NOW() < until END",
    "DATE_TRUNC('second', ts) + k * INTERVAL '1' SECOND > NOW()",
    "NOW() < TIMESTAMP '2026-01-01 00:00:07'",
    "CURRENT_DATE = CAST(ts AS DATE)",
    "CURRENT_DATE > CAST(ts AS DATE)",
    "ts >= CURRENT_DATE",
    "until < CURRENT_DATE",
    "until >= DATE_TRUNC('second', NOW())",
    "until > DATE_TRUNC('minute', NOW()) + INTERVAL '4' SECONDS",
    "DATE_TRUNC('second', NOW()) = DATE_TRUNC('second', until)",
    "DATE_TRUNC('second', NOW()) <> until",
    "DATE_TRUNC('month', NOW()) > until",
    "DATE_TRUNC('week', until) = DATE_TRUNC('week', NOW())",
    "until IN (NOW(), NOW() - INTERVAL '1' SECOND)",
    "ts NOT IN (NOW(), NOW() - INTERVAL '1' SECOND)",
)
# How DuckDB writes what is written otherwise here.
NUMBERS = {
    "DATEDIFF(NOW(), until) < 1": "CAST({now} AS DATE) - CAST(until AS DATE) < 1",
    "DATEDIFF(until, CURRENT_DATE) >= 0": "CAST(until AS DATE) - CAST({now} AS DATE) >= 0",
    "DATE_SUB(CURRENT_DATE, CAST(k AS INT)) >= CAST(until AS DATE)": (
        "CAST({now} AS DATE) - CAST(k AS INTEGER) >= CAST(until AS DATE)"
    ),
    "DATE_ADD(NOW(), 1) > CAST(ts AS DATE)": "CAST({now} AS DATE) + 1 > CAST(ts AS DATE)",
    "CAST(NOW() - until AS BIGINT) = 0": "trunc(epoch({now} - until)) = 0",
    "CAST(NOW() - until AS BIGINT) <= k": "trunc(epoch({now} - until)) <= k",
    "CAST(until - NOW() AS BIGINT) DIV 2 < k": "trunc(trunc(epoch(until - {now})) / 2) < k",
    "CAST(NOW() - until AS BIGINT) DIV 2 > -2": "trunc(trunc(epoch({now} - until)) / 2) > -2",
    "CAST(NOW() - until AS DECIMAL(18, 6)) < 2.5": "epoch({now} - until) < 2.5",
    "CAST(NOW() AS DECIMAL(20, 6)) >= CAST(until AS DECIMAL(20, 6))": "{now} >= until",
    "UNIX_SECONDS(NOW()) * 1000 < UNIX_MILLIS(until)": (
        "floor(epoch({now})) * 1000 < epoch_us(until) // 1000"
    ),
    "UNIX_MILLIS(NOW()) DIV 500 <= UNIX_SECONDS(until) * 2": (
        "(epoch_us({now}) // 1000) // 500 <= floor(epoch(until)) * 2"
    ),
    "UNIX_SECONDS(NOW()) < UNIX_SECONDS(ts) + 4": "floor(epoch({now})) < floor(epoch(ts)) + 4",
    "UNIX_SECONDS(NOW()) - k <= UNIX_SECONDS(until)": (
        "floor(epoch({now})) - k <= floor(epoch(until))"
    ),
    "UNIX_MILLIS(NOW()) >= UNIX_MILLIS(ts) + 2500": (
        "epoch_us({now}) // 1000 >= epoch_us(ts) // 1000 + 2500"
    ),
    "UNIX_MICROS(NOW()) > UNIX_MICROS(until)": "epoch_us({now}) > epoch_us(until)",
    "CAST(NOW() AS BIGINT) = CAST(ts AS BIGINT) + 1": "floor(epoch({now})) = floor(epoch(ts)) + 1",
    "FLOOR(NOW() TO 2 SECONDS) = FLOOR(ts TO 2 SECONDS)": (
        "time_bucket(INTERVAL '2' SECOND, {now}, TIMESTAMP '2000-01-01') = "
        "time_bucket(INTERVAL '2' SECOND, ts, TIMESTAMP '2000-01-01')"
    ),
    "FLOOR(NOW() TO 2 SECONDS) < until": (
        "time_bucket(INTERVAL '2' SECOND, {now}, TIMESTAMP '2000-01-01') < until"
    ),
    "FLOOR(NOW() TO 2 SECONDS) <= until": (
        "time_bucket(INTERVAL '2' SECOND, {now}, TIMESTAMP '2000-01-01') <= until"
    ),
    "CEIL(NOW() TO 2 SECONDS) <= until": (
        "time_bucket(INTERVAL '2' SECOND, {now} + INTERVAL '1999999' MICROSECOND, "
        "TIMESTAMP '2000-01-01') <= until"
    ),
    "CEIL(NOW() TO 2 SECONDS) < until": (
        "time_bucket(INTERVAL '2' SECOND, {now} + INTERVAL '1999999' MICROSECOND, "
        "TIMESTAMP '2000-01-01') < until"
    ),
}


ELSEWHERE = (
    "SELECT k, CASE WHEN NOW() < until THEN 1 ELSE 0 END AS open FROM s",
    "SELECT k, NOW() < until AS open FROM s",
    "SELECT k, COUNT(*) AS n, COUNT(*) FILTER (WHERE ts > NOW() - INTERVAL '3' SECONDS) AS m"
    " FROM s GROUP BY k",
    "SELECT k, SUM(CASE WHEN NOW() < until THEN 1 ELSE 2 END) AS n FROM s GROUP BY k",
    "SELECT NOW() < until AS open, COUNT(*) AS n FROM s GROUP BY NOW() < until",
    "SELECT COUNT(*) AS n FROM s WHERE ts > NOW() - INTERVAL '3' SECONDS",
    "SELECT k, MAX(ts) AS last FROM s GROUP BY k HAVING MAX(ts) < NOW() - INTERVAL '2' SECONDS",
    "SELECT a.k, b.k AS other FROM s AS a JOIN s AS b"
    " ON a.k = b.k AND b.ts > NOW() - INTERVAL '3' SECONDS",
    "SELECT a.k FROM s AS a JOIN s AS b ON a.k = b.k"
    " AND NOW() < GREATEST(a.ts, b.ts) + INTERVAL '2' SECONDS",
    "SELECT a.k, b.k AS other FROM s AS a LEFT JOIN s AS b"
    " ON a.k = b.k AND b.ts > NOW() - INTERVAL '1' SECOND",
    "SELECT a.k FROM s AS a WHERE NOT EXISTS (SELECT 1 FROM s AS b"
    " WHERE b.k = a.k AND b.until < NOW())",
    "SELECT k FROM s WHERE k IN (SELECT k FROM s AS b WHERE b.ts > NOW() - INTERVAL '2' SECONDS)",
    "SELECT DISTINCT k FROM s WHERE ts > NOW() - INTERVAL '3' SECONDS",
)


def rows(dice: Random) -> list[tuple[Any, ...]]:
    """Rows of a few seconds, in the order of their times, with ties and NULLs."""
    times = sorted(dice.randrange(0, 20) for _ in range(dice.randrange(1, 7)))
    return [
        (
            dice.choice((1, 2, 3, None)),
            START + timedelta(seconds=at / 2, microseconds=dice.randrange(2)),
            dice.choice((None, START + timedelta(seconds=dice.randrange(0, 24) / 2))),
        )
        for at in times
    ]


def instants(known: list[tuple[Any, ...]], dice: Random) -> list[datetime]:
    """Instants at and about which a condition on these rows can turn."""
    found = {START + timedelta(seconds=s / 2) for s in range(0, 40, 3)}
    for _, at, until in known:
        for time in (at, until):
            for moved in (0, 1, 2, 3, 4, 5, 8) if time is not None else ():
                found |= {
                    time + timedelta(seconds=moved) + shift for shift in (-TICK, 0 * TICK, TICK)
                }
    some = dice.sample(sorted(found), min(len(found), 25))
    return [*some, START + timedelta(days=1), START + timedelta(days=1) - TICK]


def in_duckdb(sql: str, now: datetime) -> str:
    """A query with an instant in place of NOW()."""
    text = f"TIMESTAMP '{now.isoformat(sep=' ')}'"
    for word in ("NOW()", "CURRENT_TIMESTAMP"):
        sql = sql.replace(word, "{now}")
    return sql.replace("CURRENT_DATE", "CAST({now} AS DATE)").replace("{now}", text)


def judged(pairs: dict[str, str], dice: Random) -> None:
    """Holds queries, run by the engine over random rows in one program, to DuckDB."""
    known = rows(dice)
    asked = instants(known, dice)
    with TemporaryDirectory() as location, duckdb.connect() as connection:
        connection.execute("CREATE TABLE every (k BIGINT, ts TIMESTAMP, until TIMESTAMP)")
        connection.executemany("INSERT INTO every VALUES (?, ?, ?)", known)
        engine = Engine(location, transport="local")
        engine.execute(
            "CREATE STREAM s (k BIGINT, ts TIMESTAMP NOT NULL, until TIMESTAMP, "
            "PROGRESS FOR ts AS ts - INTERVAL 1 DAY) RETAIN 1 DAY"
        )
        queries = {
            ours: engine.query(f"{ours} ALLOW UNBOUNDED STATE", name=f"q{place}")
            for place, ours in enumerate(pairs)
        }
        engine.start(*queries.values(), name="p")
        early = dice.randrange(len(known) + 1)
        for part in (known[:early], known[early:]):
            engine.feed("s", dice.sample(part, len(part)))
            engine.step()
        engine.advance("s", max(asked) + TICK)
        engine.step()
        for now in asked:
            there = f"SELECT * FROM every WHERE ts <= TIMESTAMP '{now.isoformat(sep=' ')}'"
            connection.execute(f"CREATE OR REPLACE VIEW s AS {there}")
            for ours, theirs in pairs.items():
                found = queries[ours].snapshot(at=now).to_pylist()
                shown = Counter(tuple(map(_plain, row.values())) for row in found)
                answer = Counter(connection.execute(in_duckdb(theirs, now)).fetchall())
                assert shown == answer, (ours, now, known)
        engine.stop()


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@pytest.mark.parametrize("seed", range(WORLDS))
def test_every_form_of_a_condition(seed: int) -> None:
    queries = [f"SELECT k FROM s WHERE {condition}" for condition in CONDITIONS]
    judged({sql: sql for sql in queries}, Random(seed))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_times_as_numbers_and_on_grids(seed: int) -> None:
    pairs = {
        f"SELECT k FROM s WHERE {ours}": f"SELECT k FROM s WHERE {theirs}"
        for ours, theirs in NUMBERS.items()
    }
    judged(pairs, Random(seed))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_conditions_elsewhere(seed: int) -> None:
    judged({sql: sql for sql in ELSEWHERE}, Random(seed))


def composed(dice: Random, depth: int) -> str:
    """A random condition."""
    if depth == 0:
        return dice.choice((*CONDITIONS[:17], "k = 2", "until IS NULL"))
    match dice.randrange(4):
        case 0:
            return f"NOT ({composed(dice, depth - 1)})"
        case 1:
            one, two, three = (composed(dice, 0) for _ in range(3))
            return f"(CASE WHEN {one} THEN {two} ELSE {three} END)"
        case _:
            word = dice.choice(("AND", "OR"))
            return f"(({composed(dice, depth - 1)}) {word} ({composed(dice, depth - 1)}))"


def test_random_conditions() -> None:
    dice = Random(CASES)
    for _ in range(CASES // 10):
        queries = [f"SELECT k, ts FROM s WHERE {composed(dice, 2)}" for _ in range(10)]
        judged({sql: sql for sql in queries}, dice)
