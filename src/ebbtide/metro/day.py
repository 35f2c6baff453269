"""What happens in the station, made up from a seed.

Law: an hour is a function of its seed.  Every event has the time at which it happened and the time
at which it reaches the engine, and that is never earlier.  Most come within seconds and out of
order; a burst brings the readings of a while at once; a few come after their promise.

    happened   a  b  c  d  e  f  g              the line to the platform is down from b to e
    arrives    a                  bcde f g      and then all comes together
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from ebbtide.core.time import MINUTE, SECOND, Duration, Instant, instant
from ebbtide.core.values import Row

BEGIN = instant("2026-03-02 07:00:00")
LENGTH = 60 * MINUTE
AREAS = ("hall", "platform", "stairs", "tunnel")
NEIGHBOURS = (
    ("hall", "stairs"),
    ("platform", "stairs"),
    ("platform", "tunnel"),
    ("stairs", "hall"),
    ("stairs", "platform"),
    ("tunnel", "platform"),
)
EVERY = 10 * SECOND
"""How often a sensor reports."""

LATE = 90 * SECOND
"""How much later than it should a late row comes; streams promise to be 15 seconds behind."""


@dataclass(frozen=True, slots=True)
class Event:
    """A row of a stream: when it happened, and when it reaches the engine."""

    stream: str
    row: Row
    at: Instant
    arrives: Instant


@dataclass(frozen=True, slots=True)
class Fire:
    """A fire in an area, from its detection until people say that it is over."""

    number: int
    area: str
    start: Instant
    end: Instant
    is_real: bool = True


@dataclass(frozen=True, slots=True)
class Sensor:
    """What a sensor measures, and where; a broken one is silent from an instant on.

    One that is back later says the same ever after.
    """

    number: int
    kind: str
    area: str
    silent_from: Instant | None = None
    back_at: Instant | None = None

    def speaks(self, at: Instant) -> bool:
        """Whether it reports at an instant."""
        is_back = self.back_at is not None and at >= self.back_at
        return self.silent_from is None or at < self.silent_from or is_back

    def is_stuck(self, at: Instant) -> bool:
        """Whether it says what it has said before."""
        return self.back_at is not None and at >= self.back_at


@dataclass(frozen=True, slots=True)
class Day:
    """The hour: tables that do not change, and events in the order in which they arrive."""

    sensors: tuple[Sensor, ...]
    fires: tuple[Fire, ...]
    events: tuple[Event, ...]

    def rows(self, stream: str) -> list[Row]:
        """All rows of a stream."""
        return [event.row for event in self.events if event.stream == stream]


def day(seed: int = 5, every: Duration = EVERY, length: Duration = LENGTH) -> Day:
    """The hour of a seed, or another length of time, with a reading of each sensor ``every``."""
    random = Random(seed)
    fires = _fires(random, length)
    sensors = _sensors(random, length)
    burst = _burst(random, length)
    events = [
        *_readings(random, sensors, fires, burst, every, length),
        *_of_fires(random, fires),
        *_of_wardens(random, fires),
    ]
    return Day(sensors, fires, tuple(sorted(events, key=lambda e: (e.arrives, e.at, e.stream))))


def _after(random: Random, length: Duration, low: int, high: int) -> Instant:
    """A second between two hundredths of the time."""
    return BEGIN + random.randrange(length * low // 100, length * high // 100) // SECOND * SECOND


def _fires(random: Random, length: Duration) -> tuple[Fire, ...]:
    """A real fire, and heat and smoke that a warden finds to be nothing."""
    area, other = random.sample(AREAS, 2)
    start = _after(random, length, 30, 40)
    end = start + length // 5 + random.randrange(60) * SECOND
    false = _after(random, length, 8, 20)
    return (
        Fire(1, other, false, false + 40 * SECOND, is_real=False),
        Fire(2, area, start, end),
    )


def _sensors(random: Random, length: Duration) -> tuple[Sensor, ...]:
    kinds = ("temperature", "temperature", "smoke", "airflow")
    places = [(kind, area) for area in AREAS for kind in kinds]
    able = [i for i, (kind, _) in enumerate(places) if kind == "temperature"]
    broken, worn = random.sample(able, 2)
    at, pause = _after(random, length, 60, 80), _after(random, length, 45, 55)
    faults = {broken: (at, None), worn: (pause, pause + 2 * MINUTE)}
    return tuple(
        Sensor(i + 1, kind, area, *faults.get(i, (None, None)))
        for i, (kind, area) in enumerate(places)
    )


@dataclass(frozen=True, slots=True)
class _Burst:
    """An area whose line is down: what happens there meanwhile arrives when it is up again."""

    area: str
    begin: Instant
    end: Instant

    def holds(self, sensor: Sensor, at: Instant) -> bool:
        return sensor.area == self.area and self.begin <= at < self.end


def _burst(random: Random, length: Duration) -> _Burst:
    begin = _after(random, length, 25, 55)
    return _Burst(random.choice(AREAS), begin, begin + 40 * SECOND)


def _readings(
    random: Random,
    sensors: tuple[Sensor, ...],
    fires: tuple[Fire, ...],
    burst: _Burst,
    every: Duration,
    length: Duration,
) -> Iterator[Event]:
    for sensor in sensors:
        at = BEGIN + random.randrange(EVERY // SECOND) * SECOND
        said: float | None = None
        while at < BEGIN + length:
            value = _value(random, sensor, fires, at)
            if sensor.is_stuck(at) and said is not None:
                value = said
            arrives = at + _delay(random)
            if burst.holds(sensor, at):
                arrives = max(arrives, burst.end + random.randrange(SECOND))
            if sensor.speaks(at):
                said = value
                yield Event(sensor.kind, (sensor.number, value, at), at, arrives)
            at += every + random.randrange(-1, 2) * SECOND


def _value(random: Random, sensor: Sensor, fires: tuple[Fire, ...], at: Instant) -> float:
    """A reading, in quarters so that sums are exact: what is usual there, and what a fire adds."""
    usual = {"temperature": 72, "smoke": 4, "airflow": 8}[sensor.kind]
    heat = max((_strength(fire, sensor.area, at) for fire in fires), default=0)
    factor = {"temperature": 3, "smoke": 4, "airflow": 1}[sensor.kind]
    return (usual + random.randrange(5) + factor * heat) / 4


def _strength(fire: Fire, area: str, at: Instant) -> int:
    """How much there is of a fire, in its area and around it."""
    if not fire.start <= at < fire.end:
        return 0
    grown = min(60, 20 + (at - fire.start) // (4 * SECOND)) if fire.is_real else 25
    if area == fire.area:
        return int(grown)
    return int(grown) // 4 if fire.is_real and (fire.area, area) in NEIGHBOURS else 0


def _of_fires(random: Random, fires: tuple[Fire, ...]) -> Iterator[Event]:
    """What people say of a real fire: that it burns, that the brigade is there, that it is over."""
    for fire in fires:
        if not fire.is_real:
            continue
        brigade = fire.start + (fire.end - fire.start) // 2 + random.randrange(60) * SECOND
        for stream, at, row in (
            ("fire_starts", fire.start, (fire.number, fire.area, fire.start)),
            ("brigades", brigade, (fire.number, brigade)),
            ("fire_ends", fire.end, (fire.number, fire.end)),
        ):
            yield Event(stream, row, at, at + random.randrange(1, 5) * SECOND)


def _of_wardens(random: Random, fires: tuple[Fire, ...]) -> Iterator[Event]:
    """A warden says of the false alarm in time that it is none; that of the fire gets through late.

    Both have written in time; what counts for the alarm is when it is received.
    """
    for fire in fires:
        written = fire.start + random.randrange(30, 80) * SECOND
        arrives = written + (3 * MINUTE if fire.is_real else random.randrange(1, 5) * SECOND)
        yield Event("reports", (fire.area, written), written, arrives)


def _delay(random: Random) -> int:
    """How long a row is on its way: mostly seconds, now and then longer than is promised."""
    if random.random() < 0.004:
        return LATE + random.randrange(20 * SECOND)
    return random.randrange(12 * SECOND)
