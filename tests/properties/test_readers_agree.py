"""A reader that polls two views of a running program finds them in agreement at every step."""

from __future__ import annotations

from pathlib import Path

from tests.agreement import assert_agreement

from ebbtide import Engine
from ebbtide.config import Config

STEPS = {"quick": 20, "ci": 24, "long": 300}[Config.from_environment().profile]


def test_a_total_and_its_parts_agree_at_every_step(tmp_path: Path) -> None:
    assert_agreement(Engine(tmp_path, transport="local"), STEPS)
