"""After a rescaling or an evolution, what was said at a time was looked up by a later clock alone.

Their steps had no reading of the clock, so one that had gone back was no longer held to the latest
that was seen: a step that was taken later counted as said before.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.query import Query

SECOND = 1_000_000


def declared(location: Path, seconds: int, text: str) -> Query:
    engine = Engine(location, transport="local", clock=lambda: seconds * SECOND)
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    return engine.query(text, name="q")


@pytest.mark.parametrize("change", ["rescale", "evolve"])
def test_a_clock_that_goes_back(tmp_path: Path, change: str) -> None:
    plain = "SELECT COUNT(*) AS n FROM s [UNBOUNDED]"
    query = declared(tmp_path, 100, plain)
    query.start()
    query.engine.feed("s", [(1, SECOND)])
    query.engine.step()
    query.engine.stop()
    if change == "rescale":
        query.engine.rescale("q", 3)
    else:
        plain = "SELECT COUNT(*) * 10 AS n FROM s [UNBOUNDED]"
        query = declared(tmp_path, 200, plain)
        query.engine.evolve(query)
    query = declared(tmp_path, 50, plain)
    query.start()
    query.engine.feed("s", [(2, 2 * SECOND)])
    query.engine.step()
    said = {
        at: query.snapshot(as_of=datetime.fromtimestamp(at, UTC)).to_pylist()
        for at in (60, 100, 199, 200)
    }
    expected = {60: None, 100: 2, 199: 2, 200: 2}
    if change == "evolve":
        expected = {60: None, 100: 1, 199: 1, 200: 20}
    assert {at: rows[0]["n"] if rows else None for at, rows in said.items()} == expected
    query.engine.stop()
