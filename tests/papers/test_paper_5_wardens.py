"""Paper 5, section 2: detection in application time, reports in system time, on the engine.

A precautionary alarm is raised if there is a potential fire in an area and no report of its warden
is received within two minutes after the detection.  The two minutes lie between the time of the
detection, which sensors give, and that at which a report was received, which the clock gives: a
report that was written in time and came too late does not stop the alarm.  A station in which
nothing happens must not hold the alarm up, so detections may be idle.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide.core.time import format_instant, instant
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import EbbtideError
from ebbtide.testing import Clock

SCRIPT = """
CREATE STREAM fires (fid BIGINT, area STRING, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 HOUR IDLE AFTER 30 SECONDS;
CREATE STREAM reports (area STRING, written TIMESTAMP NOT NULL, received TIMESTAMP ARRIVAL,
  PROGRESS FOR written AS written - INTERVAL 10 MINUTES);
"""
ALARM = """
SELECT f.fid, f.at FROM fires AS f WHERE NOT EXISTS (SELECT 1 FROM reports AS r
  WHERE r.area = f.area AND r.received BETWEEN f.at AND f.at + INTERVAL 2 MINUTES)
EMIT FINAL
"""
SECOND, MINUTE = 1_000_000, 60_000_000
NOON = instant("2026-01-01 12:00:00")


def started(path: Path, clock: Clock, sql: str = ALARM) -> tuple[Engine, Query]:
    engine = Engine(path / "state", transport="local", clock=clock)
    engine.execute(SCRIPT)
    query = engine.query(sql, "alarm")
    query.start()
    return engine, query


def rows(query: Query) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in query.snapshot().to_pylist())


def at(seconds: float) -> str:
    return format_instant(NOON + int(seconds * SECOND))


def test_the_alarm_leaves_two_minutes_after_the_detection(tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine, query = started(tmp_path, clock)
    engine.feed("fires", [(1, "platform", at(0)), (2, "tunnel", at(0))])
    engine.step()
    clock.set(NOON + 90 * SECOND)
    engine.feed("reports", [("platform", at(80))])
    engine.step()
    assert rows(query) == []
    clock.set(NOON + 2 * MINUTE)
    engine.step()
    assert rows(query) == []  # a report may still be received at this very instant
    clock.set(NOON + 2 * MINUTE + 1)
    engine.step()
    assert [fid for fid, _ in rows(query)] == [2]


def test_a_report_that_was_delayed_on_its_way_does_not_stop_the_alarm(tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine, query = started(tmp_path, clock)
    engine.feed("fires", [(1, "platform", at(0))])
    engine.step()
    clock.set(NOON + 3 * MINUTE)
    engine.feed("reports", [("platform", at(30))])  # written in time, and received too late
    engine.step()
    assert [fid for fid, _ in rows(query)] == [1]


def test_what_was_received_when_is_kept_by_a_restart(tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine, _ = started(tmp_path, clock, "SELECT area, received FROM reports")
    engine.feed("reports", [("platform", at(0))])
    engine.step()
    engine.stop()
    clock.set(NOON + MINUTE)
    again, same = started(tmp_path, clock, "SELECT area, received FROM reports")
    again.feed("reports", [("tunnel", at(0))])
    again.step()
    times = {area: received.timestamp() for area, received in rows(same)}
    assert times == {"platform": NOON / SECOND, "tunnel": (NOON + MINUTE) / SECOND}


def test_a_step_that_is_repeated_has_the_reading_of_its_first_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(NOON)
    engine, query = started(tmp_path, clock, "SELECT area, received FROM reports")
    engine.feed("reports", [("platform", at(0))])
    with monkeypatch.context() as patch:

        def crash(*_: object) -> None:
            raise OSError("the power is gone")

        patch.setattr("ebbtide.store.manifest.Manifests.commit", crash)
        with pytest.raises(OSError, match="power"):
            engine.step()
    clock.set(NOON + MINUTE)
    engine.step()
    ((_, received),) = rows(query)
    assert received.timestamp() == NOON / SECOND


def test_an_arrival_does_not_move_now(tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine, _ = started(tmp_path, clock, "SELECT area FROM reports [RANGE 1 MINUTE]")
    engine.feed("reports", [("platform", at(-3600))])
    engine.step()
    status = next(iter(engine._runs.values())).status
    assert status.now_us == NOON - 3600 * SECOND


def test_a_key_does_not_forget_by_the_clock(tmp_path: Path) -> None:
    clock = Clock(NOON)
    engine = Engine(tmp_path / "state", transport="local", clock=clock)
    engine.execute(
        "CREATE STREAM s (id BIGINT PRIMARY KEY, at TIMESTAMP NOT NULL, came TIMESTAMP ARRIVAL,"
        " PROGRESS FOR at AS at - INTERVAL 1 HOUR) APPEND ONLY"
    )
    query = engine.query("SELECT id, came FROM s", "all")
    query.start()
    for minute in range(3):
        clock.set(NOON + minute * MINUTE)
        engine.feed("s", [(1, at(60 * minute))])
        engine.step()
    ((_, came),) = rows(query)
    assert came.timestamp() == NOON / SECOND
    reasons = engine.late("s").column("reason").to_pylist()
    assert reasons == ["duplicate-key", "duplicate-key"]


@pytest.mark.parametrize("seed", range(4))
def test_alarms_of_a_random_day(tmp_path: Path, seed: int) -> None:
    """Against the rule as one would say it in Python, at every step."""
    random, clock = Random(seed), Clock(NOON)
    engine, query = started(tmp_path, clock)
    fires: list[tuple[int, str, int]] = []
    received: list[tuple[str, int]] = []
    for step in range(60):
        clock.set(NOON + step * 20 * SECOND)
        if random.random() < 0.3:
            fire = (len(fires), random.choice("ab"), clock() - random.randint(0, 4) * SECOND)
            fires.append(fire)
            engine.feed("fires", [(*fire[:2], format_instant(fire[2]))])
        if random.random() < 0.3:
            area = random.choice("ab")
            received.append((area, clock()))
            engine.feed("reports", [(area, format_instant(clock() - random.randint(0, 500)))])
        engine.step()
        alarms = [
            fid
            for fid, area, t in fires
            if t + 2 * MINUTE < clock()
            and not any(a == area and t <= r <= t + 2 * MINUTE for a, r in received)
        ]
        assert [fid for fid, _ in rows(query)] == alarms, f"seed {seed}, step {step}"


def test_predictions_stand_beside_application_time_and_system_time(tmp_path: Path) -> None:
    """Three time lines: when a prediction is for, when it was made, when it was received."""
    clock = Clock(NOON)
    engine = Engine(tmp_path / "state", transport="local", clock=clock)
    engine.execute("""
        CREATE STREAM predictions (area STRING, level BIGINT, holds TIMESTAMP NOT NULL,
          made TIMESTAMP NOT NULL, received TIMESTAMP ARRIVAL,
          PROGRESS FOR holds AS holds - INTERVAL 1 MINUTE,
          PROGRESS FOR made AS made - INTERVAL 30 SECONDS);
        CREATE STREAM smoke (area STRING, level BIGINT, at TIMESTAMP NOT NULL,
          PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
    """)
    # Predictions that were there a minute ahead and did not come true.
    query = engine.query(
        "SELECT p.area, p.holds, p.received FROM predictions AS p"
        " WHERE p.received <= p.holds - INTERVAL 1 MINUTE AND p.made <= p.received"
        " AND NOT EXISTS (SELECT 1 FROM smoke AS s WHERE s.area = p.area AND s.level >= p.level"
        " AND s.at BETWEEN p.holds - INTERVAL 10 SECONDS AND p.holds + INTERVAL 10 SECONDS)"
        " EMIT FINAL",
        "wrong",
    )
    query.start()
    engine.feed("predictions", [("a", 5, at(120), at(-10)), ("b", 5, at(120), at(-10))])
    engine.step()
    clock.set(NOON + 70 * SECOND)
    engine.feed("predictions", [("c", 5, at(120), at(60))])  # received less than a minute ahead
    engine.feed("smoke", [("a", 6, at(115))])
    engine.step()
    assert rows(query) == []
    engine.feed("smoke", [("c", 0, at(200))])
    engine.step()
    assert [area for area, *_ in rows(query)] == ["b"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT area FROM reports [RANGE 1 MINUTE ON received]", "window-on-arrival"),
        ("SELECT area FROM reports [ROWS 2 ON received]", "window-on-arrival"),
    ],
)
def test_what_is_refused(tmp_path: Path, sql: str, code: str) -> None:
    engine = Engine(tmp_path / "state", transport="local")
    engine.execute(SCRIPT)
    with pytest.raises(EbbtideError) as caught:
        engine.query(sql)
    assert caught.value.code == code
    assert caught.value.hint


def test_rows_do_not_bring_their_arrival(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state", transport="local")
    engine.execute(SCRIPT)
    with pytest.raises(EbbtideError) as caught:
        engine.feed("reports", [{"area": "a", "written": at(0), "received": at(0)}])
    assert caught.value.code == "arrival-given"
    with pytest.raises(EbbtideError) as caught:
        engine.execute("INSERT INTO reports SELECT area, at AS written, at FROM fires")
    assert caught.value.code == "not-derived"
