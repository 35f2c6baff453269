"""A stream named ``../../x`` wrote outside of the location; everybody could read what is there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.core.file_name import file_name
from ebbtide.errors import QueryError
from ebbtide.sinks.memory import Memory

NAMES = [
    "../../x",
    "..",
    ".",
    "/etc/x",
    "a/b",
    "a\\b",
    "nul\x00byte",
    "line\nbreak",
    ".hidden",
    "größe",
    "x" * 400,
    "-rf",
    "%2E%2E",
    "con.jsonl",
    "\ud800",
]


def below(path: Path) -> set[Path]:
    return {found.relative_to(path) for found in path.rglob("*")}


@pytest.mark.parametrize("name", NAMES[:-1], ids=ascii)  # the last is in no text
def test_a_stream_of_any_name(tmp_path: Path, name: str) -> None:
    location = tmp_path / "far/down/location"
    engine = Engine(location, transport="local")
    engine.execute(
        f"CREATE STREAM `{name}` (k BIGINT, at TIMESTAMP, PRIMARY KEY (k), PROGRESS FOR at AS at)"
    )
    query = engine.query(f"SELECT k FROM `{name}` [RANGE 1 MINUTE]", name="q")
    memory = Memory()
    query.start(sink=memory)
    engine.feed(name, [(1, "2026-01-01 00:00:00")])
    engine.step()
    assert query.snapshot().to_pylist() == [{"k": 1}]
    assert engine.late(name).num_rows == 0
    engine.stop()
    outside = {path for path in below(tmp_path) if path.parts[:3] != ("far", "down", "location")}
    assert outside == {Path("far"), Path("far/down")}
    assert len(list((location / "feed").glob("*.jsonl"))) == 1


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_query_or_program_of_any_name(tmp_path: Path, name: str) -> None:
    engine = Engine(tmp_path / "location", transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    if name in ("con.jsonl",):
        assert engine.query("SELECT k FROM s [NOW]", name=name).name == name
        return
    with pytest.raises(QueryError) as caught:
        engine.query("SELECT k FROM s [NOW]", name=name)
    assert caught.value.code == "bad-name"
    with pytest.raises(QueryError) as caught:
        engine.query("SELECT k FROM s [NOW]", name="q").start(name=name)
    assert caught.value.code == "bad-name"
    assert not (tmp_path / "location").exists()


def test_different_names_are_different_files() -> None:
    names = [*NAMES, "%", "", "a%2Fb", "x" * 401, *(chr(i) for i in range(200))]
    made = [file_name(name) for name in names]
    assert len(set(made)) == len(set(names))
    assert all(len(name) <= 150 and not name.startswith(".") for name in made)
    assert not any(set(name) & set("/\\\x00\n ") for name in made)


def test_nobody_else_can_read_a_location(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        location = tmp_path / "a/location"
        engine = Engine(location, transport="local")
        engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
        engine.query("SELECT k FROM s [RANGE 1 MINUTE]", name="q").start(sink=Memory())
        engine.feed("s", [(1, "2026-01-01 00:00:00"), ("no number", "2026-01-01 00:00:00")])
        engine.step()
        engine.stop()
    finally:
        os.umask(before)
    found = [tmp_path / "a", location, *location.rglob("*")]
    assert len(found) > 10
    for path in found:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
