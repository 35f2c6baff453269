"""Any file of a location, damaged in any way: the right answer or an error with a code."""

from __future__ import annotations

import json
import subprocess
import sys

from docs import ROOT
from ebbtide.config import Config

COUNT = {"quick": 60, "ci": 120, "long": 20_000}[Config.from_environment().profile]
MEGABYTES = 1000


def test_no_damage_is_silent() -> None:
    """In a process of its own, whose memory is its own too."""
    command = [sys.executable, "-m", "tests.faults.byte_fuzz", f"--count={COUNT}", "--seed=1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout, ran.stderr
    figures = json.loads(ran.stdout)
    assert figures["wrong"] == []
    assert figures["trials"] == COUNT
    assert figures["megabytes"] < MEGABYTES
    # The damage was felt, and by every kind of file.
    assert figures["outcomes"]["error with a code"] > COUNT / 4
    assert COUNT < 300 or len(figures["codes"]) > 8
