"""Subqueries inside of a recursion that are values, or stand beside OR.

Their column was equal to that of the recursion with NULLs, too, so it was no key, and the hint said
to do what had been done: to join by a column, and to insert it as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError

SCRIPT = """
CREATE STREAM starts (k BIGINT {0}, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM pushes (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM runs (k BIGINT {0}, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
INSERT INTO runs SELECT k, n, at FROM starts;
INSERT INTO runs SELECT k, {1}, at + INTERVAL 3 SECONDS FROM runs WHERE {2};
"""
PUSHES = """FROM pushes AS p WHERE p.k = runs.k
  AND p.at > runs.at - INTERVAL 3 SECONDS AND p.at <= runs.at"""
QUERIES = {
    "beside OR": ("n", f"n < 0 OR EXISTS (SELECT 1 {PUSHES})"),
    "as a value": (f"n + (SELECT COUNT(*) {PUSHES})", "n < 3"),
}
FOLLOWED = {
    "beside OR": [(1, 0, 0), (1, 0, 3), (1, 0, 6), (2, -1, 1), (2, -1, 4), (2, -1, 7)],
    "as a value": [(1, 0, 0), (1, 1, 3), (1, 3, 6), (2, -1, 1), (2, -1, 4), (2, -1, 7)],
}


def at(second: int) -> str:
    return f"2026-01-01 09:00:{second:02}"


def seconds(query: Any) -> list[tuple[int, int, int]]:
    rows = (tuple(row.values()) for row in query.snapshot().to_pylist())
    return sorted((k, n, time.second) for k, n, time in rows)


@pytest.mark.parametrize("name", QUERIES)
def test_the_hint_can_be_followed(tmp_path: Path, name: str) -> None:
    engine = Engine(tmp_path / "nullable", transport="local")
    engine.execute(SCRIPT.format("", *QUERIES[name]))
    with pytest.raises(EbbtideError) as caught:
        engine.query("SELECT * FROM runs").start()
    assert caught.value.code == "recursion-needs-exchange"
    assert "declared NOT NULL" in (caught.value.hint or "")

    engine = Engine(tmp_path / "declared", transport="local", shards=2)
    engine.execute(SCRIPT.format("NOT NULL", *QUERIES[name]))
    query = engine.query("SELECT * FROM runs", name="followed")
    query.start()
    engine.feed("starts", [(1, 0, at(0)), (2, -1, at(1))])
    engine.feed("pushes", [(1, at(0)), (1, at(2)), (1, at(3))])
    engine.advance("starts", at(9))
    engine.step()
    assert seconds(query) == FOLLOWED[name]
    engine.stop()
