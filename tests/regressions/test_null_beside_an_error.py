"""A condition that is NULL beside one that fails let the row go unsaid: it is an error.

``FALSE AND error`` is FALSE, ``TRUE OR error`` is TRUE, and all else with an error in it is one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine

ROWS = [(1, 0, None), (2, 0, 0), (3, 0, 9), (4, 1, None), (5, 1, 0), (6, 1, 9)]
"""An id; a number that 6 is divided by; one that is asked to be 5 or more."""

FAILS, ASKS = "6 DIV w >= 6", "v >= 5"
LISTED = {
    f"WHERE {FAILS} AND {ASKS}": ([6], [1, 3]),
    f"WHERE {ASKS} AND {FAILS}": ([6], [1, 3]),
    f"WHERE {FAILS} OR {ASKS}": ([3, 4, 5, 6], [1, 2]),
    f"WHERE ({ASKS} OR v IS NULL) AND {FAILS}": ([4, 6], [1, 3]),
}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM s (id BIGINT, w BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE STREAM r (key BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
    """)
    return engine


def said(engine: Engine, text: str) -> tuple[list[int], list[int]]:
    """The ids of a query's answer, and those of the rows that it leaves out."""
    query = engine.query(text, name="q")
    query.start()
    engine.feed("s", [(*row, "2026-01-01 00:00:00") for row in ROWS])
    engine.feed("r", [(5, "2026-01-01 00:00:00")])
    engine.step()
    failed = [int(text.split(":")[1].split(",")[0]) for text in query.errors()["row"].to_pylist()]
    return sorted(row["id"] for row in query.snapshot().to_pylist()), sorted(failed)


@pytest.mark.parametrize("where", LISTED)
def test_of_one_relation(engine: Engine, where: str) -> None:
    assert said(engine, f"SELECT id FROM s [RANGE 1 HOUR] {where}") == LISTED[where]


@pytest.mark.parametrize("where", list(LISTED)[:2])
def test_above_a_join(engine: Engine, where: str) -> None:
    joined = "SELECT s.id FROM s [RANGE 1 HOUR] JOIN r [RANGE 1 HOUR] ON r.key = 5"
    assert said(engine, f"{joined} {where}") == LISTED[where]


def test_null_meets_nothing_in_a_join(engine: Engine) -> None:
    text = f"SELECT id FROM s [RANGE 1 HOUR], r [RANGE 1 HOUR] WHERE v - 4 = key AND {FAILS}"
    assert said(engine, text) == ([6], [3])
