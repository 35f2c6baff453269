"""Which kernel runs an operator, on which columns of its inputs, behind which key.

Law: the kernel's output, restricted to the columns that are kept, is the operator's.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
)
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.relation import Aggregate, Distinct, Relation
from ebbtide.core.schema import Column, Schema
from ebbtide.errors import UnsupportedError
from ebbtide.kernels import (
    anti_join,
    difference,
    distinct,
    intersection,
    join,
    max_union,
    outer_join,
    semi_join,
    strict_difference,
)
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.kernel import Kernel
from ebbtide.runtime.columnar import Columnar
from ebbtide.runtime.conditions import split_condition


@dataclass(frozen=True, slots=True)
class Side:
    """The columns that a kernel wants of an input, and the key of its exchange."""

    columns: tuple[Expression, ...]
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kernel, its inputs, the schema of what it emits, and which of that is the operator's.

    ``conditions`` are left to Spark, over the operator's columns.
    """

    kernel: Kernel
    inputs: tuple[Side, ...]
    output: Schema
    kept: tuple[int, ...] | None = None
    conditions: tuple[Expression, ...] = ()


def choose(node: Relation) -> Chosen:
    """The kernel of an operator."""
    match node:
        case Distinct():
            return _rows(node, distinct.Distinct())
        case Difference():
            return _rows(node, difference.Difference())
        case StrictDifference():
            return _rows(node, strict_difference.StrictDifference())
        case MaxUnion():
            return _rows(node, max_union.MaxUnion())
        case Intersection():
            return _rows(node, intersection.Intersection(node.all))
        case Product() | Join():
            return _join(node)
        case SemiJoin() | AntiJoin() | OuterJoin():
            return _matched(node)
        case Aggregate():
            return _aggregate(node)
        case _:
            raise UnsupportedError(
                "operator-not-built", f"{type(node).__name__} cannot be run on Spark yet"
            )


def _rows(node: Relation, kernel: Kernel) -> Chosen:
    """A kernel that counts equal rows: its key is the whole row."""
    sides = tuple(Side(columns, columns) for columns in map(all_of, node.children))
    return Chosen(kernel, sides, positional(node.schema))


def _join(node: Product | Join) -> Chosen:
    predicate = node.predicate if isinstance(node, Join) else None
    split = split_condition(predicate, node.left.schema, node.right.schema)
    sides, condition, kept = _sides(node.left, node.right, split.left, split.right)
    output = Schema(tuple(Column(f"c{i}", t.type) for i, t in enumerate(_both(sides))))
    return Chosen(join.Join(condition), sides, output, kept, split.rest)


def _matched(node: SemiJoin | AntiJoin | OuterJoin) -> Chosen:
    split = split_condition(node.predicate, node.left.schema, node.right.schema)
    sides, condition, kept = _sides(node.left, node.right, split.left, split.right)
    if split.rest:
        given = _joined_columns(node, sides)
        condition = Condition(condition.left, condition.right, Columnar(split.residual, given))
    both = Schema(tuple(Column(f"c{i}", e.type) for i, e in enumerate(_both(sides))))
    left_only = Schema(both.columns[: len(sides[0].columns)])
    match node:
        case SemiJoin():
            kernel: Kernel = semi_join.SemiJoin(condition)
        case AntiJoin():
            kernel = anti_join.AntiJoin(condition)
        case OuterJoin():
            keeps = node.kept is not Outer.RIGHT, node.kept is not Outer.LEFT
            return Chosen(outer_join.OuterJoin(condition, *keeps), sides, both, kept)
    return Chosen(kernel, sides, left_only, kept[: len(node.left.schema)])


def _sides(
    left: Relation,
    right: Relation,
    left_keys: tuple[Expression, ...],
    right_keys: tuple[Expression, ...],
) -> tuple[tuple[Side, Side], Condition, tuple[int, ...]]:
    """Both sides' columns followed by their keys, and which of the joined columns are rows'."""
    sides = (
        Side((*all_of(left), *left_keys), left_keys),
        Side((*all_of(right), *right_keys), right_keys),
    )
    keys = range(len(left_keys))
    condition = Condition(
        tuple(len(left.schema) + i for i in keys), tuple(len(right.schema) + i for i in keys)
    )
    width = len(sides[0].columns)
    kept = (*range(len(left.schema)), *range(width, width + len(right.schema)))
    return sides, condition, kept


def _both(sides: tuple[Side, Side]) -> tuple[Expression, ...]:
    return sides[0].columns + sides[1].columns


def _joined_columns(node: SemiJoin | AntiJoin | OuterJoin, sides: tuple[Side, Side]) -> Schema:
    """The columns that a residual condition sees, keys under names of their own."""
    columns: list[Column] = []
    for number, (relation, side) in enumerate(zip(node.children, sides, strict=True)):
        columns += relation.schema.columns
        extra = side.columns[len(relation.schema) :]
        columns += [Column(f"k{i}", e.type, True, f"key{number}") for i, e in enumerate(extra)]
    return Schema(tuple(columns))


def _aggregate(node: Aggregate) -> Chosen:
    raise UnsupportedError("operator-not-built", "Aggregate cannot be run on Spark yet")


def all_of(relation: Relation) -> tuple[Expression, ...]:
    """Every column of a relation."""
    return tuple(Ref(column) for column in relation.schema)


def positional(schema: Schema) -> Schema:
    """The same types under names by position."""
    return Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(schema)))
