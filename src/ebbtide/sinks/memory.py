"""A sink that keeps changes in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Memory:
    """Keeps the changes of each step: Spark's rows, or dictionaries of an Arrow table."""

    steps: dict[int, list[Any]] = field(default_factory=dict)

    @property
    def rows(self) -> list[Any]:
        """The changes of all steps."""
        return [row for step in sorted(self.steps) for row in self.steps[step]]

    def write(self, frame: Any, step: int) -> None:
        """Keeps a step."""
        self.steps[step] = frame.collect() if hasattr(frame, "collect") else frame.to_pylist()
