"""NOW() in filters and projections: the instant that a snapshot is of.

Law: at an instant an expression has the value that it has with the instant in place of NOW().
Where that changes is found by trying: each side of a comparison with NOW() in it grows or falls
with NOW(), so that one half of the time line after another can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ebbtide.algebra.expression import (
    Comparison,
    Expression,
    InList,
    Literal,
    SnapshotTime,
    depends_on_now,
)
from ebbtide.algebra.relation import Filter, Map
from ebbtide.core.interval import Interval
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant, instant, is_finite
from ebbtide.core.tree import find, rewrite
from ebbtide.core.types import TIMESTAMP
from ebbtide.core.values import Row, Value, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate

FIRST, LAST = instant("0001-01-02 00:00:00"), instant("9999-12-30 00:00:00")
"""Between these all functions of times are defined."""


def inside(segment: Interval) -> Instant:
    """An instant of a segment."""
    if is_finite(segment.valid_from):
        return segment.valid_from
    return segment.valid_to - 1 if is_finite(segment.valid_to) else 0


def at_instant(node: Filter | Map, at: Instant) -> Filter | Map:
    """The operator with an instant in place of NOW()."""
    if isinstance(node, Filter):
        return Filter(node.input, _at(node.predicate, at))
    columns = (replace(named, expression=_at(named.expression, at)) for named in node.columns)
    return Map(node.input, tuple(columns))


def turns(node: Filter | Map, rows: Iterable[Row]) -> set[Instant]:
    """The instants at which comparisons with NOW() may turn out otherwise than just before."""
    schema = node.input.schema
    expressions = (
        [node.predicate]
        if isinstance(node, Filter)
        else [named.expression for named in node.columns]
    )
    pairs = [pair for expression in expressions for pair in _compared(expression)]
    return {t for row in rows for pair in pairs for t in _turns(*pair, schema, row)}


def _at(expression: Expression, at: Instant) -> Expression:
    return rewrite(
        expression,
        lambda node: Literal(at, TIMESTAMP) if isinstance(node, SnapshotTime) else node,
    )


def _compared(expression: Expression) -> Iterator[tuple[Expression, Expression]]:
    """All that NOW() is compared with."""
    for comparison in find(expression, Comparison):
        if depends_on_now(comparison):
            yield comparison.left, comparison.right
    for listed in find(expression, InList):
        if depends_on_now(listed):
            yield from ((listed.operand, option) for option in listed.options)


def _turns(left: Expression, right: Expression, schema: Schema, row: Row) -> Iterator[Instant]:
    """From when on ``left < right`` is no longer what it was first, and ``left <= right``."""

    def values(t: Instant) -> tuple[Value, Value]:
        return evaluate(_at(left, t), schema, row), evaluate(_at(right, t), schema, row)

    try:
        first = values(FIRST)
    except EvaluationError:
        return  # what NOW() is compared with fails, at all times alike
    if None in first:
        return
    for holds in (_less, _at_most):
        found = _first_unlike(lambda t, holds=holds: holds(*values(t)))  # type: ignore[misc]
        if found is not None:
            yield found


def _less(left: Value, right: Value) -> bool:
    return sort_key(left) < sort_key(right)


def _at_most(left: Value, right: Value) -> bool:
    return sort_key(left) <= sort_key(right)


def _first_unlike(holds: Callable[[Instant], bool]) -> Instant | None:
    """The first instant at which a condition that turns once is not what it is at the start."""
    before = holds(FIRST)
    if holds(LAST) == before:
        return None
    low, high = FIRST, LAST
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle) == before:
            low = middle
        else:
            high = middle
    return high
