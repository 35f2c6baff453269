"""What a SweepArea holds, declared apart from where it is held."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from ebbtide.core.structure import Structure
from ebbtide.state.arrays import Hashes, Mask
from ebbtide.state.table import row_types


class Endless(Enum):
    """What becomes of rows that never end, once the horizon has passed their beginning.

    From then on they are told apart by nothing but their values, so a kernel that looks at
    multiplicities alone can have them ``COUNTED``; one that keeps sums of them elsewhere can have
    them ``DROPPED``; and one that only asks for the best of each key can have the rest of them
    dropped, if none is ever taken back, and those that are ``CHOSEN`` kept.
    """

    KEPT = "kept"
    COUNTED = "counted"
    DROPPED = "dropped"
    CHOSEN = "chosen"


class Chooser(Protocol):
    """Says which rows that never end have to be kept, whatever other rows there are."""

    def __call__(self, table: Any, hashes: Hashes) -> Mask:
        """Which of the rows to keep; ``hashes`` are those of their keys."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """The name, the schema of the changes and the key columns of a SweepArea.

    Where only the ``newest`` rows of a key count, changes do not add up: the rows with the
    greatest ``valid_from``, a version, stand for their key, and one with diff 0 says that the
    key is gone.  Where rows that never end are chosen, ``chooser`` does it.  ``structure`` is how
    rows of a key lie, as far as what comes allows it.
    """

    name: str
    schema: Any
    keys: tuple[int, ...]
    newest: bool = False
    endless: Endless = Endless.KEPT
    chooser: Chooser | None = None
    structure: Structure = Structure.BY_KEY


def by_rows(name: str, schema: Any) -> Layout:
    """Changes whose keys are whole rows."""
    return Layout(name, schema, tuple(range(len(row_types(schema)))))
