"""What a SweepArea holds, declared apart from where it is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Layout:
    """The name, the schema of the changes and the key columns of a SweepArea.

    Where only the ``newest`` row of a key counts, changes do not add up: the row with the
    greatest ``valid_from`` stands for its key, and one with diff 0 says that the key is gone.
    """

    name: str
    schema: Any
    keys: tuple[int, ...]
    newest: bool = False
