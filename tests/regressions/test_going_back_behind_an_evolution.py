"""A rollback to a step before an evolution gave the state of the old queries to the new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.rollback import rollback
from ebbtide.errors import QueryError

SECOND = 1_000_000
COUNTS = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k"
SUMS = "SELECT k, SUM(v) AS t FROM s [RANGE 1 HOUR] GROUP BY k"


def declared(location: Path, **views: str) -> Engine:
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (k STRING, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    for name, text in views.items():
        engine.query(text, name=name)
    return engine


def started(location: Path, **views: str) -> Engine:
    engine = declared(location, **views)
    engine.start(*map(engine.definitions.query, views), name="p", keep_versions=9)
    return engine


def test_it_is_refused(tmp_path: Path) -> None:
    engine = started(tmp_path, counts=COUNTS)
    for second in (1, 2):
        engine.feed("s", [("a", second, second * SECOND)])
        engine.step()
    engine.stop()
    engine = declared(tmp_path, counts=COUNTS, sums=SUMS)
    assert engine.evolve(*map(engine.definitions.query, ("counts", "sums")), name="p").step == 2
    engine = started(tmp_path, counts=COUNTS, sums=SUMS)
    engine.feed("s", [("a", 3, 3 * SECOND)])
    engine.step()
    engine.stop()
    for step in (0, 1):
        with pytest.raises(QueryError) as caught:
            rollback(str(tmp_path), "p", step)
        assert caught.value.code == "no-version"
        assert caught.value.message == f'"p" has been other queries at step {step}'
        assert caught.value.detail == "it can go back to: 2"
    assert rollback(str(tmp_path), "p", 2).step == 4
    engine = started(tmp_path, counts=COUNTS, sums=SUMS)
    assert engine.snapshot(["sums"])["sums"].to_pylist() == [{"k": "a", "t": 3}]
    engine.step()
    assert engine.snapshot(["sums"])["sums"].to_pylist() == [{"k": "a", "t": 6}]
    engine.stop()
