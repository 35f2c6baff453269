"""Rows that wait to be replayed: durable, counted, visible, and accepted in that step."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.errors import EbbtideError
from ebbtide.store.journal import Journal

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS REVISE {};
    CREATE STREAM facts (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS REVISE {};
"""
VIEWS = {
    "totals": "SELECT auction, SUM(price) AS total FROM bids [UNBOUNDED] GROUP BY auction",
    "held": "SELECT id, x FROM facts [UNBOUNDED]",
}


def started(path: Path, when: str = "ON DEMAND") -> Engine:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(SOURCES.format(when, when))
    engine.start(*(engine.query(sql, name=n) for n, sql in VIEWS.items()), name="program")
    return engine


def fed(engine: Engine, seconds: range) -> None:
    for second in seconds:
        engine.feed("bids", [(0, 1, second * SECOND)])
        engine.feed("facts", [(second, second, second * SECOND)])
        engine.step()


def total(engine: Engine) -> int:
    ((_, found),) = engine.definitions.query("totals").view.snapshot()
    return int(found)


def facts(engine: Engine) -> list[Any]:
    return [row[0] for row in engine.definitions.query("held").view.snapshot()]


def waits(engine: Engine, name: str) -> list[tuple[str, str]]:
    return [(row["op"], row["row"]) for row in engine.waiting(name).to_pylist()]


def late(engine: Engine, name: str) -> int:
    return int(engine.late(name).num_rows)


def test_rows_wait_until_they_are_asked_for(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(20))
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.feed("facts", [(4, 0, 4 * SECOND)], op="delete")
    engine.step()
    latest = Journal(engine.root_of("totals")).latest()
    assert latest is not None
    assert (total(engine), 4 in facts(engine), late(engine, "bids")) == (20, True, 0)
    assert latest.record.came["bids"].rows == 0
    assert latest.record.operators["waiting.bids"].rows_stored == 1
    engine.stop()
    engine = started(tmp_path)
    engine.feed("bids", [(0, 1000, 2 * SECOND), (0, 1, 20 * SECOND)])
    engine.step()
    assert [op for op, _ in waits(engine, "bids")] == ["insert", "insert"]
    assert [op for op, _ in waits(engine, "facts")] == ["delete"]
    engine.revise()
    latest = Journal(engine.root_of("totals")).latest()
    assert latest is not None
    assert (total(engine), 4 in facts(engine)) == (1121, False)
    assert latest.record.came["bids"].rows == 2
    assert waits(engine, "bids") == waits(engine, "facts") == []
    # Once asked, once done: what comes later waits again.
    engine.feed("bids", [(0, 7, 2 * SECOND)])
    engine.step()
    assert (total(engine), len(waits(engine, "bids"))) == (1121, 1)


def test_rows_wait_for_the_next_multiple_of_a_time(tmp_path: Path) -> None:
    engine = started(tmp_path, "EVERY 10 SECONDS")
    fed(engine, range(22))
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.step()
    fed(engine, range(22, 31))
    assert (total(engine), len(waits(engine, "bids"))) == (31, 1)
    # Progress trails the newest row by an instant.
    fed(engine, range(31, 32))
    assert (total(engine), waits(engine, "bids")) == (132, [])


def test_what_has_waited_longer_than_its_archive_is_unused(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(0, 40, 4))
    engine.feed("bids", [(0, 100, 3 * SECOND), (0, 100, 30 * SECOND)])
    engine.step()
    fed(engine, range(40, 90, 4))
    engine.revise()
    assert (total(engine), late(engine, "bids")) == (123, 1)


def test_what_if_says_nothing_of_rows_that_wait(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(20))
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.step()
    told = engine.definitions.query("totals").replay(
        [("bids", (0, 1000, 18 * SECOND))], between=(19 * SECOND, 20 * SECOND)
    )
    assert sorted(row["total"] for row in told.to_pylist()) == [20, 1020]
    told = engine.definitions.query("held").replay([("bids", (0, 1000, 18 * SECOND))])
    assert told.num_rows == 0


def test_a_program_does_not_become_one_in_which_rows_wait_for_ever(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, range(20))
    engine.feed("bids", [(0, 100, 3 * SECOND)])
    engine.step()
    engine.stop()
    engine.execute("CREATE STREAM others (auction INT, at TIMESTAMP, PROGRESS FOR at AS at)")
    joined = "SELECT b.price FROM bids [NOW] b, others [NOW] o"
    queries = [*map(engine.definitions.query, VIEWS), engine.query(joined, name="joined")]
    with pytest.raises(EbbtideError) as caught:
        engine.evolve(*queries, name="program")
    assert caught.value.code == "cannot-evolve"
    assert caught.value.hint == "replay them first: engine.revise()"


@pytest.mark.parametrize(
    ("clauses", "code"),
    [("REVISE EVERY 1 HOUR", "revise-needs-archive"), ("ARCHIVE 1 DAY REVISE NEVER", "syntax")],
)
def test_clauses_that_make_no_sense_are_refused(tmp_path: Path, clauses: str, code: str) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(EbbtideError) as caught:
        engine.execute(f"CREATE STREAM s (x INT, at TIMESTAMP, PROGRESS FOR at AS at) {clauses}")
    assert caught.value.code == code


def test_every_row_is_accepted_waiting_or_unused(tmp_path: Path) -> None:
    """Rows of all ages, and some that are none: at every step they add up to those offered."""
    random, engine, offered = Random(12), started(tmp_path), 0
    waited = 0
    for second in range(0, 200, 10):
        times = (
            second - random.choice((-10, 0, 3, 20, 40, 90)) for _ in range(random.randint(1, 6))
        )
        rows: list[Any] = [(0, 1, max(0, time) * SECOND) for time in times]
        if random.random() < 0.3:
            rows.append(("no number", 1, second * SECOND))
        engine.feed("bids", rows)
        offered += len(rows)
        engine.step()
        if random.random() < 0.2:
            engine.revise()
        steps = Journal(engine.root_of("totals")).entries()
        accepted = sum(step.came["bids"].rows for step in steps)
        waiting, unused = len(waits(engine, "bids")), late(engine, "bids")
        assert accepted + waiting + unused == offered
        assert accepted == total(engine)
        waited = max(waited, waiting)
    assert waited > 1
    assert unused > 1
    engine.stop()
