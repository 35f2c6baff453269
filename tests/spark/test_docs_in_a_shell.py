"""The commands of the documentation do what their page says, in a new directory."""

import os
import sys
from pathlib import Path

import pytest

from docs import PAGES, ROOT, blocks, run_shell
from docs.command_server import commands_in_one_process

IN_A_SHELL = [page for page in PAGES if any(block.run for block in blocks(page))]


def environment(commands: Path) -> dict[str, str]:
    """That of the tests, with these commands and the programs of this Python first."""
    programs = str(Path(sys.executable).parent)
    path = os.pathsep.join([str(commands), programs, os.environ["PATH"]])
    return {**os.environ, "PATH": path, "NO_COLOR": "1"}


@pytest.mark.parametrize("page", IN_A_SHELL, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with commands_in_one_process(tmp_path / "commands", work) as commands:
        run_shell(page, environment(commands))
    for made in work.glob("*.svg"):
        shown = page.parent / "drawings" / made.name
        assert made.read_text("utf-8") == shown.read_text("utf-8"), f"{shown} is not current"


def test_the_tutorial_is_among_them() -> None:
    assert ROOT / "docs/tutorial.md" in IN_A_SHELL
