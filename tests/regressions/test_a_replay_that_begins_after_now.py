"""What a replay emits is net, and rows that overlap were cut at their ends, also after ``now``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import INF
from ebbtide.dataflow.replay import _joined
from ebbtide.state.batch import to_changes
from ebbtide.store.journal import Journal

SOURCES = """
    CREATE STREAM bids (auction INT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
      RETAIN 8 MICROSECONDS ARCHIVE 90 MICROSECONDS REPLAY ALL;
    CREATE STREAM clicks (auction INT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
      ARCHIVE 90 MICROSECONDS REPLAY ALL
"""
JOINED = (
    "SELECT b.auction FROM bids [RANGE 6 MICROSECONDS] b"
    " LEFT JOIN clicks [RANGE 6 MICROSECONDS] c ON b.auction = c.auction"
)


def test_no_change_of_a_replay_begins_after_now(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local", shards=1)
    engine.execute(SOURCES)
    query = engine.query(JOINED, name="q")
    query.start()
    for at in (10, 30, 50):
        engine.feed("bids", [(1, at)])
        engine.step()
    engine.feed("bids", [(1, 12), (2, 51), (2, 54)])
    engine.step()
    record = list(Journal(query.view.root).entries())[-1]
    assert [counts.way for counts in record.replays.values()] == ["ALL"]
    emitted = to_changes(query.view.table(record))
    assert all(change.valid_from <= record.nows["q"] == 54 for change in emitted)
    assert query.view.snapshot(54) == [(1,), (2,), (2,)]
    assert query.view.snapshot(58) == [(2,)]


@pytest.mark.parametrize("sign", [1, -1])
def test_pieces_after_now_begin_with_what_leads_to_them(sign: int) -> None:
    pieces = [
        Change(("a",), 1, 5, 3 * sign),
        Change(("a",), 5, 7, 2 * sign),
        Change(("a",), 7, 9, sign),
    ]
    joined = tuple(_joined(pieces, 4))
    assert {change.valid_from for change in joined} == {1}
    assert consolidate(joined) == consolidate(pieces)
    alone = [Change(("a",), 1, 3), Change(("a",), 6, INF)]
    assert consolidate(_joined(alone, 4)) == consolidate(alone)
    grows = [Change(("a",), 1, 5), Change(("a",), 5, 7, 2)]
    assert consolidate(_joined(grows, 4)) == consolidate(grows)
