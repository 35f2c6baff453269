"""[VALID FROM a TO b]: rows that say themselves when they are valid.

row   a=2 b=5      2|-----|5
row   a=4 b=NULL        4|------------...
row   a=NULL, or a >= b: never valid
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError, TemporalError

SCRIPT = """
CREATE STREAM s (k BIGINT, at TIMESTAMP NOT NULL, a TIMESTAMP, b TIMESTAMP,
  PROGRESS FOR at AS at);
"""


def second(number: int | None) -> str | None:
    return None if number is None else f"2026-01-01 00:00:{number:02d}"


ROWS = [
    (1, 0, 2, 5),
    (2, 1, 4, None),
    (3, 1, None, 6),
    (4, 2, 5, 5),
    (5, 2, 6, 3),
    (6, 9, 1, 3),
    (7, 9, 12, 14),
]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path, transport="local")
    made.execute(SCRIPT)
    return made


def shown(query: Any, at: int) -> Counter[Any]:
    rows = query.snapshot(at=second(at)).to_pylist()
    return Counter(tuple(row.values()) for row in rows)


def run(engine: Engine, sql: str, name: str = "q") -> Any:
    """A query over the rows, which come in two steps, and then time goes on."""
    query = engine.query(sql, name=name)
    query.start()
    for part in (ROWS[:5], ROWS[5:]):
        engine.feed("s", [(k, *map(second, times)) for k, *times in part])
        engine.step()
    engine.advance("s", second(30))
    engine.step()
    return query


def valid(t: int, begins: Any, ends: Any) -> Counter[Any]:
    """The keys of the rows that are valid at an instant, by the words of the page."""
    found: Counter[Any] = Counter()
    for k, at, a, b in ROWS:
        begin, end = begins(at, a), ends(at, b)
        if begin is not None and begin <= t and (end is None or t < end):
            found[(k,)] += 1
    return found


@pytest.mark.parametrize(
    ("window", "begins", "ends"),
    [
        ("[VALID FROM a TO b]", lambda at, a: a, lambda at, b: b),
        ("[VALID FROM a]", lambda at, a: a, lambda at, b: None),
        ("[VALID TO b]", lambda at, a: at, lambda at, b: b),
        (
            "[VALID FROM at - INTERVAL 2 SECONDS TO at + INTERVAL 3 SECONDS]",
            lambda at, a: at - 2,
            lambda at, b: at + 3,
        ),
        (
            "[VALID FROM GREATEST(at, a) TO FLOOR(b TO 4 SECONDS)]",
            lambda at, a: at if a is None else max(at, a),
            lambda at, b: None if b is None else b // 4 * 4,
        ),
    ],
)
def test_rows_are_valid_when_they_say(engine: Engine, window: str, begins: Any, ends: Any) -> None:
    query = run(engine, f"SELECT k FROM s {window} AS v ALLOW UNBOUNDED STATE")
    for t in range(20):
        assert shown(query, t) == valid(t, begins, ends), t


def test_groups_follow(engine: Engine) -> None:
    query = run(engine, "SELECT COUNT(*) AS n FROM s [VALID FROM a TO b] ALLOW UNBOUNDED STATE")
    for t in range(20):
        expected = sum(valid(t, lambda at, a: a, lambda at, b: b).values())
        assert shown(query, t) == {(expected,): 1}, t


def test_ends_that_follow_progress_are_forgotten(engine: Engine) -> None:
    query = engine.query("SELECT COUNT(*) AS n FROM s [VALID FROM at TO at + INTERVAL 1 MINUTE]")
    assert str(query.verdict.state.size) == "per window"
    assert "to = from + 1 min" in query.explain(verbose=True)


def test_a_beginning_without_a_bound_is_refused(engine: Engine) -> None:
    with pytest.raises(TemporalError) as caught:
        engine.query("SELECT k FROM s [VALID FROM a TO b]").start()
    assert caught.value.code == "unbounded-state"
    bounded = "SELECT k FROM (SELECT * FROM s WHERE a <= at + INTERVAL 1 DAY) [VALID FROM a] AS v"
    engine.query(bounded).start()


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ("[VALID]", "syntax"),
        ("[VALID FROM k TO b]", "type-mismatch"),
        ("[VALID FROM c]", "unknown-column"),
        ("[VALID FROM NOW()]", "misplaced-now"),
        ("[VALID FROM a TO]", "syntax"),
    ],
)
def test_bad_windows(engine: Engine, window: str, code: str) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.query(f"SELECT k FROM s {window}")
    assert caught.value.code == code
