"""Rows that operators have forgotten: replayed from the archive, or unused with their reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crashes import Killed, killed_before

from ebbtide import Engine
from ebbtide.core.change import consolidate
from ebbtide.core.time import SECOND
from ebbtide.engine.rollback import rollback
from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.engine.verification import verify
from ebbtide.store.journal import Journal

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
    CREATE STREAM facts (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
    CREATE STREAM others (auction INT, at TIMESTAMP, PROGRESS FOR at AS at);
"""
VIEWS = {
    "totals": "SELECT auction, SUM(price) AS total FROM bids [UNBOUNDED] GROUP BY auction",
    "last": "SELECT auction, price FROM bids [ROWS 2 SLIDE 2]",
    "held": "SELECT id, x FROM facts [RANGE 7 SECONDS]",
    "visits": "SELECT auction, COUNT(*) AS n FROM bids [SESSION 4 SECONDS] GROUP BY auction",
}
JOINED = "SELECT b.auction FROM bids [RANGE 5 SECONDS] b, others [RANGE 5 SECONDS] o"


def started(path: Path, views: dict[str, str] = VIEWS, shards: int = 2, **options: Any) -> Engine:
    engine = Engine(path, transport="local", shards=shards)
    engine.execute(SOURCES)
    queries = [engine.query(sql, name=name) for name, sql in views.items()]
    engine.start(*queries, name="program", **options)
    return engine


def fed(engine: Engine, seconds: Iterator[int] | range, rows: int = 1) -> None:
    for second in seconds:
        engine.feed("bids", [(second % 2, second, second * SECOND) for _ in range(rows)])
        engine.feed("facts", [(second, second, second * SECOND)])
        engine.step()


def answers(engine: Engine, *instants: int) -> dict[str, list[Any]]:
    views = {name: engine.definitions.query(name).view for name in VIEWS}
    return {n: [v.snapshot(t * SECOND) for t in instants] for n, v in views.items()}


def unused(engine: Engine, source: str) -> list[str]:
    return [row["reason"] for row in engine.late(source).to_pylist()]


INSTANTS = (0, 3, 9, 12, 13, 20, 31, 39)


def in_time(path: Path) -> dict[str, list[Any]]:
    """What is said if nothing comes late."""
    engine = started(path)
    engine.feed("bids", [(0, 100, 3 * SECOND), (1, 50, 12 * SECOND)])
    engine.feed("facts", [(99, 9, 13 * SECOND)])
    engine.feed("facts", [(12, 12, 12 * SECOND)])
    engine.feed("facts", [(12, 0, 12 * SECOND)], op="delete")
    engine.step()
    fed(engine, range(12))
    for second in range(12, 40):
        engine.feed("bids", [(second % 2, second, second * SECOND)])
        if second != 12:
            engine.feed("facts", [(second, second, second * SECOND)])
        engine.step()
    found = answers(engine, *INSTANTS)
    engine.stop()
    return found


def corrected(engine: Engine) -> None:
    """The same rows, far too late."""
    engine.feed("bids", [(0, 100, 3 * SECOND), (1, 50, 12 * SECOND)])
    engine.feed("facts", [(99, 9, 13 * SECOND)])
    engine.feed("facts", [(12, 0, 12 * SECOND)], op="delete")
    engine.step()


def test_old_rows_correct_sums_row_numbers_sessions_and_facts(tmp_path: Path) -> None:
    engine = started(tmp_path / "late")
    fed(engine, range(40))
    before = answers(engine, *INSTANTS)
    corrected(engine)
    expected = in_time(tmp_path / "in-time")
    assert answers(engine, *INSTANTS) == expected != before
    assert not unused(engine, "bids")
    assert not unused(engine, "facts")


def test_the_state_goes_on_as_if_they_had_come_in_time(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(30))
    engine.feed("bids", [(0, 1000, 2 * SECOND)])
    engine.step()
    engine.stop()
    engine = started(tmp_path)
    fed(engine, range(30, 33))
    total = dict(engine.definitions.query("totals").view.snapshot(32 * SECOND))
    assert total[0] == 1000 + sum(range(0, 33, 2))


def test_a_second_replay_knows_of_the_first(tmp_path: Path) -> None:
    old = ((0, 1000, 2 * SECOND), (0, 100, 42 * SECOND))
    late, in_time = (started(tmp_path / name) for name in ("late", "in-time"))
    fed(late, range(0, 50, 2))
    for row in old:
        late.feed("bids", [row])
        late.step()
    in_time.feed("bids", old)
    fed(in_time, range(0, 50, 2))
    assert answers(late, *range(0, 50, 3)) == answers(in_time, *range(0, 50, 3))


def test_every_change_of_a_replay_is_a_revision_of_its_step(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(20))
    engine.feed("bids", [(0, 7, 2 * SECOND)])
    engine.step()
    found = [c for c in engine.definitions.query("totals").changes().to_pylist() if c["step"] == 20]
    assert {c["reason"] for c in found} == {"revision"}
    # Nothing is said of an auction whose sum has not changed.
    assert {c["auction"] for c in found} == {0}


