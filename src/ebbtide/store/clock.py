"""The clock of a query: one reading for each step.

Law: a step that is repeated after a crash sees the reading of its first try, for the reading is on
disk before the step begins.  Queries whose sources say nothing about a clock read none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.core.declaration import Declaration
from ebbtide.core.time import Instant
from ebbtide.store.files import replace

Clock: TypeAlias = Callable[[], Instant]


def system_clock() -> Instant:
    """The time of this machine, in microseconds."""
    return time.time_ns() // 1000


def follows_clock(declarations: Iterable[Declaration]) -> bool:
    """Whether some source is compared with a clock."""
    return any(d.not_beyond_us is not None or d.idle_after_us is not None for d in declarations)


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a query's steps, in its directory."""

    root: str

    def of(self, version: int, clock: Clock) -> Instant:
        """The reading of a step; the clock is asked once for each version."""
        directory = f"{self.root}/clock"
        final = f"{directory}/{version:012d}"
        if os.path.exists(final):
            with open(final, encoding="utf-8") as file:
                return int(file.read())
        reading = clock()
        replace(final, str(reading))
        self._forget(version)
        return reading

    def _forget(self, version: int) -> None:
        """Removes the readings of steps that cannot be repeated any more."""
        directory = f"{self.root}/clock"
        for name in os.listdir(directory):
            if not name.isdigit() or int(name) < version - 1:
                os.remove(f"{directory}/{name}")
