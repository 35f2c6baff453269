"""A sink that shows changes on the standard output."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Console:
    """Shows the changes of each step as a table."""

    rows: int = 20
    word: ClassVar[str] = "console"

    def write(self, frame: Any, step: int) -> None:
        """Shows a step."""
        sys.stdout.write(f"step {step}\n")
        if hasattr(frame, "orderBy"):
            frame.drop("step").orderBy("valid_from", "valid_to").show(self.rows, truncate=False)
            return
        ordered = frame.sort_by([("valid_from", "ascending"), ("valid_to", "ascending")])
        for row in ordered.drop_columns(["step"]).slice(0, self.rows).to_pylist():
            sys.stdout.write(f"{'  '.join(f'{name}: {value}' for name, value in row.items())}\n")