def test_what_has_left_the_archive_is_unused(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(0, 120, 4))
    engine.feed("bids", [(0, 1, 55 * SECOND), (0, 1, 57 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]


def test_rows_that_could_meet_what_is_not_archived_are_unused(tmp_path: Path) -> None:
    engine = started(tmp_path, {**VIEWS, "joined": JOINED})
    fed(engine, range(20))
    engine.feed("bids", [(0, 1, 3 * SECOND)])
    engine.feed("facts", [(99, 1, 3 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]
    assert unused(engine, "facts") == []
    said = str(engine.definitions.query("joined").explain())
    assert 'set aside, although they are archived: it meets "others", which is not archived' in said


@pytest.mark.parametrize("strategy", ["negative", "piggyback"])
def test_rows_that_expire_in_other_ways_are_unused(tmp_path: Path, strategy: str) -> None:
    """What a query says then depends on its steps, and a replay takes others."""
    totals = f"{VIEWS['totals']} WITH (expiry = '{strategy}')"
    engine = started(tmp_path, {**VIEWS, "totals": totals})
    fed(engine, range(20))
    engine.feed("bids", [(0, 1, 3 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]
    said = str(engine.definitions.query("totals").explain())
    assert f"although they are archived: it is read under expiry {strategy}" in said


def test_explain_says_that_rows_are_replayed(tmp_path: Path) -> None:
    said = str(started(tmp_path).definitions.query("totals").explain())
    way = 'REPLAY ALL: rows of "bids" count without an end'
    assert f"from 5 s on they are replayed from the archive ({way}); from 1 min on" in said


def test_a_program_without_its_changes_does_not_replay(tmp_path: Path) -> None:
    engine = started(tmp_path, archive=False)
    fed(engine, range(20))
    engine.feed("bids", [(0, 1, 3 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]


def test_a_replay_that_is_killed_anywhere_has_happened_whole_or_not_at_all(tmp_path: Path) -> None:
    expected: dict[str, list[Any]] = {}
    points = 0
    while True:
        place = tmp_path / str(points)
        engine = started(place)
        fed(engine, range(0, 40, 5))
        before = answers(engine, 4, 12, 35)
        engine.feed("bids", [(0, 100, 3 * SECOND)])
        try:
            with killed_before(points):
                engine.step()
            done = True
        except Killed:
            done = False
        expected = expected or _undisturbed(tmp_path / "whole")
        assert answers(engine, 4, 12, 35) in (before, expected)
        engine.stop()
        engine = started(place)
        engine.step()
        assert answers(engine, 4, 12, 35) == expected
        for query in VIEWS:
            said = engine.definitions.query(query).view.changes()
            assert all(c.diff > 0 for c in consolidate(change for _, change in said))
        engine.stop()
        assert not any(part.wrong for part in verify(str(place)))
        if done:
            break
        points += 11
    assert points > 50


def _undisturbed(path: Path) -> dict[str, list[Any]]:
    engine = started(path)
    fed(engine, range(0, 40, 5))
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.step()
    found = answers(engine, 4, 12, 35)
    engine.stop()
    return found


def test_a_program_that_went_back_can_be_replayed(tmp_path: Path) -> None:
    engine = started(tmp_path, keep_versions=10)
    fed(engine, range(0, 45, 3))
    engine.stop()
    rollback(str(tmp_path), "program", 9, leave_unused=True)
    engine = started(tmp_path)
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.step()
    total = dict(engine.definitions.query("totals").view.snapshot(27 * SECOND))
    assert total[0] == 100 + sum(s for s in range(0, 30, 3) if s % 2 == 0)


def test_a_restored_savepoint_can_be_replayed(tmp_path: Path) -> None:
    engine = started(tmp_path / "one")
    fed(engine, range(0, 150, 5))
    savepoint(str(tmp_path / "one"), str(tmp_path / "saved"))
    engine.stop()
    restore(str(tmp_path / "saved"), str(tmp_path / "two"))
    engine = started(tmp_path / "two")
    engine.feed("bids", [(0, 1000, 100 * SECOND), (0, 1, 80 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]
    total = dict(engine.definitions.query("totals").view.snapshot(120 * SECOND))
    assert total[0] == 1000 + sum(range(0, 125, 10))


def test_a_rescaled_program_replays_what_is_later_than_that(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(0, 50, 5))
    engine.stop()
    engine.rescale("program", 3)
    engine = started(tmp_path, shards=3)
    fed(engine, range(50, 65, 5))
    engine.feed("bids", [(0, 1000, 42 * SECOND), (0, 1, 30 * SECOND)])
    engine.step()
    assert unused(engine, "bids") == ["late"]
    total = dict(engine.definitions.query("totals").view.snapshot(60 * SECOND))
    assert total[0] == 1000 + sum(range(0, 65, 10))


def test_bases_go_with_the_archive(tmp_path: Path) -> None:
    engine = started(tmp_path, {"totals": VIEWS["totals"]})
    fed(engine, range(0, 600, 5))
    latest = Journal(engine.root_of("totals")).latest()
    assert latest is not None
    # Every second step is an eighth of the archive further.
    assert 6 <= len(latest.bases) <= 9
    assert all(base.version > latest.version - 16 for base in latest.bases)
