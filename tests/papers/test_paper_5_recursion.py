"""The recursive examples of paper 5, section 5, in this process, against their rules in Python.

A fire is watched from its start until a while after its end: windows over the smoke that begin with
the fire and slide with it; and the greatest concentration, in fragments of a minute while the fire
lasts and in all when it has ended.  Rows come in any order, some of them late; after every step the
answers are what the rules say of all rows so far.  Durations are shorter than the paper's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.builder import col, lit, source
from ebbtide.core.change import facts
from ebbtide.core.time import INF, NEG_INF, SECOND, instant
from ebbtide.reference import evaluate

SOURCES = """
CREATE STREAM Smoke (time TIMESTAMP NOT NULL, area BIGINT, conz BIGINT,
  PROGRESS FOR time AS time - INTERVAL 4 SECONDS) RETAIN 5 MINUTES;
CREATE STREAM FireStart (fid BIGINT, time TIMESTAMP NOT NULL,
  PROGRESS FOR time AS time - INTERVAL 4 SECONDS) RETAIN 5 MINUTES;
CREATE STREAM FireEnd (fid BIGINT, time TIMESTAMP NOT NULL,
  PROGRESS FOR time AS time - INTERVAL 4 SECONDS) RETAIN 5 MINUTES;
"""
WINDOWS = """
CREATE STREAM Windows ("start" TIMESTAMP NOT NULL, "end" TIMESTAMP NOT NULL,
  PROGRESS FOR "end" AS "end", PROGRESS FOR "start" AS "start");
INSERT INTO Windows SELECT time - INTERVAL 10 SECONDS, time FROM FireStart;
INSERT INTO Windows
SELECT w."start" + INTERVAL 1 SECOND, w."end" + INTERVAL 1 SECOND FROM Windows AS w
WHERE NOT EXISTS (SELECT 1 FROM FireEnd AS f
  WHERE w."start" <= f.time + INTERVAL 30 SECONDS AND f.time + INTERVAL 30 SECONDS < w."end");
"""
AVERAGES = """
SELECT s.area, w."end" AS time, AVG(s.conz) AS avgConz FROM Smoke AS s
JOIN Windows AS w ON w."start" <= s.time AND s.time <= w."end" GROUP BY s.area, w."end"
"""
FRAGMENTS = """
CREATE STREAM MaxSmokeFrag ("start" TIMESTAMP NOT NULL, "end" TIMESTAMP NOT NULL, area BIGINT,
  maxConz BIGINT, PROGRESS FOR "end" AS "end");
INSERT INTO MaxSmokeFrag
SELECT fs.time, fs.time + INTERVAL 1 MINUTE, s.area, MAX(s.conz) FROM FireStart AS fs
JOIN Smoke AS s ON fs.time <= s.time AND s.time < fs.time + INTERVAL 1 MINUTE
WHERE NOT EXISTS (SELECT 1 FROM FireEnd AS fe
  WHERE fs.time <= fe.time AND fe.time < fs.time + INTERVAL 1 MINUTE)
GROUP BY fs.time, s.area;
INSERT INTO MaxSmokeFrag
SELECT f."start", f."end" + INTERVAL 1 MINUTE, f.area, GREATEST(f.maxConz, MAX(s.conz))
FROM MaxSmokeFrag AS f
JOIN Smoke AS s ON f.area = s.area AND f."end" <= s.time AND s.time < f."end" + INTERVAL 1 MINUTE
WHERE NOT EXISTS (SELECT 1 FROM FireEnd AS fe
  WHERE f."end" <= fe.time AND fe.time < f."end" + INTERVAL 1 MINUTE)
GROUP BY f."start", f."end", f.area, f.maxConz;
"""
FRAMES = """
SELECT f."start", fe.time AS "end", f.area, GREATEST(f.maxConz, MAX(s.conz)) AS maxConz
FROM MaxSmokeFrag AS f
JOIN Smoke AS s ON f.area = s.area AND f."end" <= s.time AND s.time < f."end" + INTERVAL 1 MINUTE
JOIN FireEnd AS fe
  ON s.time < fe.time AND f."end" <= fe.time AND fe.time < f."end" + INTERVAL 1 MINUTE
