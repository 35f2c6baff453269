"""Aggregates, orders and OVER as SQL.

Law: what the binder adds by default (``origin.tie_break``) is not printed, so that it is added
again when the text is bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.origin import tie_break
from ebbtide.algebra.printing import sql
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, Frame, FrameUnit, Over, TopN
from ebbtide.algebra.relation import Relation
from ebbtide.core.time import format_duration
from ebbtide.core.types import IntervalType, TimestampType

Text: TypeAlias = Callable[[Expression], str]
"""How an expression is written."""

UNORDERED_PEERS = frozenset({"RANK", "DENSE_RANK"})


def aggregate_sql(call: AggregateCall, text: Text) -> str:
    """A call of an aggregate, with its whole order."""
    arguments = ", ".join(map(text, call.arguments)) or ("*" if call.name == "COUNT" else "")
    distinct = "DISTINCT " if call.distinct else ""
    result = f"{call.name}({distinct}{arguments})"
    if call.order:
        result += f" WITHIN GROUP (ORDER BY {order_sql(call.order, text)})"
    if call.filter is not None:
        result += f" FILTER (WHERE {text(call.filter)})"
    return result


def order_sql(keys: tuple[SortKey, ...], text: Text) -> str:
    """The sort keys of an ORDER BY."""
    return ", ".join(_key_sql(key, text) for key in keys)


def over_sql(
    call: AggregateCall,
    partition_by: tuple[Expression, ...],
    order_by: tuple[SortKey, ...],
    frame: Frame | None,
    text: Text,
) -> str:
    """A call with its OVER."""
    numbering = call.name in NUMBERINGS | NEIGHBOURS
    head = f"{call.name}({', '.join(map(text, call.arguments))})" if numbering else None
    parts = []
    if partition_by:
        parts.append(f"PARTITION BY {', '.join(map(text, partition_by))}")
    if order_by:
        parts.append(f"ORDER BY {order_sql(order_by, text)}")
    if frame is not None:
        parts.append(_frame_sql(frame, order_by))
    return f"{head or aggregate_sql(call, text)} OVER ({' '.join(parts)})"


# --- what the binder adds ----------------------------------------------------------------------


def given_order(
    keys: tuple[SortKey, ...], relation: Relation, at_least: int = 1
) -> tuple[SortKey, ...]:
    """The shortest beginning of an order from which the default makes the whole."""
    for end in range(at_least, len(keys)):
        if keys[:end] + tie_break(relation, keys[:end]) == keys:
            return keys[:end]
    return keys


def given_call(call: AggregateCall, relation: Relation, name: str) -> AggregateCall:
    """An aggregate without the order that it has by default.

    A column is named by what makes it, so one that was written with its order has that order in
    its name, and is printed with it.
    """
    if call.name in NUMBERINGS | NEIGHBOURS or not call.function.ordered:
        return call
    ends = range(len(call.order) + 1)
    written = [replace(call, order=call.order[:end]) for end in ends]
    same = [
        each
        for each in written
        if each.order + tie_break(relation, each.order) == call.order or each == call
    ]
    named = (each for each in same if aggregate_sql(each, sql) == name)
    return next(named, same[0])


def breaks_ties(call: AggregateCall, frame: Frame | None) -> bool:
    """Whether the result of a call over a frame depends on the order of peers."""
    if call.name in UNORDERED_PEERS:
        return False
    return call.name in NUMBERINGS | NEIGHBOURS or (
        frame is not None and frame.unit is FrameUnit.ROWS
    )


def given_over(node: Over, call: AggregateCall, text: Text) -> str:
    """A call of an Over as it was written."""
    order = node.order_by
    if breaks_ties(call, node.frame):
        order = given_order(order, node.input)
    if call.name not in NUMBERINGS | NEIGHBOURS and call.function.ordered:
        default = order + tie_break(node.input, order)
        call = replace(call, order=()) if call.order == default else call
    return over_sql(call, node.partition_by, order, node.frame, text)


def given_number(node: TopN, text: Text) -> str:
    """The number that a TopN has filtered by, as it was written."""
    call = AggregateCall(node.ranking.value)
    order = given_order(node.order_by, node.input) if breaks_ties(call, None) else node.order_by
    return over_sql(call, node.partition_by, order, None, text)


# --- parts -------------------------------------------------------------------------------------


def _key_sql(key: SortKey, text: Text) -> str:
    result = text(key.expression)
    if key.descending:
        result += " DESC"
    if key.nulls_first is not None:
        result += " NULLS FIRST" if key.nulls_first else " NULLS LAST"
    return result


def _frame_sql(frame: Frame, order_by: tuple[SortKey, ...]) -> str:
    start = _bound_sql(frame.start, "PRECEDING", frame, order_by)
    end = _bound_sql(frame.end, "FOLLOWING", frame, order_by)
    return f"{frame.unit.value} BETWEEN {start} AND {end}"


def _bound_sql(
    bound: int | None, unbounded: str, frame: Frame, order_by: tuple[SortKey, ...]
) -> str:
    if bound is None:
        return f"UNBOUNDED {unbounded}"
    if bound == 0:
        return "CURRENT ROW"
    side = "PRECEDING" if bound < 0 else "FOLLOWING"
    timed = frame.unit is FrameUnit.RANGE and isinstance(
        order_by[0].expression.type, TimestampType | IntervalType
    )
    amount = f"INTERVAL {format_duration(abs(bound))}" if timed else str(abs(bound))
    return f"{amount} {side}"
