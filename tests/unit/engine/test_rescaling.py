"""Another number of shards: answers stay, go on as those of a fresh run, and crashes leave one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.crashes import crash_everywhere
from tests.unit.engine.test_rollback import QUERIES, SCRIPT, Driver, rows

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.config import Config
from ebbtide.engine.query import Query
from ebbtide.engine.rescaling import rescale
from ebbtide.engine.rollback import rollback
from ebbtide.engine.verification import verify
from ebbtide.errors import QueryError, StateError, UnsupportedError
from ebbtide.store.journal import Journal

LARGE = 1_000_000 if Config.from_environment().profile == "long" else 5_000


class Free(Driver):
    """A driver that leaves the number of shards to the program's directory."""

    shards: int | None = None
    names: tuple[str, ...] = tuple(QUERIES)

    def start(self) -> None:
        self.engine = Engine(self.location, transport="local", shards=self.shards)
        self.engine.execute(SCRIPT)
        self.queries = [self.engine.query(QUERIES[name], name) for name in self.names]
        self.run = self.engine.start(*self.queries, name="p", **self.options)


def test_the_program_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    driver, straight = Free(tmp_path / "cut"), Driver(tmp_path / "straight")
    second = 0
    for shards in (5, 1, 3, 2):
        for _ in range(3):
            driver.step(second)
            straight.step(second)
            second += 1
        driver.engine.stop()
        done = driver.engine.rescale("p", shards)
        assert done.shards == shards
        assert done.rows > 0
        driver.start()
        assert driver.run.program.shards == shards
        assert driver.said() == straight.said()
    driver.step(second)
    straight.step(second)
    assert driver.said() == straight.said()
    assert not [error for part in verify(str(driver.location)) for error in part.wrong]
    driver.engine.stop()
    # One can go back to a version before the cut, too.
    latest = Journal(driver.run.root).latest()
    assert latest is not None
    rollback(str(driver.location), "p", latest.version - 2)
    driver.start()
    assert driver.run.program.shards == 3
    driver.engine.step()
    assert driver.said() == straight.said()
    driver.engine.stop()
    straight.engine.stop()


class Sums(Free):
    """A driver of one view."""

    names = ("sums",)

    def said(self) -> dict[str, Any]:
        (query,) = self.queries
        return {"now": rows(query.snapshot())}


def test_a_crash_leaves_the_one_or_the_other(tmp_path: Path) -> None:
    driver = Sums(tmp_path)
    for second in range(3):
        driver.step(second)
    driver.engine.stop()
    driver.start()
    expected, found = driver.said(), set()
    driver.engine.stop()

    def judge() -> None:
        driver.start()
        found.add(driver.run.program.shards)
        assert driver.said() == expected
        driver.engine.stop()

    assert crash_everywhere(lambda: rescale(str(tmp_path), "p", 3), judge) > 20
    assert found == {2, 3}
    assert not [error for part in verify(str(tmp_path)) for error in part.wrong]
    state = tmp_path / "programs" / "p" / "state"
    latest = Journal(str(state.parent)).latest()
    assert latest is not None
    driver.start()
    driver.step(3)
    driver.step(4)
    # Nothing is left of what was cut in vain.
    kept = Journal(str(state.parent)).latest()
    assert kept is not None
    assert {f.name for f in state.iterdir() if "-7-" in f.name} <= kept.segments()
    driver.engine.stop()


def test_before_the_first_step_there_is_only_a_number(tmp_path: Path) -> None:
    driver = Free(tmp_path)
    driver.engine.stop()
    assert driver.engine.rescale("sums", 4).step is None
    driver.start()
    assert driver.run.program.shards == 4
    driver.engine.stop()


def test_what_it_would_do_is_told_and_not_done(tmp_path: Path) -> None:
    driver = Free(tmp_path)
    driver.step(1)
    with pytest.raises(StateError) as caught:
        driver.engine.rescale("p", 3)
    assert caught.value.code == "state-in-use"
    driver.engine.stop()
    arguments = ["rescale", "sums", "--shards", "3", "--location", str(tmp_path)]
    told = CliRunner().invoke(ebbtide, [*arguments, "--dry-run"], standalone_mode=False)
    assert told.output.startswith("p would go from 2 shards to 3, as step 1:")
    assert driver.engine.rescale("p", 3, dry_run=True).step == 1
    driver.shards = 2
    driver.start()
    driver.engine.stop()
    told = CliRunner().invoke(ebbtide, arguments, standalone_mode=False)
    assert told.output.startswith("p goes from 2 shards to 3, as step 1:")
    with pytest.raises(StateError) as differs:
        driver.start()
    assert differs.value.code == "shards-differ"
    assert driver.engine.rescale("p", 3).step is None
    for wrong in (0, 1 << 20):
        with pytest.raises(QueryError, match="shards"):
            driver.engine.rescale("p", wrong)


