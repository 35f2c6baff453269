"""What is known of a segment without opening it: its name, its checksum and its zone map."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Segment:
    """The descriptor of an immutable file of changes, sorted by (key hash, valid_from)."""

    name: str
    checksum: str
    bytes: int
    rows: int
    negatives: int
    from_min: int
    from_max: int
    to_min: int
    to_max: int
    hash_min: int
    hash_max: int

    def describe(self) -> list[Any]:
        """The descriptor as a list for JSON."""
        return list(astuple(self))

    @staticmethod
    def restore(values: list[Any]) -> Segment:
        """The descriptor that ``describe`` gave."""
        if len(values) != len(fields(Segment)):
            raise ValueError(f"a segment has {len(fields(Segment))} fields, not {len(values)}")
        return Segment(*values)
