"""Relations: what a query is made of.

Law: a relation means a multiset of rows at every instant; the first sentence of each class says
which, in terms of its inputs at the same instant.  Only windows, ISTREAM, DSTREAM and RSTREAM
look at other instants.  A stream of facts is a relation that is the same at every instant.

This module has the sources and the operators on one relation; ``ranking`` has those that number
the rows of a partition, ``combination`` those on two relations, ``window`` those that deal with
time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Expression, Ref, depends_on_now
from ebbtide.algebra.nullability import nullable
from ebbtide.core.declaration import StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import Node
from ebbtide.core.types import BIGINT, BOOLEAN, ArrayType
from ebbtide.core.values import Row
from ebbtide.errors import BindError


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """A relation; its ``schema`` is known when it is built."""

    schema: Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self._derive())

    def _derive(self) -> Schema:
        raise NotImplementedError

    def ref(self, name: str) -> Ref:
        """The value of a column of this relation, by its name or ``table.name``."""
        return Ref(self.schema.column(name))


Relation.family = Relation


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column that it makes.

    ``table`` is for plans that stand for another one, and have to name its columns as it does.
    """

    name: str
    expression: Expression
    table: str | None = None

    @property
    def column(self) -> Column:
        """The column that the expression makes."""
        return Column(self.name, self.expression.type, nullable(self.expression), self.table)


@dataclass(frozen=True, slots=True)
class NamedCall:
    """An aggregate and the name of the column that it makes."""

    name: str
    call: AggregateCall

    @property
    def column(self) -> Column:
        """The column that the aggregate makes."""
        return Column(self.name, self.call.type, self.call.function.nullable)


# --- sources -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stream(Relation):
    """The facts of a stream, the same at every instant."""

    declaration: StreamDeclaration

    def _derive(self) -> Schema:
        return self.declaration.row_schema


@dataclass(frozen=True, slots=True)
class StaticTable(Relation):
    """The rows of a table that holds at every instant as it is."""

    declaration: TableDeclaration

    def _derive(self) -> Schema:
        return self.declaration.row_schema


@dataclass(frozen=True, slots=True)
class ChangingTable(Relation):
    """The versions of a table's rows that are valid at the instant."""

    declaration: TableDeclaration

    def _derive(self) -> Schema:
        return self.declaration.row_schema


@dataclass(frozen=True, slots=True)
class Values(Relation):
    """Given rows, the same at every instant."""

    columns: Schema
    rows: tuple[Row, ...]

    def _derive(self) -> Schema:
        for row in self.rows:
            if not self.columns.admits(row):
                raise BindError("type-mismatch", f"{row!r} is not a row of ({self.columns})")
        return self.columns


@dataclass(frozen=True, slots=True)
class View(Relation):
    """The rows of the input, known by a name.

    ``promises`` are the attributes declared to progress; None leaves that to be derived.
    """

    name: str
    input: Relation
    promises: tuple[str, ...] | None = None

    def _derive(self) -> Schema:
        for attribute in self.promises or ():
            self.input.schema.column(attribute)
        return self.input.schema


# --- one input ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alias(Relation):
    """The rows of the input, their columns known as ``name.column``."""

    input: Relation
    name: str

    def _derive(self) -> Schema:
        return self.input.schema.qualified(self.name)


SCALAR = "scalar subquery"
"""The name of a subquery that is a value of a row; others of one query have a number behind it."""


@dataclass(frozen=True, slots=True)
class Filter(Relation):
    """The rows for which the predicate is TRUE."""

    input: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        check_predicate(self.predicate)
        return self.input.schema

    @property
    def depends_on_now(self) -> bool:
        """Whether which rows these are changes with the instant: see ``phases``."""
        return depends_on_now(self.predicate)


@dataclass(frozen=True, slots=True)
class Map(Relation):
    """For every row, the row of the expressions' values."""

    input: Relation
    columns: tuple[Named, ...]

    def _derive(self) -> Schema:
        return Schema(tuple(named.column for named in self.columns))

    @property
    def depends_on_now(self) -> bool:
        """Whether some value changes with the instant: see ``phases``."""
        return any(depends_on_now(named.expression) for named in self.columns)


@dataclass(frozen=True, slots=True)
class Distinct(Relation):
    """Every row once."""

    input: Relation

    def _derive(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Aggregate(Relation):
    """A row per group, with the group's keys and aggregates.

    Without keys there is one group, even if it is empty; else an empty group has no row.
    """

    input: Relation
    keys: tuple[Named, ...]
    calls: tuple[NamedCall, ...]

    def _derive(self) -> Schema:
        return Schema(
            tuple(named.column for named in self.keys) + tuple(c.column for c in self.calls)
        )


@dataclass(frozen=True, slots=True)
class Unnest(Relation):
    """Every row once for each item of an array, with the item and, if it has a name, its place.

    Places count from 1.  With ``pads`` a row whose array is NULL or has no items is there once,
    with NULLs.  The new columns are known as ``table.item`` and ``table.place``.
    """

    input: Relation
    array: Expression
    table: str
    item: str
    place: str | None = None
    pads: bool = False

    def _derive(self) -> Schema:
        if not isinstance(self.array.type, ArrayType):
            raise BindError(
                "type-mismatch",
                f"UNNEST needs an ARRAY, and this is {self.array.type}",
                hint="SPLIT(text, ',') and JSON_ITEMS(json) make arrays of texts",
            )
        item = Column(self.item, self.array.type.element, True, self.table)
        if self.place is None:
            return self.input.schema + Schema((item,))
        return self.input.schema + Schema((item, Column(self.place, BIGINT, self.pads, self.table)))


def check_predicate(predicate: Expression) -> None:
    """Refuses a condition that is not a truth value."""
    if predicate.type != BOOLEAN:
        raise BindError("type-mismatch", f"a condition is BOOLEAN, not {predicate.type}")
