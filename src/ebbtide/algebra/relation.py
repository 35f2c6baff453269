"""Relations: what a query is made of.

Law: a relation means a multiset of rows at every instant; the first sentence of each class says
which, in terms of its inputs at the same instant.  Only windows, ISTREAM, DSTREAM and RSTREAM
look at other instants.  A stream of facts is a relation that is the same at every instant.

This module has the sources and the operators on one or two relations that are the same at every
instant as in plain SQL; ``window`` has those that deal with time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from ebbtide.algebra.aggregate import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.nullability import nullable
from ebbtide.core.declaration import StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import Node
from ebbtide.core.types import BIGINT, BOOLEAN
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
    """An expression and the name of the column that it makes."""

    name: str
    expression: Expression

    @property
    def column(self) -> Column:
        """The column that the expression makes."""
        return Column(self.name, self.expression.type, nullable(self.expression))


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
                raise BindError("type-mismatch", f"{row!r} is no row of ({self.columns})")
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


@dataclass(frozen=True, slots=True)
class Filter(Relation):
    """The rows for which the predicate is TRUE."""

    input: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        _check_predicate(self.predicate)
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Map(Relation):
    """For every row, the row of the expressions' values."""

    input: Relation
    columns: tuple[Named, ...]

    def _derive(self) -> Schema:
        return Schema(tuple(named.column for named in self.columns))


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


class Ranking(Enum):
    """How rows of a partition are numbered by an order."""

    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"


@dataclass(frozen=True, slots=True)
class TopN(Relation):
    """The rows of each partition whose number in the order is greater than ``offset`` and at most
    ``offset + count``.

    ROW_NUMBER breaks ties by all columns.  ``number_as`` adds the number as a column.
    """

    input: Relation
    count: int
    order_by: tuple[SortKey, ...]
    partition_by: tuple[Expression, ...] = ()
    ranking: Ranking = Ranking.ROW_NUMBER
    offset: int = 0
    number_as: str | None = None

    def _derive(self) -> Schema:
        if self.count < 0 or self.offset < 0:
            raise BindError("bad-count", "a number of rows cannot be negative")
        if self.number_as is None:
            return self.input.schema
        return self.input.schema + Schema((Column(self.number_as, BIGINT, False),))


class FrameUnit(Enum):
    """What the bounds of a frame count."""

    ROWS = "ROWS"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows around a row: from ``start`` to ``end``, both included; None is unbounded.

    Bounds are offsets from the current row, negative for PRECEDING: counts of rows, or amounts
    of the one sort key (microseconds, if that is a time), where 0 includes all peers.
    """

    unit: FrameUnit
    start: int | None = None
    end: int | None = 0

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start > self.end:
            raise BindError("bad-frame", "the frame ends before it starts")


@dataclass(frozen=True, slots=True)
class FrameCall:
    """A column computed for every row over its frame or partition, and its name.

    ``name`` ROW_NUMBER, RANK, DENSE_RANK, LAG or LEAD, with the arguments in ``call``; any other
    name is an aggregate over the frame.
    """

    name: str
    call: AggregateCall


@dataclass(frozen=True, slots=True)
class Over(Relation):
    """Every row, and for each call the value over the row's frame in its partition.

    Without a frame it is the whole partition, or with an order the rows up to the last peer.
    """

    input: Relation
    calls: tuple[FrameCall, ...]
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    frame: Frame | None = None

    def _derive(self) -> Schema:
        if self.frame is not None and self.frame.unit is FrameUnit.RANGE:
            bounded = self.frame.start not in (None, 0) or self.frame.end not in (None, 0)
            if bounded and len(self.order_by) != 1:
                raise BindError("bad-frame", "a RANGE frame needs exactly one ORDER BY column")
        return self.input.schema + Schema(tuple(map(over_column, self.calls)))


NUMBERINGS = frozenset(ranking.value for ranking in Ranking)
NEIGHBOURS = frozenset({"LAG", "LEAD"})


def over_column(framed: FrameCall) -> Column:
    """The column that a call over frames makes."""
    call = framed.call
    if call.name in NUMBERINGS:
        return Column(framed.name, BIGINT, False)
    if call.name in NEIGHBOURS:
        if not call.arguments:
            raise BindError("wrong-arguments", f"{call.name} needs an argument")
        return Column(framed.name, call.arguments[0].type)
    return Column(framed.name, call.type, call.function.nullable)


# --- two inputs --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Product(Relation):
    """Every pair of a left and a right row."""

    left: Relation
    right: Relation

    def _derive(self) -> Schema:
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Every pair of a left and a right row for which the predicate is TRUE."""

    left: Relation
    right: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        _check_predicate(self.predicate)
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class SemiJoin(Relation):
    """The left rows for which some right row makes the predicate TRUE."""

    left: Relation
    right: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        _check_predicate(self.predicate)
        return self.left.schema