GROUP BY f."start", fe.time, f.area, f.maxConz
"""
NOON = "2026-01-01 12:00:00"
Row = tuple[Any, ...]
Rows = Mapping[str, Iterable[Row]]
"""Rows of the three sources; times are seconds after noon."""


# --- the rules, in Python ------------------------------------------------------------------------


def windows(seen: Rows, now: int) -> Counter[Row]:
    """From the start of each fire on, every second, until one has ended 30 seconds ago."""
    found: Counter[Row] = Counter()
    ends = [time + 30 for _, time in seen["FireEnd"]]
    for _, end in seen["FireStart"]:
        while end <= now:
            found[end - 10, end] += 1
            if any(end - 10 <= over < end for over in ends):
                break
            end += 1
    return found


def averages(seen: Rows, now: int) -> Counter[Row]:
    """The mean concentration of each area in each window."""
    values: defaultdict[Row, list[int]] = defaultdict(list)
    for (start, end), count in windows(seen, now).items():
        for time, area, conz in seen["Smoke"]:
            if start <= time <= end:
                values[area, end] += [conz] * count
    return Counter({(*key, sum(its) / len(its)): 1 for key, its in values.items()})


def fragments(seen: Rows, now: int) -> Counter[Row]:
    """The greatest concentration so far, for every whole minute that a fire has lasted."""
    found: Counter[Row] = Counter()
    for start in {time for _, time in seen["FireStart"]}:
        for area in {area for _, area, _ in seen["Smoke"]}:
            most, begin = NEG_INF, start
            while begin + 60 <= now and not any(
                begin <= t < begin + 60 for _, t in seen["FireEnd"]
            ):
                new = [c for t, a, c in seen["Smoke"] if a == area and begin <= t < begin + 60]
                if not new:
                    break
                most, begin = max(most, *new), begin + 60
                found[start, begin, area, most] += 1
    return found


def frames(seen: Rows, now: int) -> Counter[Row]:
    """The greatest concentration from the start of a fire to its end, once that is there."""
    found: Counter[Row] = Counter()
    for start, end, area, most in fragments(seen, now):
        for over in {t for _, t in seen["FireEnd"] if end <= t < end + 60}:
            rest = [c for t, a, c in seen["Smoke"] if a == area and end <= t < over]
            if rest:
                found[start, over, area, max(most, *rest)] += 1
    return found


RULES = {
    "windows": ('SELECT "start", "end" FROM Windows', windows),
    "averages": (AVERAGES, averages),
    "fragments": ('SELECT "start", "end", area, maxConz FROM MaxSmokeFrag', fragments),
    "frames": (FRAMES, frames),
}


# --- the story -----------------------------------------------------------------------------------


def story(seed: int, minutes: int = 5) -> dict[str, list[Row]]:
    """Two fires, and smoke in two areas every few seconds."""
    random = Random(seed)
    first = random.randint(5, 30)
    over = first + random.randint(70, 200)
    again = over + random.randint(20, 40)
    smoke = [
        (second, area, random.randint(1, 99))
        for area in (1, 2)
        for second in range(0, 60 * minutes, random.randint(4, 7))
    ]
    return {
        "FireStart": [(1, first), (2, again)],
        "FireEnd": [(1, over)],
        "Smoke": smoke,
    }


def arrivals(seed: int, told: Mapping[str, list[Row]], steps: int) -> list[dict[str, list[Row]]]:
    """The rows in steps, about in the order of their times; some come a few steps too late."""
    random = Random(seed)
    last = max(row[0] for row in told["Smoke"]) + 1
    found: list[dict[str, list[Row]]] = [{name: [] for name in told} for _ in range(steps)]
    for name, rows in told.items():
        for row in rows:
            time = row[0] if name == "Smoke" else row[1]
            place = time * steps // last + (random.random() < 0.1) * random.randint(1, 2)
            found[min(steps - 1, place)][name].append(row)
    return found


def at(second: int) -> str:
    """So many seconds after noon, as it is fed."""
    return f"2026-01-01 12:{second // 60:02}:{second % 60:02}"


def fed(name: str, row: Row) -> Row:
    """A row as it is fed."""
    return (at(row[0]), *row[1:]) if name == "Smoke" else (row[0], at(row[1]))


def in_seconds(value: Any) -> Any:
    """Times as seconds after noon."""
    if isinstance(value, datetime):
        return round((value.replace(tzinfo=None) - datetime.fromisoformat(NOON)).total_seconds())
    return value


def answer(query: Any) -> Counter[Row]:
    """The answer of a query, with times as seconds after noon."""
    rows = query.snapshot().to_pylist()
    return Counter(tuple(map(in_seconds, row.values())) for row in rows)


def known(seen: Rows) -> int:
    """``now``: the largest time of what the recursions are made of."""
    times = [row[0] for row in seen["Smoke"]]
    times += [row[1] for name in ("FireStart", "FireEnd") for row in seen[name]]
    return max(times)


# --- what holds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "steps", "shards"), [(1, 6, 1), (2, 9, 3)])
def test_the_answers_are_what_the_rules_say(
    tmp_path: Path, seed: int, steps: int, shards: int
) -> None:
    engine = Engine(tmp_path, transport="local", shards=shards)
    engine.execute(SOURCES + WINDOWS + FRAGMENTS)
    queries = {name: engine.query(text, name=name) for name, (text, _) in RULES.items()}
    engine.start(*queries.values(), name="fires")
    seen: dict[str, list[Row]] = {"Smoke": [], "FireStart": [], "FireEnd": []}
    compared: Counter[str] = Counter()
    for step in arrivals(seed, story(seed), steps):
        for name, rows in step.items():
            engine.feed(name, [fed(name, row) for row in rows])
            seen[name] += rows
        engine.step()
        for name, query in queries.items():
            expected = RULES[name][1](seen, known(seen))
            assert answer(query) == expected, name
            compared[name] += len(expected)
    assert min(compared.values()) > 3, compared


def test_the_reference_says_the_same(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SOURCES + WINDOWS + FRAGMENTS)
    told = story(3, minutes=3)
    noon = instant(NOON)
    inputs = {
        name: facts(
            (noon + row[0] * SECOND, *row[1:])
            if name == "Smoke"
            else (row[0], noon + row[1] * SECOND)
            for row in rows
        )
        for name, rows in told.items()
    }
    now = 150
    for name in ("fragments", "frames"):
        text, rule = RULES[name]
        plan = engine.query(text, name=name).bound.plan
        said = evaluate(plan, inputs, noon + now * SECOND)
        assert all((c.valid_from, c.valid_to) == (NEG_INF, INF) for c in said)
        rows = Counter({tuple(_second(v, noon) for v in c.row): c.diff for c in said})
        # The reference knows the rows that are later than now; the recursion does not look at them.
        assert rows == rule(told, now), name


def _second(value: Any, noon: int) -> Any:
    return (value - noon) // SECOND if isinstance(value, int) and value > noon // 2 else value


def test_a_rule_can_be_written_in_python(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM bids (auction BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE STREAM calls (auction BIGINT, n BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
    """)
    first = source("bids").select("auction", n=lit(1), at=col("at"))
    again = source("calls").where(col("n") < 3)
    again = again.select("auction", n=col("n") + 1, at=col("at") + timedelta(seconds=20))
    for rule in (first, again):
        engine.execute(f"INSERT INTO calls {rule}")
    query = engine.query(source("calls").select("auction", "n", "at"), name="calls")
    query.start()
    engine.feed("bids", [(1, at(0)), (2, at(25))])
    engine.step()
    assert answer(query) == Counter([(1, 1, 0), (1, 2, 20), (2, 1, 25)])
    engine.advance("bids", at(45))
    engine.step()
    assert answer(query) == Counter([(1, 1, 0), (1, 2, 20), (1, 3, 40), (2, 1, 25)])
