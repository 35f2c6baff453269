"""A plan as an indented tree, one operator to a line, for people.

Map auction, mean := AVG(bids.price)
  Aggregate AVG(bids.price) by auction
    Alias bids
      Window [RANGE 15 MINUTES] on at
        Stream bids
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.printing import sql
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Named,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.traits import Assigning, Streaming
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.core.schema import Column
from ebbtide.core.time import Duration, format_duration
from ebbtide.core.tree import fold
from ebbtide.plan_text.call_sql import aggregate_sql, order_sql, over_sql
from ebbtide.plan_text.source_sql import window_sql

_INDENT = "  "


def plan_tree(plan: Relation) -> str:
    """The text of the tree, the root first."""

    def step(node: Relation, below: tuple[list[str], ...]) -> list[str]:
        head = f"{type(node).__name__} {_salient(node)}".rstrip()
        return [head, *(_INDENT + line for lines in below for line in lines)]

    lines: list[str] = fold(plan, step)
    return "\n".join(lines)


def _salient(relation: Relation) -> str:
    """What tells an operator from others of its kind."""
    node = operator(relation)
    if isinstance(node, Padding):
        return f"{node.side} on {_text(node.predicate)}"
    match node:
        case Stream() | StaticTable() | ChangingTable():
            return node.declaration.name
        case Values():
            return f"{len(node.rows)} x ({node.columns})"
        case View():
            declared = _list(node.promises or ())
            return f"{node.name}, progress for {declared}" if declared else node.name
        case Alias() | Recurrence():
            return node.name
        case Recursion():
            return f"{node.name}, later in {node.on}"
        case Map():
            return _list(map(_named, node.columns))
        case Filter() | Join() | SemiJoin() | AntiJoin():
            return _text(node.predicate)
        case Aggregate():
            return _aggregate(node)
        case TopN():
            return _top(node)
        case Over():
            return _list(
                over_sql(framed.call, node.partition_by, node.order_by, node.frame, _text)
                for framed in node.calls
            )
        case Unnest():
            shown = _list([node.item, *([] if node.place is None else [node.place])])
            return f"{_text(node.array)} as {shown}{', padded' if node.pads else ''}"
        case Intersection():
            return "all" if node.all else ""
        case Product() | Distinct() | UnionAll() | MaxUnion() | Difference() | StrictDifference():
            return ""
        case Window() | Tumble() | Hop() | Session() | Cumulate():
            return _timed(node)
        case Istream() | Dstream() | Rstream():
            return _timed(node)
        case _:
            assert_never(node)


def _offset(node: Tumble | Hop | Cumulate) -> str:
    return f", offset {_lengths(node.offset_us)}" if node.offset_us else ""


def _timed(node: Window | Assigning | Streaming) -> str:
    match node:
        case Window():
            return f"{window_sql(node.spec)} on {node.on}"
        case Tumble():
            return f"{_lengths(node.size_us)} on {node.on}{_offset(node)}"
        case Hop():
            return f"{_lengths(node.slide_us, node.size_us)} on {node.on}{_offset(node)}"
        case Cumulate():
            return f"{_lengths(node.step_us, node.size_us)} on {node.on}{_offset(node)}"
        case Session():
            partition = _list(node.partition_by)
            each = f", for each {partition}" if partition else ""
            return f"{_lengths(node.gap_us)} on {node.on}{each}"
        case Rstream():
            return f"every {_lengths(node.every_us)}"
        case Istream() | Dstream():
            return ""
        case _:
            assert_never(node)


def _aggregate(node: Aggregate) -> str:
    calls = _list(aggregate_sql(named.call, _text) for named in node.calls)
    keys = _list(map(_named, node.keys))
    return f"{calls} by {keys}".lstrip() if keys else calls


def _top(node: TopN) -> str:
    first = f"{node.count} from {node.offset + 1}" if node.offset else f"{node.count}"
    order = f" by {order_sql(node.order_by, _text)}" if node.order_by else ""
    partition = _list(map(_text, node.partition_by))
    each = f", for each {partition}" if partition else ""
    number = f", with {node.ranking.value}" if node.number_as else ""
    return f"{first}{order}{each}{number}"


def _named(named: Named) -> str:
    expression = named.expression
    if isinstance(expression, Ref) and expression.column.name == named.name:
        return named.name
    return f"{named.name} := {_text(expression)}"


def _text(expression: Expression) -> str:
    return sql(expression, _made)


def _made(column: Column) -> str | None:
    return column.name if column.table is None else None


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)


def _lengths(*lengths: Duration) -> str:
    return ", ".join(map(format_duration, lengths))
