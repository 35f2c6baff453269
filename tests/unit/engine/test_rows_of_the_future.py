"""A source that follows the clock may not run away from it; others may be of any time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ebbtide import Engine
from ebbtide.compile.arrival import arrival_schema
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.admission.refusal import refusal
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.frontier import first_frontier
from ebbtide.core.time import DAY, HOUR, instant
from ebbtide.dataflow.judging import judge
from ebbtide.engine.rollback import rollback
from ebbtide.local.host import arrived_table

CLOCK = instant("2026-06-01 12:00:00")
WILD = instant("9999-01-01")
STREAM = "CREATE STREAM s (k BIGINT, at TIMESTAMP, due TIMESTAMP, PROGRESS FOR at AS at)"


def engine_at(location: Path, declared: str = STREAM) -> Engine:
    engine = Engine(location, transport="local")
    engine.execute(declared)
    engine.query("SELECT k FROM s [RANGE 1 HOUR]", "q").start(keep_versions=9)
    return engine


def step(engine: Engine, *times: int, clock: int | None = CLOCK) -> list[str]:
    """The reasons of all rows that were not used so far."""
    engine.feed("s", [(1, time, WILD) for time in times])
    engine.step(clock=clock)
    found: list[str] = engine.late("s").column("reason").to_pylist()
    return found


def test_a_live_source_has_a_bound(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    assert step(engine, CLOCK - HOUR) == []
    assert step(engine, WILD, CLOCK + DAY + 1) == ["beyond", "beyond"]
    assert step(engine, CLOCK + DAY, CLOCK) == ["beyond", "beyond"]
    engine.stop()


@pytest.mark.parametrize("first", [CLOCK - DAY - 1, CLOCK + DAY + 1, instant("2300-01-01")])
def test_old_data_and_made_up_times_have_none(tmp_path: Path, first: int) -> None:
    engine = engine_at(tmp_path)
    assert step(engine, first) == []
    assert step(engine, WILD) == []
    engine.stop()


def test_without_a_clock_there_is_none(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    assert step(engine, CLOCK, clock=None) == []
    assert step(engine, WILD, clock=None) == []
    engine.stop()


def test_what_is_declared_goes_before(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, f"{STREAM} NOT BEYOND 3650000 DAYS")
    assert step(engine, CLOCK) == []
    assert step(engine, WILD) == []
    engine.stop()


def test_one_that_got_through_is_undone(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    step(engine, CLOCK - HOUR, clock=None)
    step(engine, WILD, clock=None)
    assert step(engine, CLOCK, clock=None) == ["late"]
    engine.stop()
    rollback(str(tmp_path), "q", 0)
    engine = engine_at(tmp_path)
    # What came since is read again, now with a clock.
    assert step(engine, CLOCK + HOUR) == ["beyond"]
    assert engine.definitions.query("q").snapshot().num_rows == 1
    engine.stop()


def test_tasks_judge_as_the_reference_does() -> None:
    engine = Engine(transport="local")
    engine.execute(STREAM)
    declaration = engine.definitions.source("s").declaration
    assert isinstance(declaration, StreamDeclaration)
    random = Random(7)
    for _ in range(200):
        newest, t = (CLOCK + random.randrange(-3, 4) * DAY + random.randrange(-1, 2) for _ in "ab")
        frontier = first_frontier(declaration).read(CLOCK).commit([(newest, None)])
        found = judge(
            declaration,
            frontier,
            arrived_table(arrival_schema(declaration), [(1, t, None, None, 0, None)]),
        )
        reason = refusal(declaration, frontier, Arrival(Op.INSERT, (1, t, None), 0))
        assert bool(found.refused) == (reason is not None)
        if reason is not None:
            assert f'"{reason.value}"' in found.refused[0]
