"""Names and texts that mean something elsewhere stay names and texts."""

from __future__ import annotations

from pathlib import Path

from tests.faults import injection

from ebbtide.config import Config

COUNT = {"quick": 10, "ci": 12, "long": 500}[Config.from_environment().profile]


def test_no_name_is_more_than_a_name(tmp_path: Path) -> None:
    figures = injection.run(COUNT, 1, tmp_path)
    assert figures.wrong == []
    assert figures.ran == COUNT
