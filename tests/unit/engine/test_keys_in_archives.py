"""A row that came once is in the archive of its stream alone; corrections find it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.engine.query import Query
from ebbtide.errors import UnsupportedError
from ebbtide.store.journal import Journal
from ebbtide.store.readers import unused

COLUMNS = "(id INT, x INT, at TIMESTAMP, PRIMARY KEY (id, at), PROGRESS FOR at AS at)"
SUMS = "SELECT id, SUM(x) AS s FROM k [RANGE 4 SECONDS] GROUP BY id"


def declared(path: Path, clauses: str, shards: int) -> tuple[Engine, Query]:
    engine = Engine(path, transport="local", shards=shards)
    engine.execute(f"CREATE STREAM k {COLUMNS} {clauses}")
    return engine, engine.query(SUMS, name="q")


def started(path: Path, clauses: str) -> tuple[Engine, Query]:
    engine, query = declared(path, clauses, 2)
    engine.start(query, name="p")
    for second in range(1, 21):
        engine.feed("k", [(x, second, second * SECOND) for x in range(3)])
        engine.step()
    return engine, query


def stored(engine: Engine, operator: str) -> int:
    latest = Journal(engine.root_of("q")).latest()
    assert latest is not None
    shards = latest.areas[operator]
    return sum(segment[3] for shard in shards for area in shard for segment in area)


def test_a_row_is_stored_once(tmp_path: Path) -> None:
    engine, query = started(tmp_path, "RETAIN 2 SECONDS ARCHIVE 1 MINUTE")
    assert (stored(engine, "admission.k"), stored(engine, "archive.k")) == (0, 60)
    engine.feed("k", [(1, 100, 5 * SECOND)], op="replace")
    engine.feed("k", [(2, 0, 5 * SECOND)], op="delete")
    engine.feed("k", [(0, 7, 5 * SECOND)])
    engine.feed("k", [(9, 7, 5 * SECOND)], op="delete")
    engine.step()
    assert query.view.snapshot(6 * SECOND) == [(0, 18), (1, 113), (2, 13)]
    assert [row.reason for row, _ in unused(query.view.root, "k")] == ["duplicate-key"]
    assert len(engine.pending("k")) == 1
    assert stored(engine, "admission.k") == 7, "all that was said of the keys that came again"
    engine.feed("k", [(1, 0, 5 * SECOND)], op="delete")
    engine.feed("k", [(9, 1, 5 * SECOND)])
    engine.step()
    assert query.view.snapshot(6 * SECOND) == [(0, 18), (1, 13), (2, 13), (9, 1)]
    engine.feed("k", [(0, 0, 90 * SECOND)])
    engine.step()
    assert stored(engine, "admission.k") == 0, "the horizon has passed them"


def test_keys_are_found_in_other_shards(tmp_path: Path) -> None:
    engine, _ = started(tmp_path, "RETAIN 30 SECONDS ARCHIVE 30 SECONDS")
    engine.stop()
    engine.rescale("p", 3)
    engine, query = declared(tmp_path, "RETAIN 30 SECONDS ARCHIVE 30 SECONDS", 3)
    engine.start(query, name="p")
    engine.feed("k", [(x, 0, 5 * SECOND) for x in range(3)], op="delete")
    engine.step()
    assert query.view.snapshot(6 * SECOND) == [(x, 13) for x in range(3)]


def test_no_archive_becomes_too_short_for_its_keys(tmp_path: Path) -> None:
    engine, _ = started(tmp_path, "RETAIN 9 SECONDS ARCHIVE 40 SECONDS")
    engine.stop()
    engine, query = declared(tmp_path, "RETAIN 50 SECONDS ARCHIVE 40 SECONDS", 2)
    with pytest.raises(UnsupportedError, match="cannot-evolve"):
        engine.evolve(query, name="p")
    engine, query = declared(tmp_path, "RETAIN 30 SECONDS ARCHIVE 40 SECONDS", 2)
    assert "admission.k" in engine.evolve(query, name="p").carried
    engine.start(query, name="p")
    engine.feed("k", [(x, 0, 15 * SECOND) for x in range(3)], op="delete")
    engine.step()
    assert query.view.snapshot(16 * SECOND) == [(x, 13 + 14 + 16) for x in range(3)]
