"""The commands that copy a location and put it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from tests.long_run import LongRun

from commands import Command


def test_the_commands(tmp_path: Path, command: Command) -> None:
    run = LongRun(str(tmp_path / "here"), None)
    run.step()
    run.engine.stop()
    here, copy, there = (str(tmp_path / name) for name in ("here", "copy", "there"))
    dry = command("savepoint", copy, "-l", here, "--dry-run")
    assert "would be copied" in dry.out
    assert not os.path.exists(copy)
    assert command("savepoint", copy, "-l", here).out.startswith("q: step 0, ")
    assert "would be restored" in command("restore", copy, "-l", there, "--dry-run").out
    assert command("restore", copy, "-l", there).code == 0
    assert command("restore", copy, "-l", there).code == 2
    run = LongRun(there, None)
    run.number = 1
    run.step()
    run.snapshot()
    run.engine.stop()
