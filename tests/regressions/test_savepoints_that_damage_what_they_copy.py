"""A savepoint inside of its location, or at no place at all, did damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.errors import QueryError

STREAM = "CREATE STREAM s (k STRING, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    engine = Engine("here", transport="local")
    engine.execute(STREAM)
    total = engine.query("SELECT k, SUM(v) AS v FROM s [RANGE 1 HOUR] GROUP BY k", name="q")
    parts = engine.query("SELECT k, 10 / v AS d FROM s [RANGE 1 HOUR]", name="q2")
    engine.start(total, parts, name="p")
    engine.feed("s", [("a", 1, 1), ("b", 0, 2)])
    engine.step()
    engine.stop()
    return tmp_path / "here"


def files(place: Path) -> list[str]:
    return sorted(str(file.relative_to(place)) for file in place.rglob("*"))


def test_a_place_inside_of_what_is_copied(location: Path) -> None:
    (location.parent / "link").symlink_to(location / "feed")
    before = files(location)
    for place in ("here/programs/copy", "here/feed/copy", "here", "link/copy", "here/x/../copy"):
        for dry_run in (False, True):
            with pytest.raises(QueryError) as caught:
                savepoint("here", place, dry_run)
            assert caught.value.code == "overlapping-places"
            assert caught.value.hint == f"name a directory beside it: {location}-copy"
    assert files(location) == before
    savepoint("here", "here-copy")
    with pytest.raises(QueryError) as caught:
        restore("here-copy", "here-copy/programs/p2")
    assert caught.value.code == "overlapping-places"
    restore("here-copy", "there")


@pytest.mark.parametrize("place", ["", "a\0b"])
def test_no_place(location: Path, place: str) -> None:
    with pytest.raises(QueryError) as caught:
        Engine("here", transport="local").savepoint(place)
    assert caught.value.code == "not-a-path"
    for source, target in (("here", place), (place, "there")):
        for copy in (savepoint, restore):
            with pytest.raises(QueryError) as caught:
                copy(source, target)
            assert caught.value.code == "not-a-path"
    assert location.parent.is_dir()


def test_the_state_of_views_with_similar_names(location: Path) -> None:
    """What q2 holds was looked for in q."""
    run = CliRunner().invoke(ebbtide, ["state", "-l", str(location)])
    assert run.exit_code == 0, run.output
    assert 'grouping of "s"' in run.output
    assert "q2: " in run.output


def test_changes_since_no_step(location: Path) -> None:
    engine = Engine(location, transport="local")
    engine.execute(STREAM)
    query = engine.query("SELECT k, SUM(v) AS v FROM s [RANGE 1 HOUR] GROUP BY k", name="q")
    for wrong in ("x", 1.5, True):
        with pytest.raises(QueryError) as caught:
            query.changes(since=wrong)  # type: ignore[arg-type]
        assert caught.value.code == "wrong-type"
        assert caught.value.hint == "changes(since=0)"
    with pytest.raises(QueryError) as caught:
        query.changes(since=-5)
    assert caught.value.code == "no-step"
    assert query.changes(since=-1).num_rows == query.changes().num_rows == 2
    assert query.changes(since=0).num_rows == 0
    run = CliRunner().invoke(ebbtide, ["changes", "q", "--since", "-5", "-l", str(location)])
    assert isinstance(run.exception, QueryError)
    assert run.exception.code == "no-step"
