"""A column with NOW() in it that nobody read lost the time of its turn, and rows came thrice."""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine


def test_they_cut_the_time_of_a_row_and_do_not_multiply_it(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM s (k BIGINT, v ARRAY<BIGINT>, at TIMESTAMP, PROGRESS FOR at AS at)
    """)
    query = engine.query(
        """SELECT k, COUNT(*) AS n FROM (
             SELECT k, NOW() - at = INTERVAL 4 SECONDS AS said
             FROM s [RANGE 1 HOUR], UNNEST(v) AS items (item)
           ) GROUP BY k""",
        name="q",
    )
    query.start()
    engine.feed("s", [(1, [7, 8], "2026-01-01 00:00:00"), (2, [9], "2026-01-01 00:00:09")])
    engine.step()
    rows = sorted(query.snapshot().to_pylist(), key=lambda row: row["k"])
    assert rows == [{"k": 1, "n": 2}, {"k": 2, "n": 1}]
