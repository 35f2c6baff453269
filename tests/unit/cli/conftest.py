"""The command in this process, and a location in which a query has run, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_story import SCRIPT, STEPS
from commands import Command, Said
from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.cli.failing import told
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.time import instant
from ebbtide.runtime.lowering import lower
from ebbtide.runtime.script import write_script
from local import Fed, LocalRunner


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
    engine = Engine("ebbtide")
    engine.execute(SCRIPT)
    query = engine.query("SELECT * FROM means", name="means")
    root = Path(engine.root_of("means"))
    root.mkdir(parents=True)
    write_script(str(root), engine.declared, query.text)
    runner = LocalRunner(lower(query.analysis), str(root), shards=2)
    offset = 0
    for rows in STEPS:
        arrivals = []
        for section, speed, at in rows:
            row = (section, speed, instant(f"2026-01-01 {at}"))
            arrivals.append(Arrival(Op.INSERT, row, offset))
            offset += 1
        runner.step({"traffic": Fed(tuple(arrivals))})
    return Path("ebbtide")