@dataclass(frozen=True, slots=True)
class AntiJoin(Relation):
    """The left rows for which no right row makes the predicate TRUE."""

    left: Relation
    right: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        _check_predicate(self.predicate)
        return self.left.schema


class Outer(Enum):
    """Which side's rows an outer join keeps without a partner."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"


@dataclass(frozen=True, slots=True)
class OuterJoin(Relation):
    """The join, and the rows without a partner of the kept sides, padded with NULLs."""

    left: Relation
    right: Relation
    predicate: Expression
    kept: Outer

    def _derive(self) -> Schema:
        _check_predicate(self.predicate)
        left, right = self.left.schema, self.right.schema
        if self.kept is not Outer.LEFT:
            left = left.as_nullable()
        if self.kept is not Outer.RIGHT:
            right = right.as_nullable()
        return left + right


@dataclass(frozen=True, slots=True)
class UnionAll(Relation):
    """The rows of both; multiplicities add."""

    left: Relation
    right: Relation

    def _derive(self) -> Schema:
        return aligned("UNION ALL", self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class MaxUnion(Relation):
    """The rows of both; the greater multiplicity counts."""

    left: Relation
    right: Relation

    def _derive(self) -> Schema:
        return aligned("UNION", self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class Difference(Relation):
    """The left rows without the right ones: multiplicities subtract, down to nothing."""

    left: Relation
    right: Relation

    def _derive(self) -> Schema:
        return aligned("EXCEPT ALL", self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class StrictDifference(Relation):
    """Every left row that is no right row, once."""

    left: Relation
    right: Relation

    def _derive(self) -> Schema:
        return aligned("EXCEPT", self.left.schema, self.right.schema)


@dataclass(frozen=True, slots=True)
class Intersection(Relation):
    """The rows that are in both, the lesser multiplicity counts; or once, unless ``all``."""

    left: Relation
    right: Relation
    all: bool = True

    def _derive(self) -> Schema:
        name = "INTERSECT ALL" if self.all else "INTERSECT"
        return aligned(name, self.left.schema, self.right.schema)


def aligned(operation: str, left: Schema, right: Schema) -> Schema:
    """The schema of a set operation: the left names, if the types agree column by column."""
    if len(left) != len(right):
        raise BindError(
            "column-count",
            f"{operation} needs as many columns on both sides",
            detail=f"the left has {len(left)}, the right {len(right)}",
        )
    for mine, other in zip(left, right, strict=True):
        if mine.type != other.type:
            raise BindError(
                "type-mismatch",
                f'{operation}: column "{mine}" is {mine.type} left and {other.type} right',
                hint=f"CAST({other} AS {mine.type})",
            )
    return Schema(
        tuple(
            replace(mine, nullable=mine.nullable or other.nullable)
            for mine, other in zip(left, right, strict=True)
        )
    )


def _check_predicate(predicate: Expression) -> None:
    if predicate.type != BOOLEAN:
        raise BindError("type-mismatch", f"a condition is BOOLEAN, not {predicate.type}")
