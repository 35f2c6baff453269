"""The examples of docs/testing.md run, in their order, as one program."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/testing.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an engine keeps its programs where it is started
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 5
    names: dict[str, Any] = {"__name__": "docs.testing"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
