"""The command in this process, and a location in which a query has run, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_story import SCRIPT, STEPS
from commands import Command, Said
from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.cli.error_display import told


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs ``ebbtide`` with arguments."""

    def run(*arguments: str) -> Said:
        code = told(ebbtide, arguments)
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return run


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script, in the working directory, and the directory of its files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "traffic").mkdir(parents=True)
    path = tmp_path / "highway.sql"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.fixture
def location(script: Path) -> Path:
    """Where the view ``means`` has run for two steps; of the second, a row was too late."""
    engine = Engine("ebbtide", transport="local")
    # Rows are fed here, and read from files where the command runs.
    engine.execute(SCRIPT.replace("  FROM FILES 'data/traffic' FORMAT json", ""))
    run = engine.query("SELECT * FROM means", name="means").start()
    for rows in STEPS:
        engine.feed("traffic", [(s, v, f"2026-01-01 {at}") for s, v, at in rows])
        engine.step()
    run.stop()
    return Path("ebbtide")