def test_a_recursion_is_refused(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(
        """CREATE STREAM s (n BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE STREAM r (n BIGINT, at TIMESTAMP, PROGRESS FOR at);
        INSERT INTO r SELECT n, at FROM s;
        INSERT INTO r SELECT n - 1, at + INTERVAL 1 SECOND FROM r WHERE n > 0;"""
    )
    query = engine.query("SELECT n, at FROM r", "q")
    query.start()
    engine.feed("s", [(3, 0)])
    engine.step()
    engine.stop()
    for change in (lambda: engine.rescale("q", 3), lambda: engine.evolve(query)):
        with pytest.raises(UnsupportedError) as refused:
            change()
        assert refused.value.code == "recursion-frozen"


COUNTED = "SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS] GROUP BY k EMIT FINAL"
TUMBLED = """SELECT COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL 9 SECONDS)
  GROUP BY k, window_start, window_end EMIT FINAL"""


def waiting(location: Path, query: str) -> tuple[Engine, Query]:
    """A program at rest, in which rows wait to be final, and do not show the key of their group."""
    engine = Engine(location, transport="local")
    engine.execute(SCRIPT)
    hidden = engine.query(query, "hidden")
    hidden.start()
    engine.feed("s", [(k, k, 1_000_000) for k in range(9)])
    engine.step()
    engine.stop()
    return engine, hidden


def ended(engine: Engine, query: Query) -> list[str]:
    """What a program says in all, when it has gone on to its end."""
    query.start()
    engine.advance("s", "2026-01-01")
    engine.step()
    engine.stop()
    return rows(query.changes().drop_columns("step"))


def test_rows_that_do_not_tell_their_shard_are_not_moved(tmp_path: Path) -> None:
    """A fact that does not show the key of its group waits in the shard of that key."""
    engine, query = waiting(tmp_path, TUMBLED)
    with pytest.raises(UnsupportedError) as refused:
        engine.rescale("hidden", 3)
    assert refused.value.code == "shard-unknown"
    before = ended(engine, query)
    assert len(before) == 9
    engine.rescale("hidden", 3)
    assert rows(query.changes().drop_columns("step")) == before


def test_segments_that_wait_are_moved_by_what_they_show(tmp_path: Path) -> None:
    """Equal rows have met in one shard, whatever the keys of their groups are."""
    engine, query = waiting(tmp_path / "cut", COUNTED)
    assert engine.rescale("hidden", 3).rows > 0
    straight = ended(*waiting(tmp_path / "straight", COUNTED))
    assert len(straight) == 1
    assert ended(engine, query) == straight


def test_a_large_state_gives_the_answers_of_a_fresh_run(tmp_path: Path) -> None:
    """A million rows under the long profile."""

    def fed(engine: Engine, start: int, count: int) -> None:
        engine.feed("s", [(i % 4099, i, i * 10) for i in range(start, start + count)])
        engine.step()

    def made(location: Path, shards: int | None) -> tuple[Engine, Any]:
        engine = Engine(location, transport="local", shards=shards)
        engine.execute(SCRIPT)
        # As many rows pass the join as come: one that joins rows instead of groups would multiply
        # those of a key, and its state would be as large as their square.
        query = engine.query(
            "SELECT a.n, COUNT(*) AS keys, MAX(b.v) AS v "
            "FROM (SELECT k, COUNT(*) AS n FROM s [RANGE 1 DAY] GROUP BY k) AS a "
            "JOIN (SELECT k, MAX(v) AS v FROM s [RANGE 1 HOUR] GROUP BY k) AS b ON a.k = b.k "
            "GROUP BY a.n",
            "q",
        )
        query.start()
        return engine, query

    cut, query = made(tmp_path / "cut", None)
    fed(cut, 0, LARGE)
    cut.stop()
    assert cut.rescale("q", 5).rows >= LARGE
    cut, query = made(tmp_path / "cut", None)
    fed(cut, LARGE, LARGE // 10)
    fresh, expected = made(tmp_path / "fresh", 5)
    fed(fresh, 0, LARGE + LARGE // 10)
    assert rows(query.snapshot()) == rows(expected.snapshot())
    cut.stop()
    fresh.stop()
