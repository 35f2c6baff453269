"""EMIT FINAL and CHANGES WITH FINALITY by hand: when a row leaves, and what a late one revises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.engine.state_report import holdings
from ebbtide.errors import BindError, EbbtideError
from ebbtide.sinks import Memory

SCRIPT = """
CREATE STREAM orders (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM payments (id BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at) RETAIN 1 HOUR;
CREATE STREAM readings (room STRING, t BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 10 SECONDS) RETAIN 1 HOUR;
"""
UNPAID = """
SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = o.id
  AND p.at BETWEEN o.at AND o.at + INTERVAL 1 MINUTE)
"""
PER_MINUTE = """
SELECT window_end, COUNT(*) AS n FROM TUMBLE(readings, at, 1 MINUTE) GROUP BY window_end
"""
DAY = "2026-01-01"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path, transport="local")
    made.execute(SCRIPT)
    return made


def said(query: Any, since: int | None = None) -> list[tuple[Any, ...]]:
    """The changes of a query: the row, the diff, and whether it is a revision."""
    width = len(query.schema)
    rows = (tuple(row.values()) for row in query.changes(since).to_pylist())
    return sorted((*row[:width], row[width + 2], row[width + 4]) for row in rows)


def shown(query: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in query.snapshot().to_pylist())


def reading(at: str, room: str = "a", t: int = 1) -> tuple[str, int, str]:
    return room, t, f"{DAY} {at}"


def test_absence_is_told_once_it_is_sure_and_once(engine: Engine) -> None:
    q = engine.query(f"{UNPAID} EMIT FINAL", name="unpaid")
    q.start()
    engine.feed("orders", [(1, f"{DAY} 09:00:00"), (2, f"{DAY} 09:00:30")])
    engine.feed("payments", [(2, f"{DAY} 09:01:00")])
    engine.advance("orders", at=f"{DAY} 09:10:00")
    engine.step()
    assert said(q) == []
    engine.advance("payments", at=f"{DAY} 09:01:00")
    engine.step()
    assert said(q) == [], "a payment at one minute may still come"
    engine.advance("payments", at=f"{DAY} 09:01:00.000001")
    engine.step()
    assert said(q) == [(1, 1, False)]
    engine.advance("payments", at=f"{DAY} 10:00:00")
    engine.step()
    assert said(q) == [(1, 1, False)]
    assert shown(q) == [(1,)]


def test_a_late_row_revises_what_was_final(engine: Engine) -> None:
    q = engine.query(f"{PER_MINUTE} EMIT FINAL", name="counts")
    q.start()
    engine.feed("readings", [reading("09:00:10"), reading("09:00:20"), reading("09:01:30")])
    engine.step()
    assert [row[1:] for row in said(q)] == [(2, 1, False)]
    engine.feed("readings", [reading("09:00:30")])
    engine.step()
    assert [row[1:] for row in said(q, since=0)] == [(2, -1, True), (3, 1, True)]
    assert [row[1:] for row in shown(q)] == [(3,)]


def test_a_late_row_for_what_waits_is_no_revision(engine: Engine) -> None:
    q = engine.query(f"{PER_MINUTE} EMIT FINAL", name="counts")
    q.start()
    engine.feed("readings", [reading("09:00:40")])
    engine.step()
    engine.feed("readings", [reading("09:00:10")])
    engine.step()
    assert said(q) == []
    engine.advance("readings", at=f"{DAY} 09:01:00")
    engine.step()
    assert [row[1:] for row in said(q)] == [(2, 1, False)]


def test_a_segment_of_a_window_leaves_when_its_last_instant_is_sure(engine: Engine) -> None:
    q = engine.query(
        "SELECT room, SUM(t) AS t FROM readings [RANGE 1 MINUTE] GROUP BY room EMIT FINAL",
        name="sums",
    )
    q.start()
    engine.feed("readings", [reading("09:00:00"), reading("09:00:30", t=2)])
    engine.step()
    assert said(q) == [], "progress is at 09:00:20"
    engine.advance("readings", at=f"{DAY} 09:00:30")
    engine.step()
    assert said(q) == [("a", 1, 1, False)]
    engine.advance("readings", at=f"{DAY} 09:01:30")
    engine.step()
    assert said(q, since=1) == [("a", 2, 1, False), ("a", 3, 1, False)]
    # Late, and inside of the first segment: of that the rest is taken back.
    engine.feed("readings", [reading("09:00:20", t=5)])
    engine.step()
    assert said(q, since=2) == [
        ("a", 1, -1, True),
        ("a", 2, -1, True),
        ("a", 3, -1, True),
        ("a", 6, 1, True),
        ("a", 7, 1, True),
        ("a", 8, 1, True),
    ]


def test_monotonic_answers_leave_at_once(engine: Engine) -> None:
    q = engine.query("SELECT room FROM readings WHERE t > 1 EMIT FINAL", name="hot")
    q.start()
    engine.feed("readings", [reading("09:00:00", t=2), reading("08:59:00", room="b", t=3)])
    engine.step()
    assert said(q) == [("a", 1, False), ("b", 1, False)]
    told = engine.query("SELECT room FROM readings WHERE t > 1 EMIT CHANGES WITH FINALITY")
    told.start()
    engine.step()
    assert shown(told) == [("a", True), ("b", True)]


def test_with_finality_a_row_is_there_early_and_then_told_to_be_final(engine: Engine) -> None:
    q = engine.query(f"{PER_MINUTE} EMIT CHANGES WITH FINALITY", name="counts")
    assert str(q.schema) == "window_end TIMESTAMP, n BIGINT, is_final BOOLEAN"
    memory = Memory()
    q.start(sink=memory)
    engine.feed("readings", [reading("09:00:10")])
    engine.step()
    assert [row[1:] for row in said(q)] == [(1, False, 1, False)]
    engine.feed("readings", [reading("09:00:20")])
    engine.step()
    assert [row[1:] for row in said(q, since=0)] == [(1, False, -1, False), (2, False, 1, False)]
    engine.advance("readings", at=f"{DAY} 09:01:00")
    engine.step()
    assert [row[1:] for row in said(q, since=1)] == [(2, False, -1, False), (2, True, 1, False)]
    engine.feed("readings", [reading("09:00:30")])
    engine.step()
    assert [row[1:] for row in said(q, since=2)] == [(2, True, -1, True), (3, True, 1, True)]
    assert [row[1:] for row in shown(q)] == [(3, True)]
    assert [(row["n"], row["is_final"], row["revision"]) for row in memory.steps[2]] == [
        (2, False, False),
        (2, True, False),
    ]


def test_what_waits_is_state_and_is_collected(engine: Engine) -> None:
    q = engine.query(f"{UNPAID} EMIT FINAL", name="unpaid")
    run = q.start()
    engine.feed("orders", [(i, f"{DAY} 09:00:00") for i in range(5)])
    engine.step()
    engine.advance("orders", at=f"{DAY} 09:10:00")
    engine.step()
    stored = {h.area: h for h in holdings(engine_location(engine, "unpaid"))}
    assert stored["final"].rows == 5
    progress = "min(progress(orders.at), progress(payments.at) - 1 min)"
    assert stored["final"].keeps == f"keep while o.at > {progress}"
    assert "rows that are not final: keep while o.at > " in q.explain(verbose=True)
    run.stop()
    q.start()
    engine.advance("payments", at=f"{DAY} 09:10:00")
    engine.step()
    assert shown(q) == [(i,) for i in range(5)]
    assert "final" not in {h.area for h in holdings(engine_location(engine, "unpaid"))}


def engine_location(engine: Engine, name: str) -> Any:
    from ebbtide.engine.location import Location

    return Location(str(engine.location)).query(name)


@pytest.mark.parametrize("emit", ["FINAL", "CHANGES WITH FINALITY"])
def test_without_finality_it_is_refused_with_what_would_give_it(engine: Engine, emit: str) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.query(f"SELECT COUNT(*) AS n FROM readings EMIT {emit}")
    assert caught.value.code == "never-final"
    assert caught.value.hint == "GROUP BY FLOOR(readings.at TO 1 HOUR) too, and select it"
    hour = "FLOOR(readings.at TO 1 HOUR)"
    engine.query(f"SELECT {hour} AS h, COUNT(*) AS n FROM readings GROUP BY {hour} EMIT {emit}")


@pytest.mark.parametrize(
    ("name", "emit"), [("is_final", "CHANGES WITH FINALITY"), ("Revision", "FINAL")]
)
def test_the_columns_that_finality_adds_are_not_there_already(
    engine: Engine, name: str, emit: str
) -> None:
    engine.query(f"SELECT t AS {name}, at FROM readings")
    with pytest.raises(BindError) as caught:
        engine.query(f"SELECT t AS {name}, at FROM readings EMIT {emit}")
    assert caught.value.code == "duplicate-column"
    assert caught.value.hint == "give it another name with AS"
