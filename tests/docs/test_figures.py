"""The README's table of figures is the one of the last results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_is_that_of_the_results() -> None:
    script = ROOT / "scripts" / "figures.py"
    found = subprocess.run([sys.executable, str(script), "--check"], cwd=ROOT, check=False)
    assert found.returncode == 0
