"""RSTREAM of rows that never end says so, where it tried to allocate all instants to come."""

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError

COUNT = "RSTREAM(SELECT COUNT(*) AS n FROM bids [RANGE 5 SECONDS] EVERY 1 SECOND)"
ROWS = "RSTREAM(SELECT auction FROM bids [RANGE 5 SECONDS] EVERY 1 SECOND)"


def _running(root: Path, sql: str) -> Engine:
    engine = Engine(str(root), transport="local")
    engine.execute("CREATE STREAM bids (auction BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    engine.query(sql, name="q").start()
    engine.feed("bids", [(1, "2026-01-01 00:00:00")])
    return engine


def test_the_promise_is_refused_and_the_query_goes_on(tmp_path: Path) -> None:
    engine = _running(tmp_path, COUNT)
    with pytest.raises(EbbtideError) as caught:
        engine.advance("bids", "inf")
    assert caught.value.code == "endless-rstream"
    engine.advance("bids", at="2026-01-01 00:00:09")
    assert engine.step()["q"].record.output["q"][0].rows == 9


def test_rows_that_end_are_said_to_the_last(tmp_path: Path) -> None:
    engine = _running(tmp_path, ROWS)
    engine.advance("bids", "inf")
    assert engine.step()["q"].record.output["q"][0].rows == 5


def test_a_time_that_is_too_far_is_told(tmp_path: Path) -> None:
    engine = _running(tmp_path, COUNT)
    engine.advance("bids", "9999-01-01")
    with pytest.raises(EbbtideError) as caught:
        engine.step()
    assert caught.value.code == "too-many-instants"
