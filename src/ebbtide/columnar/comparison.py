"""Equality and order of values.

Law: NaN equals NaN and is greater than every number, 0.0 equals -0.0, text is ordered by its
bytes in UTF-8; inside of arrays and structs NULL equals NULL and comes first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.arrays import array_of_scalar, each, is_scalar, nulls, numbers
from ebbtide.core.types import BOOLEAN, ArrayType, DoubleType, StructType, Type
from ebbtide.core.values import Value, sort_key

_ARROW: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_PYTHON: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(op: str, type_: Type, left: Any, right: Any) -> Any:
    """``left op right`` for operands of one type; NULL where an operand is."""
    match type_:
        case ArrayType() | StructType():
            compare = _PYTHON[op]

            def decide(a: Value, b: Value) -> bool:
                return compare(sort_key(a), sort_key(b))

            return each(decide, (type_, type_), BOOLEAN, left, right).values
        case DoubleType() if _has_nan(left) or _has_nan(right):
            return _with_nan(op, left, right)
        case _:
            return _ARROW[op](left, right)


def not_distinct(type_: Type, left: Any, right: Any) -> Any:
    """``left <=> right``: equality by which NULL equals NULL; never NULL."""
    for side, other in ((left, right), (right, left)):
        if pa.types.is_null(side.type) or (is_scalar(side) and not side.is_valid):
            return pc.is_null(other)
    same = pc.fill_null(compared("=", type_, left, right), False)
    if is_scalar(left) or is_scalar(right) or not (left.null_count and right.null_count):
        return same
    return pc.or_(same, pc.and_(pc.is_null(left), pc.is_null(right)))


def _has_nan(operand: Any) -> bool:
    column = array_of_scalar(operand) if is_scalar(operand) else operand
    return bool(pc.any(pc.is_nan(column)).as_py())


def _with_nan(op: str, left: Any, right: Any) -> Any:
    a, b = numbers(left), numbers(right)
    if op in ("=", "<>"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        found = same if op == "=" else ~same
    elif op in ("<", ">="):
        below = (a < b) | (np.isnan(b) & ~np.isnan(a))
        found = below if op == "<" else ~below
    else:
        above = (a > b) | (np.isnan(a) & ~np.isnan(b))
        found = above if op == ">" else ~above
    return pa.array(found, mask=nulls(left, right))
