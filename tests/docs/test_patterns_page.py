"""The patterns of the page, on random events in random order, against loops over all events."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from docs import ROOT, blocks
from ebbtide import Engine
from ebbtide.config import Config

PAGE = ROOT / "docs/how-to/patterns.md"
START = datetime(2026, 1, 1)
MINUTE = timedelta(minutes=1)
WORLDS = {"quick": 1, "ci": 2, "long": 50}[Config.from_environment().profile]

Event = tuple[int, str, datetime]
DECLARED, *QUERIES = [block.text for block in blocks(PAGE) if block.language == "sql"]


def followed(events: list[Event], now: datetime) -> Counter[Any]:
    return Counter((m, t, u) for m, t, u in _pairs(events))


def following(events: list[Event], now: datetime) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for machine, kind, at in events:
        after = [u for m, t, u in _pairs([*events]) if (m, t) == (machine, at)]
        if kind == "A" and after:
            found[(machine, at, min(after))] += 1
    return found


def absent(events: list[Event], now: datetime) -> Counter[Any]:
    begun = {(m, t) for m, t, _ in _pairs(events)}
    return Counter((m, at) for m, kind, at in events if kind == "A" and (m, at) not in begun)


def often(events: list[Event], now: datetime) -> Counter[Any]:
    return Counter(
        (m, at)
        for m, kind, at in events
        if kind == "A" and len(_before(events, m, at - MINUTE, at)) >= 3
    )


def busy(events: list[Event], now: datetime) -> Counter[Any]:
    tick = timedelta(microseconds=1)
    counts = {m: len(_before(events, m, now - MINUTE + tick, now)) for m in (1, 2, 3)}
    return Counter((m, n) for m, n in counts.items() if n >= 3)


def _pairs(events: list[Event]) -> list[tuple[int, datetime, datetime]]:
    return [
        (m, at, other)
        for m, kind, at in events
        for n, of, other in events
        if kind == "A" and of == "B" and m == n and at < other <= at + MINUTE
    ]


def _before(events: list[Event], machine: int, first: datetime, last: datetime) -> list[Event]:
    return [e for e in events if e[0] == machine and e[1] == "A" and first <= e[2] <= last]


RULES: list[Callable[[list[Event], datetime], Counter[Any]]] = [
    followed,
    following,
    absent,
    often,
    busy,
]


@pytest.mark.parametrize("seed", range(WORLDS))
def test_a_pattern_means_what_the_loop_says(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)
    events = [
        (dice.choice((1, 2, 3)), dice.choice("AAB"), START + timedelta(seconds=5 * s))
        for s in dice.sample(range(80), 50)
    ]
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    assert len(QUERIES) == len(RULES)
    queries = [
        engine.query(sql, name=rule.__name__) for sql, rule in zip(QUERIES, RULES, strict=True)
    ]
    engine.start(*queries, name="patterns")
    late = sorted(events, key=lambda event: event[2] + timedelta(seconds=dice.randrange(30)))
    for part in range(0, len(late), 7):
        engine.feed("events", late[part : part + 7])
        engine.step()
    now = START + timedelta(minutes=7)
    engine.advance("events", now + 2 * MINUTE)
    engine.step()
    for query, rule in zip(queries, RULES, strict=True):
        shown = query.snapshot(at=now) if rule is busy else query.snapshot()
        rows = Counter(tuple(map(_plain, row.values())) for row in shown.to_pylist())
        assert rows == rule(events, now), rule.__name__


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value
