"""Rows that can meet nobody are not stored, and answers are the same."""

import json
from pathlib import Path

import pytest

from ebbtide import Engine

DECLARED = """
CREATE STREAM lots (id BIGINT, opens TIMESTAMP NOT NULL, closes TIMESTAMP NOT NULL,
  PROGRESS FOR opens AS opens);
CREATE STREAM bids (lot BIGINT, price BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
MINUTE = "2026-01-01 00:0{}:00".format
ROWS = {
    "lots": [(1, MINUTE(2), MINUTE(1)), (2, MINUTE(3), MINUTE(4))],
    "bids": [(1, 9, MINUTE(2)), (2, 9, MINUTE(3)), (2, 1, MINUTE(4)), (3, 9, MINUTE(4))],
}
WITHIN = "b.lot = l.id AND b.at BETWEEN l.opens AND l.closes AND b.at <= l.opens + INTERVAL 1 HOUR"
PAIRS = f"SELECT l.id, b.price FROM lots AS l JOIN bids AS b ON {WITHIN}"
PADDED = f"SELECT l.id, b.price FROM lots AS l LEFT JOIN bids AS b ON {WITHIN} AND b.price > 5"


@pytest.mark.parametrize(
    ("sql", "first", "stored", "answer"),
    [
        (PAIRS, "lots", 1, [(2, 1), (2, 9)]),
        (f"{PAIRS} WHERE b.lot = 2", "lots", 1, [(2, 1), (2, 9)]),
        (f"{PAIRS} WHERE l.id = 2", "bids", 2, [(2, 1), (2, 9)]),
        (f"{PAIRS} WHERE l.opens > TIMESTAMP '{MINUTE(2)}'", "bids", 3, [(2, 1), (2, 9)]),
        (PADDED, "bids", 3, [(1, None), (2, 9)]),
    ],
)
def test_they_are_not_stored(
    sql: str, first: str, stored: int, answer: list[object], tmp_path: Path
) -> None:
    engine = Engine(str(tmp_path), transport="local", shards=1)
    engine.execute(DECLARED)
    query = engine.query(sql, name="q")
    run = query.start()
    engine.feed(first, ROWS[first])
    engine.step()
    metrics = run.status.metrics
    assert (
        sum(told.rows_stored for name, told in metrics.items() if name.startswith("q.")) == stored
    )
    (second,) = {*ROWS} - {first}
    engine.feed(second, ROWS[second])
    engine.step()
    rows = [tuple(row.values()) for row in query.snapshot().to_pylist()]
    assert sorted(rows, key=repr) == answer


@pytest.mark.parametrize(
    ("sql", "skips"),
    [
        (f"{PAIRS} WHERE l.id = 2", ["l.opens <= l.closes", "b.lot = 2L"]),
        (
            "SELECT l.id FROM (SELECT * FROM lots WHERE id > 1) AS l JOIN bids AS b "
            "ON b.lot = l.id AND b.at = l.opens AND b.price > 5",
            ["b.lot > 1L"],
        ),
    ],
)
def test_explain_says_which_and_not_what_was_asked_for(
    sql: str, skips: list[str], tmp_path: Path
) -> None:
    engine = Engine(str(tmp_path), transport="local", shards=1)
    engine.execute(DECLARED)
    told = json.loads(engine.query(sql, name="q").explain(json=True))
    assert told["outlook"]["skips"] == skips
