"""The metro station: every rule against the reference and against its meaning in Python.

The rules run as one program, final, on a made-up while with bursts, disorder and late rows.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.metro.meaning import MEANINGS, Received

from docs import ROOT, blocks
from ebbtide import Engine
from ebbtide.algebra.relation import Relation
from ebbtide.core.change import fact
from ebbtide.core.time import MINUTE, SECOND
from ebbtide.engine.query import Query
from ebbtide.metro import rules, story, verbs
from ebbtide.metro.day import BEGIN, NEIGHBOURS, Day, day
from ebbtide.reference import evaluate

LENGTH, EVERY = 20 * MINUTE, 30 * SECOND
NAMES = [rule.name for rule in rules.RULES]


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> story.Station:
    played = story.Station(str(tmp_path_factory.mktemp("metro")), day(3, EVERY, LENGTH))
    played.play()
    return played


def received(told: Day, step: int) -> Received:
    """When each report was received: at the step that took it."""
    return [
        (event.row[0], BEGIN - (BEGIN - event.arrives) // step * step)
        for event in told.events
        if event.stream == "reports"
    ]


def counted(rows: Any) -> Counter[tuple[Any, ...]]:
    """Rows with times as microseconds."""
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return round(value.timestamp() * SECOND)
    return value


def query_of(sql: str) -> Query:
    engine = Engine("nowhere", transport="local")
    engine.execute(rules.declarations())
    return engine.query(sql)


def plan_of(sql: str) -> Relation:
    return query_of(sql).bound.plan


def test_every_rule_has_a_meaning() -> None:
    assert list(MEANINGS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_says_what_it_means(station: story.Station, name: str) -> None:
    expected = MEANINGS[name](station.told, received(station.told, station.length))
    assert counted(station.rows(name)) == counted(expected)
    assert expected


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_says_what_the_reference_says(station: story.Station, name: str) -> None:
    told = station.told
    inputs = {stream: tuple(map(fact, told.rows(stream))) for stream in rules.COLUMNS}
    when = received(told, station.length)
    reports = zip(told.rows("reports"), when, strict=True)
    inputs["reports"] = tuple(fact((*row, came)) for row, (_, came) in reports)
    inputs["sensors"] = tuple(fact((s.number, s.kind, s.area)) for s in told.sensors)
    inputs["neighbours"] = tuple(map(fact, NEIGHBOURS))
    (sql,) = (rule.sql for rule in rules.RULES if rule.name == name)
    answer = evaluate(plan_of(sql), inputs, station.now)
    expected = Counter({change.row: change.diff for change in answer})
    assert counted(station.rows(name)) == expected


def test_a_late_row_and_a_burst_are_among_them(station: story.Station) -> None:
    delays = [event.arrives - event.at for event in station.told.events]
    assert any(delay > 15 * SECOND for delay in delays)
    assert any(delay > MINUTE for delay in delays)


@pytest.mark.parametrize("rule", rules.RULES, ids=NAMES)
def test_the_verbs_of_python_say_the_same(rule: rules.StationRule) -> None:
    assert plan_of(verbs.RULES[rule.name].sql) == plan_of(rule.sql)


@pytest.mark.parametrize("stream", rules.DERIVED)
def test_the_verbs_of_python_feed_streams_that_read_themselves(stream: str) -> None:
    built = [plan_of(rows.sql) for rows in verbs.DERIVED[stream]]
    assert built == [plan_of(sql) for sql in rules.DERIVED[stream][1]]


def test_the_station_can_be_declared_by_the_verbs_of_python() -> None:
    engine = Engine("nowhere", transport="local")
    fed = [f"INSERT INTO {name}" for name in rules.DERIVED]
    declared = rules.declarations().split(";\n")
    engine.execute(";".join(text for text in declared if not text.startswith(tuple(fed))))
    for stream, queries in verbs.DERIVED.items():
        for rows in queries:
            engine.execute(rows.insert_into(stream))
    found = engine.query(verbs.RULES["smoke_around_fires"].final())
    assert found.bound == query_of(rules.RULES[NAMES.index("smoke_around_fires")].final).bound


def test_the_hour_is_the_same_for_the_same_seed() -> None:
    assert day(8) == day(8)
    assert day(8) != day(9)


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    """Of the page's long output the parts that no machine changes."""
    (shown,) = [b.text for b in blocks(ROOT / "docs/metro.md") if "Fourteen rules" in b.text]
    told = "\n".join(story.lines())
    assert told.strip() == shown.strip()


def test_files_and_script(tmp_path: Path) -> None:
    script = story.write_files(day(3, EVERY, LENGTH), tmp_path / "station")
    engine = Engine(tmp_path / "state")
    engine.execute(script.read_text())
    lines = (tmp_path / "station/reports/day.json").read_text().splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r'\{"area": "\w+", "written": "2026-03-02 [0-9:]+"\}', lines[0])
