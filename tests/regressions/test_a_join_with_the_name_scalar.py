"""A joined query that a user called "scalar" was taken for a subquery that is a value of a row.

Its groups were not guarded then, and a row on which their aggregates fail stopped the query.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine


@pytest.mark.parametrize("name", ["scalar", "scalar_2", "other"])
def test_its_rows_that_fail_are_left_out(name: str, tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query(
        f"""SELECT a.k, {name}.n FROM s [RANGE 1 HOUR] AS a
            LEFT JOIN (SELECT k, SUM(6 DIV v) AS n FROM s [RANGE 1 HOUR] GROUP BY k) AS {name}
            ON {name}.k = a.k""",
        name="q",
    )
    query.start()
    engine.feed("s", [(1, 2, "2026-01-01 00:00:00"), (2, 0, "2026-01-01 00:00:00")])
    engine.step()
    rows = sorted(query.snapshot().to_pylist(), key=lambda row: row["k"])
    assert rows == [{"k": 1, "n": 3}, {"k": 2, "n": None}]
    assert query.errors()["operator"].to_pylist() == ["aggregate"]
