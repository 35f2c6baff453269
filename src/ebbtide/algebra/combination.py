"""Operators on two relations: products, joins and set operations.

In joins NULL matches nothing; in set operations NULL is a value like others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.relation import Relation, check_predicate
from ebbtide.core.schema import Schema
from ebbtide.errors import BindError


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
        check_predicate(self.predicate)
        return self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class SemiJoin(Relation):
    """The left rows for which some right row makes the predicate TRUE."""

    left: Relation
    right: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        check_predicate(self.predicate)
        return self.left.schema


@dataclass(frozen=True, slots=True)
class AntiJoin(Relation):
    """The left rows for which no right row makes the predicate TRUE."""

    left: Relation
    right: Relation
    predicate: Expression

    def _derive(self) -> Schema:
        check_predicate(self.predicate)
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
        check_predicate(self.predicate)
        left, right = self.left.schema, self.right.schema
        if self.kept is not Outer.LEFT:
            left = left.as_nullable()
        if self.kept is not Outer.RIGHT:
            right = right.as_nullable()
        return left + right

    @property
    def side(self) -> str:
        """The word for the sides that are kept."""
        return self.kept.value

    @property
    def words(self) -> str:
        """What stands between the sides."""
        return f"{self.side} JOIN"


@dataclass(frozen=True, slots=True)
class AsofJoin(Relation):
    """Each left row with the first of the right rows that make the predicate TRUE, in an order.

    The order is ``order_by``, of the right side, then all of its columns; it begins with what is
    near.  Left rows without a partner are there padded with NULLs, if it ``pads``.
    """

    left: Relation
    right: Relation
    predicate: Expression
    order_by: tuple[SortKey, ...]
    pads: bool = False

    kept: ClassVar[Outer] = Outer.LEFT
    """What depends on other rows of the right is every left row, padded or not."""

    def _derive(self) -> Schema:
        check_predicate(self.predicate)
        right = self.right.schema
        return self.left.schema + (right.as_nullable() if self.pads else right)

    @property
    def side(self) -> str:
        """The word for the side that is kept."""
        return "LEFT" if self.pads else "INNER"

    @property
    def words(self) -> str:
        """What stands between the sides."""
        return "LEFT ASOF JOIN" if self.pads else "ASOF JOIN"


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
