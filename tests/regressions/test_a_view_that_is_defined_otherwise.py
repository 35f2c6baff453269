"""A view that a program reads was defined otherwise at the next start, and nobody noticed: its
state was taken for that of the new definition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import StateError
from ebbtide.store.program import Identity


def made(path: Path, call: str) -> tuple[Engine, Query]:
    engine = Engine(path, transport="local")
    engine.execute(f"""
        CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE VIEW inner_view AS SELECT k, {call} AS x FROM s [RANGE 1 HOUR] GROUP BY k;
        CREATE VIEW m AS SELECT k, x FROM inner_view;
    """)
    return engine, engine.query("SELECT * FROM m", name="m")


def taken(engine: Engine, query: Query, value: int) -> list[int]:
    engine.feed("s", [(1, value, "2026-01-01 00:00:00")])
    engine.step()
    return [row["x"] for row in query.snapshot().to_pylist()]


def test_it_is_refused_and_can_be_evolved(tmp_path: Path) -> None:
    engine, query = made(tmp_path, "SUM(v)")
    query.start()
    assert taken(engine, query, 5) == [5]
    engine.stop()
    engine, query = made(tmp_path, "MAX(v)")
    with pytest.raises(StateError) as caught:
        query.start()
    assert caught.value.code == "query-differs"
    assert engine.evolve(query).changed == ("m",)
    query.start()
    assert taken(engine, query, 3) == [5]
    engine.stop()


def test_a_program_that_has_not_written_them_down_goes_on(tmp_path: Path) -> None:
    engine, query = made(tmp_path, "SUM(v)")
    root = query.start().root
    assert taken(engine, query, 5) == [5]
    engine.stop()
    known = Identity.read(root)
    assert known is not None
    assert "CREATE VIEW inner_view AS " in known.views["m"]
    older = known.without_definitions()
    assert older == replace(known, views={"m": "SELECT m.k, m.x FROM m"})
    older.write(root)
    engine, query = made(tmp_path, "SUM(v)")
    query.start()
    assert taken(engine, query, 3) == [8]
    assert Identity.read(root) == known
    engine.stop()
