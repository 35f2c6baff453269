"""A sink that takes nothing, so that nothing is read for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Noop:
    """Takes nothing."""

    word: ClassVar[str] = "noop"
    wants_rows: ClassVar[bool] = False

    def write(self, frame: Any, step: int) -> None:
        """Does nothing."""
