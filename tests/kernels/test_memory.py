"""The memory of a process that runs steps follows neither their number nor the size of the state.

Mapped files are not counted: the system takes their pages back when it needs them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.config import Config

LONG = Config.from_environment().profile == "long"
DRIVER = Path(__file__).with_name("memory_driver.py")
FEW, MANY = 10_000, 1_000_000 if LONG else 400_000
STEPS = 1000 if LONG else 200
NOISE = 8 * 1024
"""KiB that a process may hold more or less from one step to another."""


def told(directory: Path, kernel: str, live: int, steps: int) -> dict[str, int]:
    """What a process tells that has run some steps on a state of some rows."""
    directory.mkdir()
    command = [sys.executable, str(DRIVER)]
    options = [str(directory), kernel, str(live), str(steps)]
    subprocess.run([*command, "build", *options], check=True)
    found = subprocess.run([*command, "step", *options], check=True, capture_output=True)
    result: dict[str, int] = json.loads(found.stdout)
    return result


@pytest.mark.parametrize("kernel", ["average", "greatest", "join"] if LONG else ["average"])
def test_memory_is_bounded(kernel: str, tmp_path: Path) -> None:
    few = told(tmp_path / "few", kernel, FEW, STEPS)
    # A step's changes alone, kept for all the steps, would be more.
    assert few["end"] - few["settled"] < NOISE
    many = told(tmp_path / "many", kernel, MANY, 60)
    assert many["stored"] > 4 * NOISE
    # A merge takes memory for a while; a state that is loaded would be there in every step.
    assert many["least"] - few["least"] < 0.5 * many["stored"]
    for found in (few, many):
        assert found["opened"] <= found["segments"]
