"""LIFETIME of a stream that queries feed: it was passed over, so that its rows never expired."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine

SCRIPT = """
CREATE STREAM bids (auction BIGINT, at TIMESTAMP NOT NULL, till TIMESTAMP,
  PROGRESS FOR at AS at);
CREATE STREAM brief (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
  LIFETIME 5 SECONDS;
CREATE STREAM bounded (auction BIGINT, at TIMESTAMP NOT NULL, till TIMESTAMP,
  PROGRESS FOR at AS at) LIFETIME UNTIL till;
INSERT INTO brief SELECT auction, at FROM bids;
INSERT INTO bounded SELECT auction, at, till FROM bids;
"""


def at(second: int) -> str:
    return f"2026-01-01 09:00:{second:02}"


@pytest.mark.parametrize(
    ("stream", "counts"),
    [("brief", {0: 1, 3: 2, 5: 1, 8: 0}), ("bounded", {0: 1, 1: 1, 2: 0, 4: 1, 9: 1})],
)
def test_rows_live_as_long_as_their_stream_says(
    tmp_path: Path, stream: str, counts: dict[int, int]
) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    query = engine.query(f"SELECT COUNT(*) AS n FROM {stream}", name="counts")
    query.start()
    engine.feed("bids", [(1, at(0), at(2)), (2, at(3), None)])
    engine.advance("bids", at(20))
    engine.step()
    found = {second: query.snapshot(at=at(second)).to_pylist() for second in counts}
    assert {second: rows[0]["n"] for second, rows in found.items()} == counts
    engine.stop()


def test_rows_that_are_written_out_have_no_nulls(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM marks (auction BIGINT, at TIMESTAMP NOT NULL);
        INSERT INTO marks VALUES (1, TIMESTAMP '2026-01-01 09:00:00'),
          (NULL, TIMESTAMP '2026-01-01 09:00:01');
    """)
    columns = engine.query("SELECT * FROM marks").schema
    assert [column.nullable for column in columns] == [True, False]
