"""The commands of the documentation do what their page says, in a new directory."""

import os
import sys
from pathlib import Path

import pytest

from docs import PAGES, ROOT, blocks, run_shell

IN_A_SHELL = [page for page in PAGES if any(block.run for block in blocks(page))]


def environment() -> dict[str, str]:
    """That of the tests, with the programs of this Python first."""
    programs = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": os.pathsep.join([programs, os.environ["PATH"]]), "NO_COLOR": "1"}


@pytest.mark.parametrize("page", IN_A_SHELL, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_shell(page, environment())
    for made in tmp_path.glob("*.svg"):
        shown = page.parent / "drawings" / made.name
        assert made.read_text("utf-8") == shown.read_text("utf-8"), f"{shown} is not current"


def test_the_tutorial_is_among_them() -> None:
    assert ROOT / "docs/tutorial.md" in IN_A_SHELL
