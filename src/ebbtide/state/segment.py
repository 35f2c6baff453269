"""What is known of a segment without opening it: its name, its checksum and its zone map."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF

ENDS = -1
"""The end of a change, among the columns of its times."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The descriptor of an immutable file of changes, sorted by key hash.

    ``structure`` says by which time the changes of a hash are sorted.  ``zones`` has the columns
    of times that the store's rule names, each with its bounds.
    """

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
    zones: tuple[tuple[int, int, int], ...] = ()
    structure: Structure = Structure.BY_KEY

    def zone(self, column: int) -> tuple[int, int]:
        """The least and the greatest time in a column; nothing is known of others."""
        if column == ENDS:
            return self.to_min, self.to_max
        known = ((low, high) for place, low, high in self.zones if place == column)
        return next(known, (NEG_INF, INF))

    def describe(self) -> list[Any]:
        """The descriptor as a list for JSON; the structure is there unless it is by key."""
        *first, zones, structure = (getattr(self, name) for name in _FIELDS)
        told = [] if structure is Structure.BY_KEY else [structure.value]
        return [*first, [list(zone) for zone in zones], *told]

    @staticmethod
    def restore(values: list[Any]) -> Segment:
        """The descriptor that ``describe`` gave."""
        count = len(_FIELDS)
        if len(values) not in (count - 1, count):
            raise ValueError(f"a segment has {count} fields, not {len(values)}")
        *first, zones = values[: count - 1]
        structure = Structure(values[-1]) if len(values) == count else Structure.BY_KEY
        given: tuple[Any, ...] = (*first, tuple(tuple(zone) for zone in zones), structure)
        return Segment(*given)


_FIELDS = tuple(field.name for field in fields(Segment))
