"""The value of a scalar expression on a row.

Law: what Spark SQL computes in ANSI mode, with the truth values TRUE, FALSE and NULL; CASE,
COALESCE evaluate their operands from the left and no more than they need.  Data that an
expression is not defined on is an ``EvaluationError`` that names the expression: the first that
fails, of those that the value hangs on.  An operand that decides AND, OR or IN decides it even if
another one fails.

What plans are guarded with has a value as well, so that a guarded plan can be held to the one that
it was made of.

Every result is normalised, so there is one NaN and no negative zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, TypeAlias, assert_never

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    FloorTo,
    InList,
    IsNull,
    Item,
    Like,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
)
from ebbtide.algebra.functions import function
from ebbtide.algebra.printing import sql
from ebbtide.algebra.scalars import Scalar, scalar
from ebbtide.core.conversion import convert
from ebbtide.core.schema import Schema
from ebbtide.core.time import ceil_to, floor_to
from ebbtide.core.tree import fold
from ebbtide.core.types import StructType
from ebbtide.core.values import Row, Value, normalise, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.arithmetic import calculate, checked, negative
from ebbtide.reference.failed import read
from ebbtide.reference.functions import EVALUATIONS, Context
from ebbtide.reference.functions.regex import like

Compute: TypeAlias = Callable[[Row], Value]
Strict: TypeAlias = Arithmetic | Negation | Not | Like | Cast | FloorTo | CeilTo | Field | Item


def evaluate(expression: Expression, schema: Schema, row: Row, zone: tzinfo = UTC) -> Value:
    """The value of an expression on a row of a schema."""
    return evaluator(expression, schema, zone)(row)


def evaluator(expression: Expression, schema: Schema, zone: tzinfo = UTC) -> Compute:
    """The function from rows of a schema to the values of an expression."""

    # What is below a node are functions and not values, so that the node decides what it evaluates.
    def combine(node: Expression, below: tuple[Compute, ...]) -> Compute:
        return _compute(scalar(node), below, schema, zone)

    return fold(expression, combine)


def _compute(node: Scalar, below: tuple[Compute, ...], schema: Schema, zone: tzinfo) -> Compute:
    match node:
        case Ref():
            place = schema.index(node.column)
            return lambda row: read(row[place])
        case Literal():
            value = normalise(node.value)
            return lambda row: value
        case SnapshotTime():
            raise AssertionError("NOW() has a value at an instant alone")
        case Tried():
            return lambda row: _value_or_none(below[0], row)
        case Succeeds():
            asked = below[: len(node.operands)]
            return lambda row: all(_succeeds(operand, row) for operand in asked)
        case Fails():
            return partial(_fails, node, below)
        case Failure() | RowText():
            raise AssertionError("what is said of a row that is left out is no part of a plan")
        case And():
            return _connective(below[0], below[1], decisive=False)
        case Or():
            return _connective(below[0], below[1], decisive=True)
        case IsNull():
            return lambda row: below[0](row) is None
        case InList():
            return _in_list(below[0], below[1:])
        case Case():
            return _case(below[:-1:2], below[1:-1:2], below[-1])
        case Comparison(op="<=>"):
            return lambda row: sort_key(below[0](row)) == sort_key(below[1](row))
        case Comparison():
            compare = _COMPARISONS[node.op]
            return _strict(node, below, lambda a, b: compare(sort_key(a), sort_key(b)))
        case Call(name="COALESCE"):
            return lambda row: next((v for f in below if (v := f(row)) is not None), None)
        case Call():
            context = Context(tuple(a.type for a in node.arguments), node.type, zone)
            known = partial(EVALUATIONS[node.name], context)
            return _strict(node, below, known, null_safe=not function(node.name).strict)
        case _:
            return _strict(node, below, _operation(node, zone))


def _operation(node: Strict, zone: tzinfo) -> Callable[..., Value]:
    """What a node that is NULL as soon as an operand is computes of their values."""
    match node:
        case Arithmetic():
            return partial(calculate, node.op, node.left.type, node.right.type, node.type, zone)
        case Negation():
            return lambda value: checked(negative(value), node.type)
        case Not():
            return lambda value: not value
        case Like():
            return lambda text, pattern: like(text, pattern, node.escape)
        case Cast():
            return partial(_cast, node, zone)
        case FloorTo():
            return lambda t: checked(floor_to(t, node.grid_us), node.type)
        case CeilTo():
            return lambda t: checked(ceil_to(t, node.grid_us), node.type)
        case Field():
            place = _place(node)
            return lambda value: value[place]
        case Item():
            return _item
        case _:
            assert_never(node)


def _strict(
    node: Expression,
    below: tuple[Compute, ...],
    operate: Callable[..., Value],
    *,
    null_safe: bool = False,
) -> Compute:
    """The operation on the values of the operands: NULL if one is, unless it is ``null_safe``."""

    def compute(row: Row) -> Value:
        values = [operand(row) for operand in below]
        if not null_safe and any(value is None for value in values):
            return None
        try:
            return normalise(operate(*values))
        except EvaluationError as error:
            raise error.of(sql(node), _remedy(node, error.code)) from None

    return compute


def _connective(left: Compute, right: Compute, *, decisive: bool) -> Compute:
    """AND and OR: one side of the ``decisive`` truth value decides, even if the other fails."""

    def compute(row: Row) -> Value:
        try:
            first = left(row)
        except EvaluationError as error:
            if _value_or_none(right, row) is decisive:
                return decisive
            raise error from None
        if first is decisive:
            return decisive
        second = right(row)
        if second is decisive:
            return decisive
        return None if first is None or second is None else not decisive

    return compute


def _value_or_none(compute: Compute, row: Row) -> Value:
    try:
        return compute(row)
    except EvaluationError:
        return None


def _succeeds(compute: Compute, row: Row) -> bool:
    try:
        compute(row)
    except EvaluationError:
        return False
    return True


def _fails(node: Fails, below: tuple[Compute, ...], row: Row) -> Value:
    condition, *told = below
    if condition(row) is not True:
        return True
    reason = told[0](row) if told else f"{node.code}: {node.reason}"
    raise EvaluationError.told(reason).of(node.text)


def _in_list(operand: Compute, options: tuple[Compute, ...]) -> Compute:
    def compute(row: Row) -> Value:
        value = operand(row)
        if value is None:
            return None
        unknown, failed = False, None
        for option in options:
            try:
                candidate = option(row)
            except EvaluationError as error:
                failed = failed or error
                continue
            if candidate is None:
                unknown = True
            elif sort_key(candidate) == sort_key(value):
                return True
        if failed is not None:
            raise failed
        return None if unknown else False

    return compute


def _case(
    conditions: tuple[Compute, ...], values: tuple[Compute, ...], otherwise: Compute
) -> Compute:
    def compute(row: Row) -> Value:
        for condition, value in zip(conditions, values, strict=True):
            if condition(row) is True:
                return value(row)
        return otherwise(row)

    return compute


def _cast(node: Cast, zone: tzinfo, value: Value) -> Value:
    try:
        return convert(value, node.operand.type, node.to, zone)
    except EvaluationError:
        if node.safe:
            return None
        raise


def _item(items: tuple[Value, ...], place: int) -> Value:
    if not 0 <= place < len(items):
        raise EvaluationError("out-of-bounds", f"there is no item {place} of {len(items)}")
    return items[place]


def _place(node: Field) -> int:
    assert isinstance(node.operand.type, StructType)
    names = [name.casefold() for name, _ in node.operand.type.fields]
    return names.index(node.name.casefold())


def _remedy(node: Expression, code: str) -> str | None:
    """What can be written instead to get NULL where the node fails."""
    match node:
        case Cast():
            return sql(Cast(node.operand, node.to, safe=True))
        case Arithmetic() if code == "division-by-zero":
            return f"NULLIF({sql(node.right)}, 0)"
        case _:
            return None


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
