"""Replays of answers that were final: they are revised, marked, and final at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.change import consolidate
from ebbtide.core.time import SECOND

SOURCE = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS
"""
TOTAL = "SELECT auction, SUM(price) AS total FROM bids [RANGE 4 SECONDS] GROUP BY auction EMIT {}"


def said(path: Path, emit: str, late: bool) -> tuple[list[Any], Any]:
    """What is said of each step after an old row, which comes in time or not; and all of it."""
    engine = Engine(path, transport="local", shards=2)
    engine.execute(SOURCE)
    query = engine.query(TOTAL.format(emit), name="q")
    query.start()
    rows = [(second % 2, second, second * SECOND) for second in range(0, 30, 2)]
    old = (0, 100, 9 * SECOND)
    for row in rows:
        if row[2] == 10 * SECOND and not late:
            engine.feed("bids", [old])
        engine.feed("bids", [row])
        engine.step()
    engine.feed("bids", [(1, 1, 30 * SECOND), *([old] if late else [])])
    engine.step()
    changes = list(query.view.marked_changes())
    engine.stop()
    return [(c, mark) for step, c, mark in changes if step == 15], consolidate(
        change for _, change, _ in changes
    )


@pytest.mark.parametrize("emit", ["FINAL", "CHANGES WITH FINALITY"])
def test_a_replay_revises_what_was_final(tmp_path: Path, emit: str) -> None:
    revised, everything = said(tmp_path / "late", emit, late=True)
    plain, expected = said(tmp_path / "in-time", emit, late=False)
    assert everything == expected
    of_old = {change for change, mark in revised if mark}
    assert of_old
    assert all(change.valid_from <= 13 * SECOND for change in of_old)
    assert all(mark for change, mark in revised if change.diff < 0 and change.row[-1] is not False)
    # What the step would have said anyway is no revision.
    assert {change for change, mark in revised if not mark} == {change for change, _ in plain}
