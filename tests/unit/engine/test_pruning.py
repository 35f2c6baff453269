"""Pruning removes what nobody needs, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.crashes import crash_everywhere

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.engine.pruning import prune
from ebbtide.errors import QueryError

STREAM = "CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"


def replaced(location: Path) -> Engine:
    """An engine at work on a query that has taken the place of another."""
    for text in ("SELECT k FROM s [NOW]", "SELECT at FROM s [NOW]"):
        engine = Engine(location, transport="local")
        engine.execute(STREAM)
        engine.query(text, "q", replace=True).start()
        engine.feed("s", [(1, 1)])
        engine.step()
        if text.startswith("SELECT k"):
            engine.stop()
    return engine


def names(location: Path) -> set[str]:
    return {str(path.relative_to(location)) for path in location.rglob("*") if path.is_file()}


def test_what_was_replaced_is_removed_and_nothing_else(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    engine = replaced(here)
    elsewhere.mkdir()
    (elsewhere / "program.json").write_text("{}", encoding="utf-8")
    (here / "replaced" / "link").symlink_to(elsewhere)
    (here / "replaced" / "mine").mkdir()
    (here / "replaced" / "mine" / "notes.txt").write_text("x", encoding="utf-8")
    before = names(here)
    (told,) = prune(str(here), dry_run=True)
    assert told.path.endswith("replaced/q-1")
    assert names(here) == before
    assert prune(str(here)) == [told]
    assert names(here) == {name for name in before if not name.startswith("replaced/q-1/")}
    assert os.listdir(elsewhere) == ["program.json"]
    assert prune(str(here)) == []
    engine.stop()


def test_what_a_crash_has_left_goes_when_nobody_works(tmp_path: Path) -> None:
    engine = replaced(tmp_path)
    (tmp_path / ".evolving-abc").mkdir()
    (tmp_path / ".evolving-abc" / "x").write_text("x", encoding="utf-8")
    assert [one.path for one in prune(str(tmp_path))] == [f"{tmp_path}/replaced/q-1"]
    engine.stop()
    told = CliRunner().invoke(
        ebbtide, ["prune", "--location", str(tmp_path), "--dry-run"], standalone_mode=False
    )
    assert "what a crash has left, 1 file of" in told.output.replace("\n", " ")
    assert (tmp_path / ".evolving-abc").exists()
    prune(str(tmp_path))
    assert not (tmp_path / ".evolving-abc").exists()


def test_a_crash_leaves_it_or_what_is_to_be_removed(tmp_path: Path) -> None:
    replaced(tmp_path).stop()
    kept = {name for name in names(tmp_path) if not name.startswith("replaced/")}

    def judge() -> None:
        assert kept <= names(tmp_path)

    assert crash_everywhere(lambda: prune(str(tmp_path)), judge) > 1
    assert names(tmp_path) == kept


def test_a_location_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="nothing has run"):
        prune(str(tmp_path / "nowhere"))
