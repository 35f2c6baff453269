"""The hour in the station on an engine, and the report of it: ``ebbtide demo metro``.

The rules run as one program in this process, without Java, in steps of two minutes of a clock
that the story moves; so what it tells is the same on every run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ebbtide.core.time import MINUTE, SECOND, Instant, format_instant
from ebbtide.demo import clock as time_of_day
from ebbtide.demo import indented, table
from ebbtide.engine.engine import Engine
from ebbtide.metro import rules
from ebbtide.metro.day import BEGIN, NEIGHBOURS, Day, Event, day

STEP = 2 * MINUTE
QUIET = 4 * MINUTE
"""So long after the last event all that happened is final."""


class Station:
    """The rules on an engine whose clock is that of the story."""

    def __init__(self, location: str, told: Day, step: int = STEP) -> None:
        self.told, self.length = told, step
        self.now = BEGIN
        self.engine = Engine(location, transport="local", shards=1, clock=lambda: self.now)
        self.engine.execute(rules.declarations())
        self.engine.feed("sensors", [(s.number, s.kind, s.area) for s in told.sensors])
        self.engine.feed("neighbours", NEIGHBOURS)
        queries = [self.engine.query(rule.final, rule.name) for rule in rules.RULES]
        self.queries = {query.name: query for query in queries}
        self.run = self.engine.start(*queries, name="metro")

    def play(self) -> None:
        """All steps of the hour, and a quiet while after it."""
        waiting = list(self.told.events)
        end = waiting[-1].arrives + QUIET
        while self.now < end:
            self.now += self.length
            came = [event for event in waiting if event.arrives <= self.now]
            waiting = waiting[len(came) :]
            self._feed(came)
            if not waiting:
                self._advance()
            self.engine.step()

    def rows(self, rule: str) -> list[tuple[Any, ...]]:
        """What a rule has said, in the order of all columns."""
        found = self.queries[rule].snapshot().to_pylist()
        return sorted((tuple(row.values()) for row in found), key=repr)

    def stored(self) -> dict[str, int]:
        """How many rows each rule keeps."""
        counts = dict.fromkeys(self.queries, 0)
        for name, told in self.run.status.metrics.items():
            rule = name.removeprefix("output.").partition(".")[0]
            if rule in counts and not name.startswith("live"):
                counts[rule] += told.rows_stored
        return counts

    def _feed(self, came: Sequence[Event]) -> None:
        for stream in rules.COLUMNS:
            self.engine.feed(stream, [e.row for e in came if e.stream == stream])

    def _advance(self) -> None:
        """The sensors are switched off at the end: nothing more comes of what has happened."""
        for stream in rules.COLUMNS:
            self.engine.advance(stream, self.now - MINUTE)


def write_files(told: Day, directory: str | Path) -> Path:
    """The hour as files of JSON, and the script that runs the rules on them."""
    root = Path(directory)
    names = {name: _names(columns) for name, columns in (*rules.COLUMNS.items(), *_TABLES)}
    found: dict[str, list[tuple[Any, ...]]] = {
        "sensors": [(s.number, s.kind, s.area) for s in told.sensors],
        "neighbours": list(NEIGHBOURS),
        **{stream: told.rows(stream) for stream in rules.COLUMNS},
    }
    for name, values in found.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(dict(zip(names[name], _written(row), strict=True))) for row in values)
        (root / name / "day.json").write_text("".join(f"{line}\n" for line in lines))
    script = root / "metro.sql"
    script.write_text(rules.script(str(root)))
    return script


_TABLES = tuple(rules.TABLES.items())


def _names(columns: str) -> list[str]:
    """The columns that rows bring."""
    parts = (part.split() for part in columns.split(", ") if not part.startswith("PROGRESS"))
    return [words[0] for words in parts if "ARRIVAL" not in words]


def _written(row: Sequence[Any]) -> Iterator[Any]:
    for value in row:
        is_time = isinstance(value, int) and value > BEGIN - MINUTE
        yield format_instant(value) if is_time else value


def lines(seed: int = 5) -> list[str]:
    """The lines of the story."""
    told = day(seed)
    with TemporaryDirectory() as location:
        station = Station(location, told)
        station.play()
        found = {name: station.rows(name) for name in station.queries}
        return [*_opening(told), *_findings(told, found), *_state(station, told)]


def _opening(told: Day) -> list[str]:
    events = told.events
    late = sum(event.arrives - event.at > MINUTE for event in events if event.stream != "reports")
    early = sum(b.at < a.at for a, b in pairwise(events))
    return [
        "An hour in a metro station: sensors, wardens, a fire. Fourteen rules, no window.",
        "",
        f"   {len(events):,} rows come, {early:,} of them out of order and {late} late.",
        "   One area's line is down for 40 seconds; then all its readings come at once.",
        "",
    ]


def _findings(told: Day, found: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    (fire,) = (fire for fire in told.fires if fire.is_real)
    (false,) = (fire for fire in told.fires if not fire.is_real)
    areas = sorted({area for area, _ in found["detections"]})
    first = {area: min(at for where, at in found["detections"] if where == area) for area in areas}
    return [
        "1. Detection: smoke and then heat in one area within 30 seconds.",
        "",
        *_table(("area", "first detected"), [(area, first[area]) for area in areas]),
        "",
        f"   In the {false.area} it was nothing, as a warden said in time."
        f" In the {fire.area} it burns.",
        "",
        "2. Reaction: no report received within two minutes of the fire. The warden wrote one in",
        "   time, and it came through too late: what counts is when it was received.",
        "",
        *_table(("fire", "area", "since"), found["alarms"]),
        "",
        "3. Analysis: the most smoke in each area, until the brigade was there and until the end.",
        "",
        *_table(("fire", "area", "brigade", "most"), found["smoke_until_brigade"]),
        "",
        *_table(("fire", "area", "began", "ended", "most"), found["worst_smoke"]),
        "",
        "   The same without a longest duration, from fragments: minute by minute while it burns,",
        f"   {len(found['so_far'])} rows, and at the end what is true of the whole fire.",
        "",
        *_table(("fire", "area", "began", "ended", "most"), found["worst_of_fragments"]),
        "",
        "   From the start to five minutes after the end there is a look at the last 10 seconds,",
        f"   every second: {len(found['smoke_around_fires']):,} means, and none before or after.",
        "",
        "4. Sensor failure: nothing for 30 seconds. It failed when its next reading was due.",
        "",
        *_table(
            ("sensor", "failed at"), [row for row in found["failures"] if _is_early(told, row)]
        ),
        "",
        "   One of them is back after two minutes, and says the same ever after.",
        "",
        *_table(("sensor", "back at"), found["recoveries"]),
        "",
        *_table(("sensor", "until", "always says"), found["stuck"]),
        "",
    ]


def _is_early(told: Day, row: tuple[Any, ...]) -> bool:
    """Whether a sensor fell silent before all of them were switched off."""
    last = max(event.at for event in told.events if event.stream == "temperature")
    return int(row[1].timestamp()) * SECOND < last - MINUTE


def _state(station: Station, told: Day) -> list[str]:
    stored = station.stored()
    rows = [
        (rule.name, rule.kind, len(station.rows(rule.name)), stored[rule.name])
        for rule in rules.RULES
    ]
    return [
        f"What is kept, an hour and {len(told.events):,} rows later:",
        "",
        *_table(("rule", "kind", "rows said", "rows kept"), rows),
        "",
        "The same on files of your own disk, with Spark:",
        "",
        "     ebbtide demo metro --files station",
        "     ebbtide run station/metro.sql --view alarms --view failures",
    ]


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    return indented(table(header, ([_shown(value) for value in row] for row in rows)))


def _shown(value: Any) -> str:
    if hasattr(value, "timestamp"):
        return time_of_day(Instant(round(value.timestamp()) * SECOND))
    return f"{value:,}" if isinstance(value, int) else str(value)
