"""Rows of different schemas in one table.

Law: a layout has slots, each of one type, and says for every schema which slot holds which of its
columns; rows of a schema leave the other slots NULL.  So the rows of all sources, each with its
tag, arrive as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.core.schema import Schema
from ebbtide.core.types import NullType, StringType, Type


@dataclass(frozen=True, slots=True)
class SlotLayout:
    """The types of the slots, and the slot of each column of each schema."""

    slots: tuple[Type, ...]
    places: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the slots."""
        return tuple(slot_name(i) for i in range(len(self.slots)))


def slot_name(slot: int) -> str:
    """The name of a slot as a column."""
    return f"s{slot}"


def lay_out(schemas: Sequence[Schema]) -> SlotLayout:
    """The narrowest layout in which columns of one type share slots."""
    slots: list[Type] = []
    places: list[tuple[int, ...]] = []
    for schema in schemas:
        used: Counter[Type] = Counter()
        place: list[int] = []
        for column in schema:
            type_ = _slot_type(column.type)
            of_type = [i for i, slot in enumerate(slots) if slot == type_]
            if used[type_] == len(of_type):
                of_type.append(len(slots))
                slots.append(type_)
            place.append(of_type[used[type_]])
            used[type_] += 1
        places.append(tuple(place))
    return SlotLayout(tuple(slots), tuple(places))


def _slot_type(type_: Type) -> Type:
    # A column that is always NULL has no values whose type could matter.
    return StringType() if isinstance(type_, NullType) else type_
