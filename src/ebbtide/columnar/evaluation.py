"""Predicates on tables of Arrow columns, for the conditions that kernels have to look at.

Law: the value is the reference evaluator's.  Only what conditions of semi, anti and outer joins
are usually made of is here: comparisons, logic, arithmetic on numbers and times, and casts between
them.  Everything else is refused when the query is lowered; other expressions are Spark's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
)
from ebbtide.algebra.printing import sql
from ebbtide.core.schema import Schema
from ebbtide.core.tree import fold
from ebbtide.core.types import DoubleType, IntegerType, IntervalType, TimestampType, Type
from ebbtide.errors import UnsupportedError
from ebbtide.spark.types import arrow_type

_WHOLE = IntegerType | TimestampType | IntervalType


@dataclass(frozen=True, slots=True)
class Columnar:
    """An expression as a function from a table with the columns of a schema to a column."""

    expression: Expression
    schema: Schema

    def __post_init__(self) -> None:
        fold(self.expression, lambda node, _: _check(node, self.expression))

    def __call__(self, table: Any) -> Any:
        """The column of values."""
        return fold(self.expression, lambda node, below: self._value(node, below, table))

    def _value(self, node: Expression, below: tuple[Any, ...], table: Any) -> Any:
        match node:
            case Ref():
                return table.column(self.schema.index(node.column)).combine_chunks()
            case Literal():
                scalar = pa.scalar(node.value, arrow_type(node.type))
                return pa.repeat(scalar, table.num_rows)
            case Comparison():
                return _compared(node.op, below[0], below[1], node.left.type)
            case And():
                return pc.and_kleene(*below)
            case Or():
                return pc.or_kleene(*below)
            case Not():
                return pc.invert(below[0])
            case IsNull():
                return pc.is_null(below[0])
            case InList():
                return _any([_compared("=", below[0], b, node.operand.type) for b in below[1:]])
            case Arithmetic():
                return _ARITHMETIC[node.op](*below)
            case Negation():
                return pc.negate_checked(below[0])
            case FloorTo():
                return _floored(below[0], node.grid_us)
            case CeilTo():
                return pc.negate(_floored(pc.negate(below[0]), node.grid_us))
            case Call(name="COALESCE"):
                return pc.coalesce(*below)
            case Call(name="GREATEST"):
                return pc.max_element_wise(*below, skip_nulls=True)
            case Call(name="LEAST"):
                return pc.min_element_wise(*below, skip_nulls=True)
            case _:
                return pc.cast(below[0], arrow_type(node.type))


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}

_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def _check(node: Expression, whole: Expression) -> None:
    known: bool
    match node:
        case Ref() | Literal() | Comparison() | And() | Or() | Not() | IsNull() | InList():
            known = True
        case Arithmetic():
            known = node.op in _ARITHMETIC and _is_plain(node.type)
        case Negation() | FloorTo() | CeilTo():
            known = _is_plain(node.type)
        case Call():
            known = node.name == "COALESCE" or (
                node.name in ("GREATEST", "LEAST") and isinstance(node.type, _WHOLE)
            )
        case Cast():
            known = _widens(node.operand.type, node.to)
        case _:
            known = False
    if not known:
        raise UnsupportedError(
            "condition-not-built",
            f"{sql(node)} cannot be computed in the condition of this join yet",
            detail=f"the condition is {sql(whole)}",
            hint="compute it in a subquery of the side that it belongs to",
        )


def _is_plain(type_: Type) -> bool:
    return isinstance(type_, DoubleType | _WHOLE)


def _widens(given: Type, to: Type) -> bool:
    if isinstance(given, IntegerType) and isinstance(to, IntegerType):
        return given.bits <= to.bits
    return given == to or (isinstance(given, IntegerType) and isinstance(to, DoubleType))


def _compared(op: str, left: Any, right: Any, type_: Type) -> Any:
    if op == "<=>":
        same = pc.fill_null(_compared("=", left, right, type_), False)
        return pc.or_(same, pc.and_(pc.is_null(left), pc.is_null(right)))
    if isinstance(type_, DoubleType):
        # NaN equals NaN and is greater than every number.
        left, right = _ranked(left, right)
    return _ORDER[op](left, right)


def _ranked(left: Any, right: Any) -> tuple[Any, Any]:
    """Doubles as integers in the same order."""
    import numpy as np

    values = [np.asarray(side.fill_null(0.0)) + 0.0 for side in (left, right)]
    both = np.concatenate(values)
    order = np.unique(both, return_inverse=True)[1]
    places = order[: len(values[0])], order[len(values[0]) :]
    return tuple(
        pa.array(place, pa.int64(), mask=np.asarray(side.is_null()))
        for place, side in zip(places, (left, right), strict=True)
    )


def _any(columns: list[Any]) -> Any:
    result = columns[0]
    for column in columns[1:]:
        result = pc.or_kleene(result, column)
    return result


def _floored(column: Any, grid: int) -> Any:
    import numpy as np

    values = np.asarray(column.fill_null(0))
    return pa.array(values // grid * grid, pa.int64(), mask=np.asarray(column.is_null()))
