"""The names that a block can use, and what they stand for.

Law: a name stands for one column of the nearest block in which it stands for any; ``table.name``
is looked for before ``column.field``.  The tables of a block and of the blocks around it are known
to the plan by different names (``Column.table``), so an expression's columns tell the blocks that
it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.identifiers import identifier
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find, rewrite
from ebbtide.core.types import StructType
from ebbtide.errors import BindError
from ebbtide.sql.catalog import near

__all__ = ["FoundName", "Scope", "Visible", "meant", "tables_of"]

_LISTED = 12
"""How many names an error lists."""


@dataclass(frozen=True, slots=True)
class Visible:
    """What ``table.name`` stands for, and ``name`` as well unless it is ``hidden``."""

    name: str
    table: str | None
    expression: Expression
    hidden: bool = False

    def __str__(self) -> str:
        """The name as SQL reads it."""
        return ".".join(identifier(part) for part in (self.table, self.name) if part is not None)


@dataclass(frozen=True, slots=True)
class FoundName:
    """What a name stands for: an expression, a field in it, so many blocks further out."""

    expression: Expression
    fields: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns of a block's FROM clause in order, and the block around it."""

    columns: tuple[Visible, ...] = ()
    outer: Scope | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """The names by which the block knows its sources."""
        return tuple(dict.fromkeys(v.table for v in self.columns if v.table is not None))

    @property
    def plan_tables(self) -> frozenset[str]:
        """The names by which the plan knows them."""
        return frozenset().union(*(tables_of(visible.expression) for visible in self.columns))

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def expanded(self, table: str | None = None) -> tuple[Visible, ...]:
        """What ``*`` or ``table.*`` stands for."""
        if table is None:
            return tuple(visible for visible in self.columns if not visible.hidden)
        folded = table.casefold()
        return tuple(
            visible
            for visible in self.columns
            if visible.table is not None and visible.table.casefold() == folded
        )

    def refreshed(self, schema: Schema) -> Scope:
        """The same names, for the columns as another relation has them."""

        def renewed(node: Expression) -> Expression:
            return Ref(schema[schema.index(node.column)]) if isinstance(node, Ref) else node

        return replace(
            self,
            columns=tuple(
                replace(visible, expression=rewrite(visible.expression, renewed))
                for visible in self.columns
            ),
        )

    def mapped(self, change: Callable[[Expression], Expression]) -> Scope:
        """The same names for other expressions."""
        columns = (replace(v, expression=change(v.expression)) for v in self.columns)
        return replace(self, columns=tuple(columns))

    def beside(self, other: Scope) -> Scope:
        """The names of two sources next to each other."""
        return replace(self, columns=self.columns + other.columns)

    # --- looking up -----------------------------------------------------------------------------

    def resolve(self, parts: tuple[str, ...]) -> FoundName:
        """What a name of one or more parts stands for."""
        for depth, scope in enumerate(self.chain()):
            found = scope._matches(parts)
            if len(found) > 1:
                raise _ambiguous(".".join(parts), [visible for visible, _ in found])
            if found:
                visible, fields = found[0]
                return FoundName(visible.expression, fields, depth)
        raise self._unknown(parts)

    def knows(self, name: str) -> bool:
        """Whether a bare name stands for something in this block itself."""
        return bool(self._matches((name,)))

    def reaches(self, parts: tuple[str, ...]) -> bool:
        """Whether a name stands for something here or further out."""
        return any(scope._matches(parts) for scope in self.chain())

    def _matches(self, parts: tuple[str, ...]) -> list[tuple[Visible, tuple[str, ...]]]:
        first = parts[0].casefold()
        if len(parts) > 1:
            second = parts[1].casefold()
            found = [
                (visible, parts[2:])
                for visible in self.expanded(parts[0])
                if visible.name.casefold() == second
            ]
            if found:
                return found
        return [
            (visible, parts[1:])
            for visible in self.columns
            if not visible.hidden
            and visible.name.casefold() == first
            and (len(parts) == 1 or isinstance(visible.expression.type, StructType))
        ]

    def _unknown(self, parts: tuple[str, ...]) -> BindError:
        name = ".".join(parts)
        everything = tuple(v for scope in self.chain() for v in scope.expanded())
        if len(parts) == 1:
            close = near(name, tuple(visible.name for visible in everything))
            return _no_column(name, everything, (close,))
        theirs = tuple(v for scope in self.chain() for v in scope.expanded(parts[0]))
        if theirs:
            close = near(parts[1], tuple(visible.name for visible in theirs))
            return _no_column(name, theirs, (parts[0], close))
        same = [v for v in everything if v.name.casefold() == parts[1].casefold()]
        tables = tuple(dict.fromkeys(v.table for v in everything if v.table is not None))
        table = near(parts[0], tuple(t for t in tables if any(v.table == t for v in same)))
        table = table or (same[0].table if len(same) == 1 else None)
        return BindError(
            "unknown-table",
            f'there is no table "{parts[0]}" in FROM',
            detail=f"there are {', '.join(tables)}" if tables else "FROM has no table",
            hint=meant(table, *parts[1:]),
        )


def tables_of(expression: Expression) -> frozenset[str]:
    """The plan's names of the sources that an expression depends on, without case."""
    return frozenset(
        ref.column.table.casefold() for ref in find(expression, Ref) if ref.column.table is not None
    )


def meant(*parts: str | None) -> str | None:
    """The hint that a name may have been meant; None if a part of it is not known.

    >>> meant("b", "order")
    'did you mean b.`order`?'
    """
    known = [identifier(part) for part in parts if part is not None]
    return f"did you mean {'.'.join(known)}?" if len(known) == len(parts) else None


def _no_column(name: str, known: Iterable[Visible], close: tuple[str | None, ...]) -> BindError:
    names = [str(visible) for visible in known]
    listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
    return BindError(
        "unknown-column",
        f'there is no column "{name}"',
        detail=f"there are {listed}" if names else "there is no FROM",
        hint=meant(*close),
    )


def _ambiguous(name: str, found: list[Visible]) -> BindError:
    return BindError(
        "ambiguous-column",
        f'column "{name}" is ambiguous',
        detail=f"it is in {', '.join(map(str, found))}",
        hint=f"write {found[0]}" if found[0].table is not None else None,
    )
