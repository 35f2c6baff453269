"""Columns and schemas.

Invariant: within a schema the pair (table, name) of every column is unique.  ``table`` is the
alias that a FROM clause gave the column's relation, or None for a column that a SELECT made.
Names keep the case in which they were written; look-up does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ebbtide.core.types import Type, admits, type_from_sql
from ebbtide.core.values import Row
from ebbtide.errors import InternalError, QueryError


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation."""

    name: str
    type: Type
    nullable: bool = True
    table: str | None = None

    def __str__(self) -> str:
        return self.name if self.table is None else f"{self.table}.{self.name}"

    @property
    def identity(self) -> tuple[str | None, str]:
        """What tells the column from others of its schema."""
        return (self.table.casefold() if self.table else None, self.name.casefold())


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a relation, in order."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        seen: set[tuple[str | None, str]] = set()
        for column in self.columns:
            if column.identity in seen:
                raise QueryError(
                    "duplicate-column",
                    f'there are two columns "{column}"',
                    hint="give one of them another name with AS",
                )
            seen.add(column.identity)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: int) -> Column:
        return self.columns[index]

    def __add__(self, other: Schema) -> Schema:
        return Schema(self.columns + other.columns)

    def __str__(self) -> str:
        return ", ".join(f"{column} {column.type}" for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without their tables."""
        return tuple(column.name for column in self.columns)

    def matches(self, name: str, table: str | None = None) -> tuple[Column, ...]:
        """The columns that a name, with or without its table, can stand for."""
        return tuple(
            column
            for column in self.columns
            if column.name.casefold() == name.casefold()
            and (
                table is None
                or (column.table is not None and column.table.casefold() == table.casefold())
            )
        )

    def column(self, name: str, table: str | None = None) -> Column:
        """The one column of that name; ``name`` may be written ``table.name``."""
        found = self.matches(name, table)
        if not found and table is None and "." in name:
            qualifier, _, rest = name.partition(".")
            found = self.matches(rest, qualifier)
        if len(found) == 1:
            return found[0]
        known = ", ".join(map(str, self.columns))
        if not found:
            raise QueryError("unknown-column", f'there is no column "{name}"', detail=known)
        raise QueryError(
            "ambiguous-column",
            f'column "{name}" is ambiguous',
            detail=", ".join(map(str, found)),
            hint=f"write {found[0]}",
        )

    def index(self, column: Column) -> int:
        """The position of a column that is known to be here."""
        for position, candidate in enumerate(self.columns):
            if candidate.identity == column.identity:
                return position
        raise InternalError("no-such-column", f'column "{column}" is not in ({self})')

    def position(self, name: str) -> int:
        """The position of the one column of that name."""
        return self.index(self.column(name))

    def qualified(self, table: str | None) -> Schema:
        """The same columns under another table name."""
        return Schema(tuple(replace(column, table=table) for column in self.columns))

    def as_nullable(self) -> Schema:
        """The same columns, all of them nullable."""
        return Schema(tuple(replace(column, nullable=True) for column in self.columns))

    def admits(self, row: Row) -> bool:
        """Whether a row has this schema's types, NULLs only where allowed."""
        return len(row) == len(self.columns) and all(
            admits(column.type, value) and (column.nullable or value is not None)
            for column, value in zip(self.columns, row, strict=True)
        )


def schema(**columns: Type | str) -> Schema:
    """A schema from names and types, as tests and notebooks write it.

    >>> str(schema(auction="BIGINT", price="DOUBLE"))
    'auction BIGINT, price DOUBLE'
    """
    return Schema(
        tuple(
            Column(name, type_from_sql(type_) if isinstance(type_, str) else type_)
            for name, type_ in columns.items()
        )
    )
