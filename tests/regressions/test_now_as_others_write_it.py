"""Conditions on NOW() as users of other systems write them: taken, or refused with what works."""

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import BindError

DECLARED = """
CREATE STREAM a (k BIGINT, ms BIGINT, seen TIMESTAMP, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at);
CREATE STREAM b (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
SECOND = 1_000_000


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    return engine


def test_numbers_beside_mz_now_are_milliseconds(engine: Engine) -> None:
    conditions = {
        "MZ_NOW() <= ms": lambda now, ms: now // 1000 <= ms,
        "ms > MZ_NOW()": lambda now, ms: ms > now // 1000,
        "MZ_NOW() BETWEEN ms AND ms + 5000": lambda now, ms: ms <= now // 1000 <= ms + 5000,
    }
    queries = {
        name: engine.query(f"SELECT k FROM a WHERE {name} ALLOW UNBOUNDED STATE", f"q{place}")
        for place, name in enumerate(conditions)
    }
    engine.start(*queries.values(), name="p")
    given = dict(enumerate((None, 0, 1000, 2500, 8000, 9000)))
    engine.feed("a", [(k, ms, None, 0) for k, ms in given.items()])
    engine.advance("a", 20 * SECOND)
    engine.step()
    for now in (0, 999, 1000, 2_500_000, 2_500_999, 2_501_000, 7_500_999, 7_501_000, 9 * SECOND):
        for name, holds in conditions.items():
            found = [row["k"] for row in queries[name].snapshot(at=now).to_pylist()]
            expected = [k for k, ms in given.items() if ms is not None and holds(now, ms)]
            assert sorted(found) == expected, (name, now)
    engine.stop()


def test_a_number_beside_a_time_is_said_to_be_one_of_two(engine: Engine) -> None:
    with pytest.raises(BindError, match="type-mismatch") as refused:
        engine.query("SELECT k FROM a WHERE NOW() <= ms")
    assert refused.value.hint == (
        "TIMESTAMP_MILLIS(a.ms) takes it for milliseconds since 1970, "
        "TIMESTAMP_SECONDS(a.ms) for seconds"
    )
    engine.query("SELECT k FROM a WHERE NOW() <= TIMESTAMP_MILLIS(a.ms)")


def test_names_of_now(engine: Engine) -> None:
    engine.query("SELECT k FROM a WHERE at > LOCALTIMESTAMP - INTERVAL '1' HOUR")
    with pytest.raises(BindError, match="wrong-arguments") as refused:
        engine.query("SELECT k FROM a WHERE at > CURRENT_TIMESTAMP(3) - INTERVAL '1' HOUR")
    assert refused.value.hint == "write CURRENT_TIMESTAMP"


def test_a_right_join_asks_the_left_side(engine: Engine) -> None:
    recent = "a.at > NOW() - INTERVAL 2 SECONDS"
    one, other = (
        engine.query(f"SELECT a.k, b.k AS other FROM {sides} ON a.k = b.k AND {recent}", name)
        for name, sides in {
            "one": "a [RANGE 9 SECONDS] AS a RIGHT JOIN b [RANGE 9 SECONDS] AS b",
            "other": "b [RANGE 9 SECONDS] AS b LEFT JOIN a [RANGE 9 SECONDS] AS a",
        }.items()
    )
    engine.start(one, other, name="p")
    engine.feed("a", [(k, None, None, k * SECOND) for k in range(4)])
    engine.feed("b", [(k, 2 * SECOND) for k in range(5)])
    engine.advance("a", 20 * SECOND)
    engine.step()
    for now in range(0, 12 * SECOND, SECOND // 2):
        shown = [sorted(map(str, query.snapshot(at=now).to_pylist())) for query in (one, other)]
        assert shown[0] == shown[1], now
    engine.stop()


def test_the_time_by_which_rows_are_near_is_the_one_that_progresses(engine: Engine) -> None:
    query = "SELECT a.k FROM a [RANGE 1 HOUR] ASOF JOIN b [RANGE 1 HOUR] {} ON a.k = b.k"
    with pytest.raises(BindError, match="missing-match") as refused:
        engine.query(query.format(""))
    assert refused.value.hint == "add MATCH_CONDITION (a.at >= b.at) before ON"
    engine.query(query.format("MATCH_CONDITION (a.at >= b.at)"))
