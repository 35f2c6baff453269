"""What the answer of now costs to keep and to read: it follows its size, not its history."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest
from tests.histories import Fed
from tests.in_process import InProcess

from ebbtide.compile.lowering import lower
from ebbtide.engine.engine import Engine
from ebbtide.errors import EbbtideError
from ebbtide.store.journal import Journal
from ebbtide.store.readers import LIVE, View

SECOND = 1_000_000
SCRIPT = """CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 1 SECOND)"""
COUNTS = "SELECT k, COUNT(*) AS n FROM s [UNBOUNDED] GROUP BY k"
KEYS, STEPS = 20, 300


def test_an_answer_that_always_changes_stays_as_large_as_it_is(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    query = engine.query(COUNTS, "q")
    runner = InProcess(lower({"q": query.analysis}), str(tmp_path / "run"), 2)
    view = View(runner.root, "q", query.view.schema)
    random, counts = Random(1), dict.fromkeys(range(KEYS), 0)
    for step in range(STEPS):
        rows = [(random.randrange(KEYS), 1, step * SECOND) for _ in range(KEYS)]
        for key, _, _ in rows:
            counts[key] += 1
        manifest = runner.step({"s": Fed.of([("insert", row) for row in rows], step * SECOND)})
        (described,) = zip(*manifest.areas[f"{LIVE}q"], strict=True)
        segments = [segment for shard in described for segment in shard]
        assert len(segments) < 40
    live = view.live()
    assert live is not None
    # Of the changes to 20 rows in 300 steps, those of the last few may not have met yet.
    assert live.num_rows < 20 * KEYS
    assert view.snapshot() == sorted((k, n) for k, n in counts.items() if n)
    assert view.snapshot(at=5 * SECOND, step=100) != view.snapshot()


def test_the_past_and_what_was_not_kept_are_read_from_the_log(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine", transport="local")
    engine.execute(SCRIPT)
    query = engine.query("SELECT k FROM s [RANGE 10 SECONDS]", "q")
    query.start()
    for second in (1, 5, 30):
        engine.feed("s", [(second, 0, second * SECOND)])
        engine.step()
    assert query.view.live() is not None
    assert query.view.live(at=5 * SECOND) is None
    assert query.view.live(step=1) is None
    assert query.view.snapshot() == [(30,)]
    assert query.view.snapshot(at=5 * SECOND) == [(1,), (5,)]
    engine.stop()
    engine = Engine(tmp_path / "other", transport="local")
    engine.execute(SCRIPT)
    for archive in (False, True):
        query = engine.query("SELECT k FROM s [RANGE 10 SECONDS]", "q")
        query.start(archive=archive)
        engine.feed("s", [(1, 0, 1 * SECOND)])
        engine.step()
        engine.stop()
        assert query.view.live() is None
        with pytest.raises(EbbtideError, match="no-archive"):
            query.view.snapshot()
        engine = Engine(tmp_path / "other", transport="local")
        engine.execute(SCRIPT)


def test_a_reader_sees_whole_answers_while_steps_come(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    query = engine.query("SELECT SUM(v) AS total FROM s [UNBOUNDED]", "q")
    runner = InProcess(lower({"q": query.analysis}), str(tmp_path / "run"), 2)
    view = View(runner.root, "q", query.view.schema)
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            if Journal(runner.root).latest() is not None:
                ((total,),) = view.snapshot()
                seen.append(0 if total is None else total)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for step in range(60):
            runner.step({"s": Fed.of([("insert", (0, 1, step * SECOND))], step * SECOND)})
    finally:
        done.set()
        reader.join()
    assert seen == sorted(seen)
    assert view.snapshot() == [(60,)]
