"""The clock of a query: one reading for each step.

Law: a step that is repeated after a crash sees the reading of its first try, for the reading is on
disk before the step begins, with its checksum.  Programs on streams read one in every step; those
that are fed by hand only if a source says something about a clock.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.core.declaration import Declaration, arrivals_of
from ebbtide.core.time import Instant
from ebbtide.errors import StateError
from ebbtide.state.files import regular_files, remove
from ebbtide.store.files import read_sealed, replace, sealed

Clock: TypeAlias = Callable[[], Instant]

_NAME = re.compile(r"\d{12}")


def system_clock() -> Instant:
    """The time of this machine, in microseconds."""
    return time.time_ns() // 1000


def follows_clock(declarations: Iterable[Declaration]) -> bool:
    """Whether some source is compared with a clock."""
    return any(
        d.not_beyond_us is not None or d.idle_after_us is not None or arrivals_of(d)
        for d in declarations
    )


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a query's steps, in its directory."""

    root: str

    def of(self, version: int, clock: Clock) -> Instant:
        """The reading of a step; the clock is asked once for each version."""
        final = f"{self.root}/clock/{version:012d}"

        def damaged(why: str) -> StateError:
            return StateError(
                "damaged-clock",
                f'"{final}" does not say what the clock was at step {version}',
                detail=why,
                hint="restore it; if no sink has got the step, remove it: it is read anew",
            )

        known = read_sealed(final, damaged)
        if known is not None:
            try:
                return int(known["reading"])
            except (KeyError, TypeError, ValueError) as error:
                raise damaged(repr(error)) from error
        reading = clock()
        replace(final, sealed({"step": version, "reading": reading}))
        self._forget(version)
        return reading

    def _forget(self, version: int) -> None:
        """Removes the readings of steps that cannot be repeated any more."""
        directory = f"{self.root}/clock"
        for name in regular_files(directory):
            if _NAME.fullmatch(name) and int(name) < version - 1:
                remove(self.root, f"clock/{name}")
