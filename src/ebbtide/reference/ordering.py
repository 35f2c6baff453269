"""Orders on rows: sort keys, then all columns, NULLs first."""

from __future__ import annotations

from collections.abc import Callable
from functools import total_ordering
from typing import Any

from ebbtide.algebra.call import SortKey
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, Value, row_key, sort_key
from ebbtide.reference.scalar import evaluate


@total_ordering
class Reversed:
    """A key whose order is turned around."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and bool(self.key == other.key)

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.key < self.key)

    __hash__ = None  # type: ignore[assignment]


def by(keys: tuple[SortKey, ...], schema: Schema) -> Callable[[Row], tuple[Any, ...]]:
    """A key function for rows, from the sort keys alone: peers have equal keys."""

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(part(sort, evaluate(sort.expression, schema, row)) for sort in keys)

    return key


def place(keys: tuple[SortKey, ...], schema: Schema) -> Callable[[Row], tuple[Any, ...]]:
    """A key function that tells all different rows apart."""
    before = by(keys, schema)
    return lambda row: (before(row), row_key(row))


def part(sort: SortKey, value: Value) -> tuple[Any, ...]:
    """The place of a value in an order by one column."""
    if value is None:
        return (0,) if sort.puts_nulls_first else (2,)
    inner = sort_key(value)
    return (1, Reversed(inner) if sort.descending else inner)
