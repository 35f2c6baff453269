"""The time that processors have worked for a process and all that it has started.

Unlike the time of day it hardly depends on who else uses the machine.  It is read from ``/proc``;
where there is none, nothing is known.
"""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def processor_seconds(process: int) -> float | None:
    """So far, of the process, of those below it that run, and of those that have ended."""
    if not (_PROC / "self" / "stat").exists():
        return None
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for directory in _PROC.iterdir():
        if not directory.name.isdigit():
            continue
        try:
            text = (directory / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has just ended
        # The name of the program, in parentheses, may have spaces and parentheses in it.
        fields = text[text.rindex(")") + 2 :].split()
        parents[int(directory.name)] = int(fields[1])
        ticks[int(directory.name)] = sum(map(int, fields[11:15]))
    found = {process}
    while below := {one for one, parent in parents.items() if parent in found} - found:
        found |= below
    return sum(ticks.get(one, 0) for one in found) / os.sysconf("SC_CLK_TCK")
