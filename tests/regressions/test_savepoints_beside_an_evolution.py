"""A savepoint of a program that was evolving had the state of one program and the script of the
other: started again, it gave the rows of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.engine import evolution
from ebbtide.engine.location import Location
from ebbtide.engine.query import Query
from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.store import intent, pinning
from ebbtide.store.manifest import Manifests

SECOND = 1_000_000
BEFORE = "SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k"
AFTER = "SELECT k, COUNT(*) * 10 AS n FROM s [RANGE 1 HOUR] GROUP BY k"


class Killed(BaseException):
    """The process is gone."""


def killed(*_: Any) -> None:
    raise Killed


def declared(location: Path, text: str) -> Query:
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (k STRING, at TIMESTAMP, PROGRESS FOR at AS at)")
    return engine.query(text, name="q")


@pytest.fixture
def location(tmp_path: Path) -> Path:
    query = declared(tmp_path / "here", BEFORE)
    query.start()
    for second in (1, 2):
        query.engine.feed("s", [("a", second * SECOND)])
        query.engine.step()
    query.engine.stop()
    return tmp_path / "here"


def check_goes_on(copy: Path, text: str, expected: int) -> None:
    """A program from a copy is this one, and goes on with its state."""
    restore(str(copy), f"{copy}-restored")
    assert [stored.name for stored in Location(f"{copy}-restored").queries()] == ["q"]
    query = declared(Path(f"{copy}-restored"), text)
    query.start()
    query.engine.feed("s", [("a", 3 * SECOND)])
    query.engine.step()
    assert query.snapshot().to_pylist() == [{"k": "a", "n": expected}]
    query.engine.stop()


@pytest.mark.parametrize(
    ("owner", "name", "text", "expected"),
    [
        (Manifests, "commit", BEFORE, 3),
        (intent, "settle", AFTER, 30),
        (intent, "remove", AFTER, 30),
    ],
)
def test_one_that_was_killed(
    location: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    text: str,
    expected: int,
) -> None:
    query = declared(location, AFTER)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(Killed):
            query.engine.evolve(query)
    savepoint(str(location), f"{location}-copy")
    check_goes_on(Path(f"{location}-copy"), text, expected)


def test_one_that_comes_in_between(location: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = pinning._Pins.release

    def evolves_first(pins: Any) -> None:
        monkeypatch.setattr(pinning._Pins, "release", released)
        query = declared(location, AFTER)
        evolution.evolve(query.engine, [query], "q")
        released(pins)

    monkeypatch.setattr(pinning._Pins, "release", evolves_first)
    savepoint(str(location), f"{location}-copy")
    check_goes_on(Path(f"{location}-copy"), AFTER, 30)
