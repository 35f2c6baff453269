"""A sink that is a function of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Function:
    """Calls a function with a step's output and its number."""

    called: Callable[[Any, int], None]

    def __str__(self) -> str:
        return str(getattr(self.called, "__name__", self.called))

    def write(self, frame: Any, step: int) -> None:
        """Calls it with a step."""
        self.called(frame, step)
