"""The end of what is fed by hand, and the answers there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.errors import QueryError

SCRIPT = """
CREATE STREAM s (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE TABLE t (k BIGINT PRIMARY KEY, at TIMESTAMP, PROGRESS FOR at AS at) TIME at;
CREATE VIEW counts AS SELECT window_end, COUNT(*) AS n FROM TUMBLE(s, at, 1 MINUTE)
GROUP BY window_end EMIT FINAL;
CREATE VIEW last_hour AS SELECT k FROM s [RANGE 1 HOUR];
CREATE VIEW held AS SELECT k FROM t;
"""
VIEWS = ("counts", "last_hour", "held")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path, transport="local", zone="Europe/Berlin")
    made.execute(SCRIPT)
    queries = [made.query(f"SELECT * FROM {name}", name=name) for name in VIEWS]
    made.start(*queries, name="all")
    made.feed("s", [(1, "2026-01-01 12:00:10"), (2, "2026-01-01 12:01:10")])
    made.feed("t", [(7, "2026-01-01 12:00:00")])
    made.step()
    return made


def rows(engine: Engine) -> dict[str, list[Any]]:
    shown = engine.snapshot(VIEWS)
    return {name: [tuple(row.values())[-1] for row in shown[name].to_pylist()] for name in VIEWS}


def test_at_the_end_of_time_all_is_final_and_windows_are_over(engine: Engine) -> None:
    assert rows(engine) == {"counts": [1], "last_hour": [1, 2], "held": [7]}
    (run,) = engine._runs.values()
    run.finish()
    assert not run.active
    assert rows(engine) == {"counts": [1, 1], "last_hour": [], "held": [7]}


def test_up_to_a_time_in_the_zone_of_the_engine(engine: Engine) -> None:
    (run,) = engine._runs.values()
    run.finish(at="2026-01-01 12:01:59")
    assert rows(engine) == {"counts": [1], "last_hour": [1, 2], "held": [7]}
    engine.start(*(engine.definitions.query(name) for name in VIEWS), name="all")
    (run,) = engine._runs.values()
    run.finish(at="2026-01-01 12:02:00")
    assert rows(engine) == {"counts": [1, 1], "last_hour": [1, 2], "held": [7]}


def test_what_never_ends_is_not_said_without_end(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    run = engine.query("RSTREAM(SELECT k FROM t EVERY 1 MINUTE)", name="ticks").start()
    with pytest.raises(QueryError, match="endless-rstream"):
        run.finish()
    assert run.active
    run.finish(at="2026-01-01")
