"""What the rules of the station mean: each as one would say it in Python, over all rows.

Rows are tuples in the order of the query's columns; times are microseconds.  ``received`` says for
each report when it was received, which is not in its row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ebbtide.core.time import HOUR, MINUTE, SECOND, Instant
from ebbtide.metro.day import NEIGHBOURS, Day

Rows = list[tuple[Any, ...]]
Received = list[tuple[str, Instant]]


def temperatures(day: Day, received: Received) -> Rows:
    areas = {sensor.number: sensor.area for sensor in day.sensors}
    return [(areas[sid], value, at) for sid, value, at in day.rows("temperature")]


def airflows(day: Day, received: Received) -> Rows:
    values: dict[tuple[int, Instant], list[float]] = defaultdict(list)
    for sid, value, at in day.rows("airflow"):
        values[sid, -(-at // (20 * SECOND)) * 20 * SECOND].append(value)
    return [(sid, at, sum(them) / len(them)) for (sid, at), them in values.items()]


def rises(day: Day, received: Received) -> Rows:
    found = []
    for sensor in day.sensors:
        own = sorted((at, v) for sid, v, at in day.rows("temperature") if sid == sensor.number)
        found += [(sensor.number, at, v - was) for (_, was), (at, v) in pairwise(own)]
    return [(sid, at, rise) for sid, at, rise in found if rise >= 8]


def detections(day: Day, received: Received) -> Rows:
    areas = {sensor.number: sensor.area for sensor in day.sensors}
    smoke = [(areas[sid], at) for sid, value, at in day.rows("smoke") if value >= 10]
    heat = [(areas[sid], at) for sid, value, at in day.rows("temperature") if value >= 30]
    return list(
        {
            (area, later)
            for area, first in smoke
            for other, later in heat
            if other == area and first <= later <= first + 30 * SECOND
        }
    )


def alarms(day: Day, received: Received) -> Rows:
    return [
        (fire, area, at)
        for fire, area, at in day.rows("fire_starts")
        if not any(who == area and at <= when <= at + 2 * MINUTE for who, when in received)
    ]


def failures(day: Day, received: Received) -> Rows:
    times = defaultdict(list)
    for sid, _, at in day.rows("temperature"):
        times[sid].append(at)
    return [
        (sid, at + 10 * SECOND)
        for sid, own in times.items()
        for at in own
        if not any(at < other <= at + 30 * SECOND for other in own)
    ]


def recoveries(day: Day, received: Received) -> Rows:
    times = defaultdict(list)
    for sid, _, at in day.rows("temperature"):
        times[sid].append(at)
    return [
        (sid, at)
        for sid, own in times.items()
        for at in own
        if any(at - 10 * MINUTE <= other < at - MINUTE for other in own)
        and not any(at - MINUTE <= other < at for other in own)
    ]


def stuck(day: Day, received: Received) -> Rows:
    values: dict[tuple[int, Instant], list[float]] = defaultdict(list)
    for sid, value, at in day.rows("temperature"):
        values[sid, -(-at // (5 * MINUTE)) * 5 * MINUTE].append(value)
    return [
        (sid, at, them[0])
        for (sid, at), them in values.items()
        if len(them) >= 8 and len({*them}) == 1
    ]


def threatened(day: Day, received: Received) -> Rows:
    return [
        (fire, beside, at)
        for fire, area, at in day.rows("fire_starts")
        for where, beside in NEIGHBOURS
        if where == area
    ]


def worst_smoke(day: Day, received: Received) -> Rows:
    ends = dict(day.rows("fire_ends"))
    return [
        (fire, area, at, ends[fire], most)
        for fire, _, at in day.rows("fire_starts")
        if fire in ends and at + MINUTE <= ends[fire] <= at + HOUR
        for area, most in _most(day, at, ends[fire])
    ]


def smoke_until_brigade(day: Day, received: Received) -> Rows:
    arrivals = dict(day.rows("brigades"))
    return [
        (fire, area, arrivals[fire], most)
        for fire, _, at in day.rows("fire_starts")
        if fire in arrivals and at <= arrivals[fire] <= at + 30 * MINUTE
        for area, most in _most(day, at, arrivals[fire])
    ]


def smoke_around_fires(day: Day, received: Received) -> Rows:
    areas = {sensor.number: sensor.area for sensor in day.sensors}
    ends = dict(day.rows("fire_ends"))
    found = []
    for fire, _, start in day.rows("fire_starts"):
        # The look in which the five minutes after the end are over is the last one.
        last = ends[fire] + 5 * MINUTE
        looks = range(start, last + SECOND + 1, SECOND)
        for area in {*areas.values()}:
            own = [(v, at) for sid, v, at in day.rows("smoke") if areas[sid] == area]
            for end in looks:
                seen = [v for v, at in own if end - 10 * SECOND <= at <= end]
                if seen:
                    found.append((area, end, sum(seen) / len(seen)))
    return found


def so_far(day: Day, received: Received) -> Rows:
    ends = dict(day.rows("fire_ends"))
    found = []
    for fire, _, start in day.rows("fire_starts"):
        for area in {sensor.area for sensor in day.sensors}:
            end = start
            while ends[fire] >= end + MINUTE and _most_of(day, area, end, end + MINUTE) is not None:
                end += MINUTE
                found.append((fire, area, start, end, _most_of(day, area, start, end)))
    return found


def worst_of_fragments(day: Day, received: Received) -> Rows:
    ends = dict(day.rows("fire_ends"))
    return [
        (fire, area, start, ends[fire], _most_of(day, area, start, ends[fire]))
        for fire, area, start, end, _ in so_far(day, received)
        if end <= ends[fire] < end + MINUTE
    ]


def _most_of(day: Day, area: str, first: Instant, last: Instant) -> float | None:
    return dict(_most(day, first, last - 1)).get(area)


def _most(day: Day, first: Instant, last: Instant) -> Rows:
    areas = {sensor.number: sensor.area for sensor in day.sensors}
    most: dict[str, float] = {}
    for sid, value, at in day.rows("smoke"):
        if first <= at <= last:
            most[areas[sid]] = max(most.get(areas[sid], value), value)
    return list(most.items())


MEANINGS: dict[str, Callable[[Day, Received], Rows]] = {
    rule.__name__: rule
    for rule in (
        temperatures,
        airflows,
        rises,
        detections,
        alarms,
        failures,
        recoveries,
        stuck,
        threatened,
        worst_smoke,
        smoke_until_brigade,
        smoke_around_fires,
        so_far,
        worst_of_fragments,
    )
}
