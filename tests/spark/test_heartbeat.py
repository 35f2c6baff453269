"""Steps in idle time: a source that is idle, ``now`` that follows the clock, rows fed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.files import as_json, put

from ebbtide.core.time import instant
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import QueryError, StateError
from ebbtide.testing import Clock

STREAM = """
CREATE STREAM {name} (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)
  {rules} {source};
"""
JOIN = "SELECT l.a FROM l [RANGE 5 SECONDS] JOIN r [RANGE 5 SECONDS] ON l.a = r.a"
SECOND = 1_000_000


def files(path: Path, name: str) -> str:
    (path / name).mkdir(parents=True, exist_ok=True)
    return f"FROM FILES '{path}/{name}' FORMAT json"


def made(spark: SparkSession, path: Path, clock: Clock, *streams: tuple[str, str, str]) -> Engine:
    engine = Engine(path / "state", spark=spark, shards=2, clock=clock)
    for name, rules, source in streams:
        engine.execute(STREAM.format(name=name, rules=rules, source=source))
    return engine


def values(query: Query) -> list[int]:
    return sorted(row.a for row in query.snapshot().collect())


def test_an_idle_source_does_not_hold_up_the_other(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock("1970-01-01 00:00:10")
    idle = ("r", "IDLE AFTER 20 SECONDS", files(tmp_path, "r"))
    engine = made(spark, tmp_path, clock, ("l", "", files(tmp_path, "l")), idle)
    query = engine.query(JOIN, "idle")
    run = query.start()
    put(tmp_path / "r", 0, as_json(["a", "at"], [(1, 10 * SECOND)]))
    put(tmp_path / "l", 0, as_json(["a", "at"], [(1, 11 * SECOND)]))
    run.process_all_available()
    assert values(query) == [1]
    put(tmp_path / "l", 1, as_json(["a", "at"], [(2, 40 * SECOND)]))
    run.process_all_available()
    # Rows of r that could meet those of l may still come.
    (name,) = (name for name in run.status.metrics if ".join@" in name)
    assert run.status.metrics[name].rows_stored == 2
    assert values(query) == []
    # The clock alone moves r on, to 20 seconds behind it: what has ended by then can go.
    clock.set(instant("1970-01-01 00:01:10"))
    run.process_all_available()
    assert run.status.now_us == 49 * SECOND - 1
    assert run.status.metrics[name].rows_stored == 0
    assert sum(step.operators[name].rows_expired for step in run.metrics()) == 3
    engine.stop()


def test_now_follows_the_clock(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock("1970-01-01 00:00:10")
    engine = made(spark, tmp_path, clock, ("l", "", files(tmp_path, "l")))
    query = engine.query("SELECT a FROM l [RANGE 5 SECONDS]", "follows")
    run = query.start(heartbeat="1 second")
    put(tmp_path / "l", 0, as_json(["a", "at"], [(1, 10 * SECOND)]))
    run.process_all_available()
    assert values(query) == [1]
    steps = run.status.version
    clock.set(15 * SECOND)
    run.process_all_available()
    assert run.status.now_us == 15 * SECOND
    assert [row.a for row in query.snapshot(at=15 * SECOND - 1).collect()] == [1]
    assert values(query) == []
    assert steps is not None
    assert run.status.version is not None
    assert run.status.version > steps
    run.stop()
    again = made(spark, tmp_path, clock, ("l", "", files(tmp_path, "l")))
    same = again.query("SELECT a FROM l [RANGE 5 SECONDS]", "follows")
    with pytest.raises(StateError, match="heartbeat-differs"):
        same.start()
    run = same.start(heartbeat="1 second")
    put(tmp_path / "l", 1, as_json(["a", "at"], [(2, 16 * SECOND)]))
    run.process_all_available()
    assert values(same) == [2]
    again.stop()


@pytest.mark.parametrize("pace", ["0 seconds", "500 milliseconds", "1500 milliseconds"])
def test_a_pace_is_whole_seconds(spark: SparkSession, tmp_path: Path, pace: str) -> None:
    engine = made(spark, tmp_path, Clock(0), ("l", "", ""))
    with pytest.raises(QueryError, match=r"bad-heartbeat|bad-duration"):
        engine.query("SELECT a FROM l [NOW]", "pace").start(heartbeat=pace)


def test_fed_rows_beside_files(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock(0)
    streams = (("l", "", files(tmp_path, "l")), ("r", "", ""))
    engine = made(spark, tmp_path, clock, *streams)
    query = engine.query(JOIN, "mixed")
    run = query.start()
    put(tmp_path / "l", 0, as_json(["a", "at"], [(1, 10 * SECOND), (2, 10 * SECOND)]))
    engine.feed("r", [(1, 11 * SECOND)])
    assert set(engine.step()) == {"mixed"}
    assert values(query) == [1]
    # Without a file, the heartbeat brings the step that takes what is fed.
    engine.feed("r", [(2, 12 * SECOND)])
    engine.step()
    assert values(query) == [1, 2]
    run.stop()
    # As if the last step had been killed before Spark took it for done: it is not run again.
    last = run.status.version
    for name in (f"{last}", f".{last}.crc"):
        (tmp_path / "state/programs/mixed/checkpoint/commits" / name).unlink(missing_ok=True)
    engine.feed("r", [(3, 13 * SECOND)])
    put(tmp_path / "l", 1, as_json(["a", "at"], [(3, 13 * SECOND)]))
    again = made(spark, tmp_path, clock, *streams)
    same = again.query(JOIN, "mixed")
    same.start()
    again.step()
    assert values(same) == [1, 2, 3]
    again.stop()


def test_a_query_fed_by_hand_may_run_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock(10 * SECOND)
    engine = made(spark, tmp_path, clock, ("r", "", ""))
    query = engine.query("SELECT a FROM r [RANGE 5 SECONDS]", "by_itself")
    run = query.start(heartbeat="2 seconds")
    engine.feed("r", [(1, 9 * SECOND), (2, 4 * SECOND)])
    run.process_all_available()
    assert values(query) == [1]
    engine.stop()
