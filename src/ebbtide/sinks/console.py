"""A sink that shows changes on the standard output."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

_TIMES = ("valid_from", "valid_to")


@dataclass(frozen=True, slots=True)
class Console:
    """Shows the changes of each step as a table."""

    rows: int = 20
    word: ClassVar[str] = "console"

    def write(self, frame: Any, step: int) -> None:
        """Shows a step."""
        sys.stdout.write(f"step {step}\n")
        if hasattr(frame, "orderBy"):
            times = [name for name in _TIMES if name in frame.columns]
            shown = frame.orderBy(*times) if times else frame
            shown.drop("step").show(self.rows, truncate=False)
            return
        order = [(name, "ascending") for name in _TIMES if name in frame.column_names]
        ordered = frame.sort_by(order) if order else frame
        for row in ordered.drop_columns(["step"]).slice(0, self.rows).to_pylist():
            sys.stdout.write(f"{'  '.join(f'{name}: {value}' for name, value in row.items())}\n")
