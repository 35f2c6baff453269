"""Names of columns that nobody has named, from the text of what they hold."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.algebra.expression import Expression
from ebbtide.algebra.printing import sql
from ebbtide.core.schema import Column

__all__ = ["column_text", "unique"]


def column_text(expression: Expression) -> str:
    """An expression as text in which made columns stand for what made them."""
    return sql(expression, _name)


def _name(column: Column) -> str | None:
    return column.name if column.table is None else None


def unique(wanted: str, taken: Iterable[str]) -> str:
    """A name like the wanted one that is not taken.

    >>> unique("id", ["ID", "id_2"])
    'id_3'
    """
    used = {name.casefold() for name in taken}
    name, number = wanted, 1
    while name.casefold() in used:
        number += 1
        name = f"{wanted}_{number}"
    return name
