"""NOW() cut off to days and units of the calendar, also at the ends of it.

A day that stands for never, 9999-12-31, has no day after it: rows with one were left out of
``day >= CURRENT_DATE``, and no error told of it.
"""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ebbtide import Engine

DECLARED = """
CREATE STREAM e (id BIGINT, day DATE, ends TIMESTAMP, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at) RETAIN 1 DAY;
CREATE STREAM f (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROWS = [
    (1, date.max, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), NOON),
    (2, None, None, NOON),
    (3, date(2026, 1, 1), NOON, NOON),
    (4, date.min, datetime(1, 1, 1, tzinfo=UTC), NOON),
]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("day >= CURRENT_DATE", [1, 3]),
        ("CURRENT_DATE BETWEEN DATE '2025-01-01' AND day", [1, 3]),
        ("CURRENT_DATE > day", [4]),
        ("CURRENT_DATE <> day", [1, 4]),
        ("ends >= CURRENT_DATE", [1, 3]),
        ("ends >= DATE_TRUNC('year', NOW())", [1, 3]),
        ("DATE_ADD(CURRENT_DATE, 1) <= day", [1]),
        ("DATE_SUB(CURRENT_DATE, 1) >= day", [4]),
        ("DATEDIFF(day, NOW()) >= 1", [1]),
        ("DATEDIFF(NOW(), day) >= 1", [4]),
    ],
)
def test_days_at_the_ends_of_the_calendar(tmp_path: Path, condition: str, found: list[int]) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    answer = engine.query(f"SELECT id FROM e WHERE {condition} ALLOW UNBOUNDED STATE")
    answer.start()
    engine.feed("e", ROWS)
    engine.step()
    assert sorted(row["id"] for row in answer.snapshot().to_pylist()) == found
    assert answer.errors().to_pylist() == []
    engine.stop()


@pytest.mark.parametrize(
    "condition",
    [
        "{}.at >= CURRENT_DATE",
        "{}.at >= DATE_TRUNC('hour', NOW())",
        "{}.at > DATE_TRUNC('month', NOW()) - INTERVAL 1 DAY",
        "CAST(NOW() - {}.at AS BIGINT) DIV 60 < 5",
    ],
)
def test_rows_that_end_so_are_those_of_a_window(tmp_path: Path, condition: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    both = " AND ".join(condition.format(name) for name in "ef")
    joined = engine.query(f"SELECT e.id FROM e JOIN f ON e.id = f.id WHERE {both}")
    assert str(joined.verdict.state).startswith("per window")


def test_the_rows_of_today(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    engine.query("SELECT id FROM e WHERE CAST(at AS DATE) = CURRENT_DATE")
    engine.query("SELECT id FROM e WHERE DATE_TRUNC('week', at) = DATE_TRUNC('week', NOW())")


def test_rows_that_say_how_long_they_hold(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""CREATE STREAM t (id BIGINT, ttl INTERVAL DAY TO SECOND,
        at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)""")
    engine.query("SELECT id FROM t [VALID FROM at TO at + ttl]")
    engine.query("SELECT id FROM t [VALID FROM at TO NULL]")
