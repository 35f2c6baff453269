"""Archives of accepted rows: what they hold, how they age, and why a row is there by them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.time import SECOND
from ebbtide.engine.accepted_input import accepted_input
from ebbtide.engine.location import Location
from ebbtide.engine.rollback import rollback
from ebbtide.engine.state_report import holdings
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError, QueryError
from ebbtide.store.input_archive import ArchivedInput, archived_input
from ebbtide.store.journal import Journal

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 10 SECONDS ARCHIVE 40 SECONDS;
    CREATE STREAM facts (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id, at), PROGRESS FOR at AS at)
      RETAIN 10 SECONDS ARCHIVE 40 SECONDS;
"""
TOTALS = "SELECT auction, SUM(price) AS total FROM bids [RANGE 5 SECONDS] GROUP BY auction"
DOUBLES = "SELECT x, COUNT(*) AS n FROM facts [RANGE 5 SECONDS] GROUP BY x"


def started(path: Path, **options: Any) -> Engine:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(SOURCES)
    engine.start(
        engine.query(TOTALS, name="totals"),
        engine.query(DOUBLES, name="doubles"),
        name="both",
        **options,
    )
    return engine


def fed(engine: Engine, random: Random, second: int) -> None:
    """Some rows of both streams, late ones and deletes among them, and a step."""
    rows = [(random.randrange(2), random.randrange(9), _time(random, second)) for _ in range(3)]
    engine.feed("bids", rows)
    engine.feed("facts", [(random.randrange(3), 1, second * SECOND)])
    engine.feed("facts", [(random.randrange(3), 1, max(0, second - 2) * SECOND)], op="delete")
    engine.step()


def _time(random: Random, second: int) -> int:
    return max(0, second - random.choice((0, 0, 1, 8))) * SECOND


def declared(engine: Engine, name: str) -> StreamDeclaration:
    declaration = engine.definitions.source(name).declaration
    assert isinstance(declaration, StreamDeclaration)
    return declaration


def archived(engine: Engine, name: str) -> ArchivedInput:
    root = engine.root_of("totals")
    latest = Journal(root).latest()
    assert latest is not None
    found = archived_input(root, latest, declared(engine, name), f"archive.{name}")
    assert found is not None
    return found


def by_log(engine: Engine, name: str, step: int) -> tuple[Any, ...]:
    """What was accepted, by the log."""
    found = accepted_input(
        engine.location, engine.root_of("totals"), [declared(engine, name)], step
    )
    return found.changes[name]


@pytest.mark.parametrize("name", ["bids", "facts"])
def test_an_archive_has_what_was_accepted_as_of_every_step(tmp_path: Path, name: str) -> None:
    engine, random = started(tmp_path), Random(5)
    for second in range(8):
        if second == 4:
            engine.stop()
            engine = started(tmp_path)
        fed(engine, random, second)
    found = archived(engine, name)
    for step in range(8):
        assert found.upto(step) == by_log(engine, name, step)
    assert any(change.diff < 0 for _, change in found.changes) == (name == "facts")


def test_an_archive_ages_out_by_whole_buckets(tmp_path: Path) -> None:
    engine, random = started(tmp_path), Random(6)
    for second in range(0, 125, 5):
        fed(engine, random, second)
    for name in ("bids", "facts"):
        found = archived(engine, name)
        floor = found.floors["at"]
        everything = by_log(engine, name, 24)
        kept = {c for c in everything if c.row[-1] > floor}
        assert kept <= set(found.upto(24)) < set(everything)
        oldest = min(change.row[-1] for _, change in found.changes)
        assert floor - 40 * SECOND < oldest


def test_why_reads_the_archive_where_the_log_is_gone(tmp_path: Path) -> None:
    engine, random = started(tmp_path), Random(7)
    for second in range(9):
        fed(engine, random, second)
    query = engine.definitions.query("totals")
    (row, *_) = query.view.snapshot(6 * SECOND)
    by_hand = query.why(row, at=6 * SECOND)
    earlier = query.why({"auction": row[0]}, at=6 * SECOND, as_of=7)
    log = engine.log_of(declared(engine, "bids"))
    log.cut(log.end)
    assert query.why(row, at=6 * SECOND).lineage == by_hand.lineage
    assert query.why({"auction": row[0]}, at=6 * SECOND, as_of=7).lineage == earlier.lineage


def test_what_has_left_the_archive_is_not_guessed(tmp_path: Path) -> None:
    engine, random = started(tmp_path), Random(8)
    for second in range(0, 95, 5):
        fed(engine, random, second)
    log = engine.log_of(declared(engine, "bids"))
    log.cut(log.end)
    query = engine.definitions.query("totals")
    assert query.why(query.view.snapshot(80 * SECOND)[0], at=80 * SECOND).lineage.causes
    old = query.view.snapshot(30 * SECOND)[0]
    with pytest.raises(EbbtideError) as caught:
        query.why(old, at=30 * SECOND)
    assert caught.value.code == "input-not-kept"
    assert "have left its archive" in str(caught.value.detail)


def test_an_archive_goes_back_with_its_program(tmp_path: Path) -> None:
    engine, random = started(tmp_path, keep_versions=5), Random(9)
    for second in range(8):
        fed(engine, random, second)
    before = archived(engine, "bids").upto(4)
    engine.stop()
    rollback(str(tmp_path), "both", 4, leave_unused=True)
    assert archived(engine, "bids").upto(99) == before
    assert not any(part.wrong for part in verify(str(tmp_path)))


def test_an_archive_is_part_of_the_state_and_of_explain(tmp_path: Path) -> None:
    engine = started(tmp_path)
    fed(engine, Random(1), 3)
    found = {h.operator: h for h in holdings(Location(str(tmp_path)).query("totals"))}
    archive = found["archive.bids"]
    assert (archive.what, archive.rows) == ('archive of "bids"', 3)
    assert archive.keeps == "keep while at > progress(bids.at) - 40 s"
    text = engine.definitions.query("totals").explain(verbose=True)
    assert "archive  rows of bids: keep while at > progress(bids.at) - 40 s" in text


def test_an_archive_needs_progress(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(QueryError, match="no progress by which its archive would age") as caught:
        engine.execute("CREATE STREAM s (x INT, at TIMESTAMP) ARCHIVE 1 DAY")
    assert caught.value.code == "archive-needs-progress"
