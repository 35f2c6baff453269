"""The metro station: every rule against the reference and against its meaning in Python.

The rules run as one program, final, on a made-up while with bursts, disorder and late rows.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.metro.meaning import MEANINGS, Received

from docs import ROOT, blocks
from ebbtide import Engine, col, fn, source
from ebbtide.algebra.relation import Relation
from ebbtide.builder import Term
from ebbtide.core.change import fact
from ebbtide.core.time import MINUTE, SECOND
from ebbtide.metro import rules, story
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


def plan_of(sql: str) -> Relation:
    engine = Engine("nowhere", transport="local")
    engine.execute(rules.declarations())
    return engine.query(sql).bound.plan


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


def test_rules_can_be_built_in_python() -> None:
    """The same plans from verbs."""
    fires, beside = source("fire_starts", alias="f"), source("neighbours", alias="n")
    joined = fires.join(beside, on=col("n.area") == col("f.area"))
    threatened = joined.select("f.fire", col("n.beside").named("area"), "f.at")
    by_name = {rule.name: rule.sql for rule in rules.RULES}
    assert plan_of(threatened.sql) == plan_of(by_name["threatened"])
    hot = source("temperature", alias="t").join(
        source("sensors", alias="s"), on=col("s.sid") == col("t.sid")
    )
    built = hot.select("s.area", col("t.value").named("degrees"), "t.at")
    assert plan_of(built.sql) == plan_of(by_name["temperatures"])
    grid = Term("CEIL(at TO 20 SECONDS)")
    means = source("airflow").group("sid", grid, speed=fn.avg(col("value")))
    assert plan_of(means.sql) == plan_of(by_name["airflows"].replace(" AS at,", ","))


def test_frames_can_be_built_in_python() -> None:
    """From an event to an event: a frame has the columns of its ends, under names of its own."""
    fires = source("fire_starts").select("fire", col("at").named("began")).alias("f")
    ends = source("fire_ends").select("fire", col("at").named("ended")).alias("e")
    lasts = (col("e.ended") >= col("f.began") + timedelta(minutes=1)) & (
        col("e.ended") <= col("f.began") + timedelta(hours=1)
    )
    smoke = source("smoke", alias="k")
    during = (col("k.at") >= col("f.began")) & (col("k.at") <= col("e.ended"))
    frames = (
        fires.join(ends, on=(col("e.fire") == col("f.fire")) & lasts)
        .join(smoke, on=during)
        .group("f.fire", "f.began", "e.ended", "k.sid", most=fn.max(col("k.value")))
    )
    told = day(3, EVERY, LENGTH)
    names = ("smoke", "fire_starts", "fire_ends")
    inputs = {name: tuple(map(fact, told.rows(name))) for name in names}
    areas = {sensor.number: sensor.area for sensor in told.sensors}
    found = (change.row for change in evaluate(plan_of(frames.sql), inputs))
    rows = [(fire, areas[sid], began, end, most) for fire, began, end, sid, most in found]
    assert counted(rows) == counted(MEANINGS["worst_smoke"](told, []))


def test_a_rule_of_a_stream_that_reads_itself_can_be_built_in_python() -> None:
    start = source("fire_starts").select(
        "fire", (col("at") - timedelta(seconds=10)).named("begins"), col("at").named("ends")
    )
    assert plan_of(start.sql) == plan_of(rules.DERIVED["looks"][1][0])


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
