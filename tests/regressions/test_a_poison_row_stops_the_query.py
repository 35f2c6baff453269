"""A row on which an expression fails stopped the query, at every start anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine

POISON = {
    "SELECT v DIV w AS x FROM s [RANGE 1 HOUR]": (3, 0, "1"),
    "SELECT SUM(v) AS x FROM s [RANGE 1 HOUR]": (2**63 - 1, 1, "1"),
    "SELECT CAST(t AS INT) AS x FROM s [RANGE 1 HOUR]": (3, 1, "one"),
}


@pytest.mark.parametrize("text", POISON)
def test_it_goes_on_and_says_what_it_went_on_without(text: str, tmp_path: Path) -> None:
    for second, row in enumerate([(4, 2, "4"), POISON[text], (6, 3, "6")]):
        engine = Engine(tmp_path, transport="local")
        engine.execute("""
            CREATE STREAM s (v BIGINT, w BIGINT, t STRING, at TIMESTAMP, PROGRESS FOR at AS at)
        """)
        query = engine.query(text, name="q")
        run = query.start()
        engine.feed("s", [(*row, f"2026-01-01 00:00:0{second}")])
        engine.step()
        assert run.status.errors == {"q": int(second > 0)}
        engine.stop()
    assert query.errors().num_rows == 1


def test_a_share_of_nothing_has_no_value_before_the_first_row(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    text = "SELECT COUNT(*) FILTER (WHERE v > 1) / COUNT(*) AS share FROM s [RANGE 1 HOUR]"
    query = engine.query(text, name="q")
    query.start()
    engine.step()
    assert (query.snapshot().num_rows, query.errors().num_rows) == (0, 1)
    engine.feed("s", [(1, "2026-01-01 00:00:00"), (2, "2026-01-01 00:00:01")])
    engine.step()
    assert query.snapshot().to_pylist() == [{"share": 0.5}]
    assert query.errors().num_rows == 0
