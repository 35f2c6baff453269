"""A text that gets too long on one row failed the step, where Arrow makes it of constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import EvaluationError

STREAM = "CREATE STREAM s (k STRING, at TIMESTAMP, PROGRESS FOR at AS at)"
ROWS = [("a", 1), ("aa", 1), (None, 1)]


@pytest.mark.parametrize(
    ("made", "length"),
    [
        ("REPEAT(k, 40000)", 40_000),
        ("REPEAT(k, CAST(40000 AS INT))", 40_000),
        ("REPEAT(REPEAT(k, 200), 200)", 40_000),
        ("REPLACE(k, 'a', LPAD('', 60000, 'z'))", 60_000),
        ("REPLACE(k, 'a', REPEAT('ä', 60000))", 60_000),
        ("LPAD(k, LENGTH(k) * 40000)", 40_000),
        ("RPAD(k, LENGTH(k) * 40000)", 40_000),
    ],
)
def test_the_row_is_left_out(tmp_path: Path, made: str, length: int) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAM)
    query = engine.query(f"SELECT k, LENGTH({made}) AS n FROM s [RANGE 1 HOUR] ON ERROR QUARANTINE")
    query.start()
    engine.feed("s", ROWS)
    engine.step()
    found = sorted(map(str, query.snapshot().to_pylist()))
    assert found == sorted(map(str, [{"k": "a", "n": length}, {"k": None, "n": None}]))
    (left_out,) = query.errors().to_pylist()
    assert left_out["error"].startswith("text-too-long: ")
    assert '"k":"aa"' in left_out["row"]


def test_a_step_that_fails_keeps_no_other_query_from_its_step(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(STREAM)
    text = "SELECT k, LENGTH(REPEAT(k, {})) AS n FROM s [RANGE 1 HOUR] ON ERROR FAIL"
    counts = {"first": 40_000, "second": 3, "third": 50_000}
    queries = {n: engine.query(text.format(c), name=n) for n, c in counts.items()}
    for query in queries.values():
        query.start()
    engine.feed("s", ROWS[:2])
    with pytest.raises(EvaluationError, match="80,000 characters") as caught:
        engine.step()
    note = caught.value.__notes__[-1]
    assert note.startswith('the step of "third" has failed, too: ')
    assert "100,000 characters" in note
    assert sorted(queries["second"].snapshot().column("n").to_pylist()) == [3, 6]
    with pytest.warns(RuntimeWarning, match="failed"):
        assert queries["first"].snapshot().num_rows == 0
