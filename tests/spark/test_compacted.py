"""What is compacted reads the same on Spark; a DataFrame keeps the files that it will read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import StateError
from ebbtide.store import compaction, pinning
from ebbtide.store.history import History

SECOND = 1_000_000
SCRIPT = """
CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND);
"""
SUMS = "SELECT k, SUM(v) AS t FROM s [RANGE 9 SECONDS] GROUP BY k"


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compactions come often."""
    monkeypatch.setattr(compaction, "LOOSE", 2)
    monkeypatch.setattr(compaction, "FAN_IN", 2)


def query_at(engine: Engine) -> Query:
    engine.execute(SCRIPT)
    return engine.query(SUMS, "q")


def stepped(engine: Engine, steps: range) -> None:
    """Steps of some rows, one of them too late."""
    for n in steps:
        engine.feed("s", [(k, n, n * SECOND) for k in range(3)] + [(9, 9, (n - 30) * SECOND)])
        engine.step()


def rows(frame: object) -> list[str]:
    """The rows of a DataFrame or an Arrow table, as texts in order."""
    table = frame.toArrow() if hasattr(frame, "toArrow") else frame
    return sorted(map(str, table.to_pylist()))  # type: ignore[attr-defined]


def test_spark_reads_what_this_process_does(spark: SparkSession, tmp_path: Path) -> None:
    local = Engine(tmp_path, transport="local")
    here = query_at(local)
    here.start(keep_changes="10 seconds")
    stepped(local, range(30))
    engine = Engine(tmp_path, spark=spark)
    there = query_at(engine)
    floor = History.read(here.view.root).view("q").floor
    assert floor > 0
    assert rows(there.changes()) == rows(here.changes())
    assert rows(there.changes(since=floor + 2)) == rows(here.changes(since=floor + 2))
    for second in (25, 28):
        at = second * SECOND
        assert rows(there.snapshot(at=at)) == rows(here.snapshot(at=at))
        assert rows(there.snapshot(at=at, as_of=second)) == rows(here.snapshot(at=at, as_of=second))
    engine._runs = local._runs
    assert rows(engine.late("s")) == rows(local.late("s"))
    for refused in (lambda: there.changes(since=0), lambda: there.snapshot(at=SECOND)):
        with pytest.raises(StateError) as caught:
            refused()
        assert caught.value.code == "not-kept"
    # What was made before can be read once its files are exchanged, and so can what is made of it.
    frame = there.changes(since=floor + 2)
    derived = frame.where("k = 1")
    expected = rows(frame)
    before = set(History.read(here.view.root).files())
    stepped(local, range(30, 60))
    assert not before & set(History.read(here.view.root).files())
    assert rows(frame) == expected
    assert rows(derived) == [row for row in expected if "'k': 1," in row]
    local.stop()


def test_the_pins_of_a_process_that_is_gone_are_removed(tmp_path: Path) -> None:
    local = Engine(tmp_path, transport="local")
    query = query_at(local)
    query.start()
    stepped(local, range(3))
    root = query.view.root
    files = list(History.read(root).files())
    code = (
        "import os, sys; from ebbtide.store.pinning import pinned;"
        "print(*pinned(sys.argv[1], sys.argv[2:])); sys.stdout.flush(); os._exit(1)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, root, *files], capture_output=True, text=True, check=False
    )
    paths = ran.stdout.split()
    assert all(map(os.path.exists, paths))
    mine = pinning.pinned(root, files)
    local.stop()
    again = query_at(Engine(tmp_path, transport="local"))
    again.start()
    assert not any(map(os.path.exists, paths))
    assert all(map(os.path.exists, mine))
    pinning.release_all()
    assert not any(map(os.path.exists, mine))
    again.engine.stop()
