"""Sources as SQL: names, windows and functions on facts, without their alias."""

from __future__ import annotations

from collections.abc import Callable

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.literal_text import literal_text
from ebbtide.algebra.origin import default_time
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream, Values, View
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Unit,
    Window,
    WindowSpec,
    amounts_of,
)
from ebbtide.core.time import Duration, format_duration


def window_sql(spec: WindowSpec, on: str | None = None) -> str:
    """What stands in brackets behind a source.

    >>> from ebbtide.algebra.window import Range
    >>> window_sql(Range(60_000_000))
    '[RANGE 1 MINUTE]'
    """
    partition = f"PARTITION BY {', '.join(map(identifier, spec.keys))} " if spec.keys else ""
    text = f"{partition}{spec.syntax.name}"
    for amount, value in zip(spec.syntax.amounts, amounts_of(spec), strict=True):
        if value is not None:
            shown = format_duration(value) if amount.unit is Unit.TIME else str(value)
            text += f" {amount.word} {shown}" if amount.word else f" {shown}"
    return f"[{text} ON {identifier(on)}]" if on is not None else f"[{text}]"


def source_sql(node: Relation, query: Callable[[Relation], str]) -> str:
    """A source without its alias; ``query`` writes what is a query."""
    name = _own_name(node)
    if name is not None:
        return identifier(name)
    match node:
        case Window():
            on = None if node.on == default_time(node.input) else node.on
            return f"{source_sql(node.input, query)} {window_sql(node.spec, on)}"
        case Tumble():
            return _function(node, query, "", node.size_us, *_offset(node))
        case Hop():
            return _function(node, query, "", node.slide_us, node.size_us, *_offset(node))
        case Cumulate():
            return _function(node, query, "", node.step_us, node.size_us, *_offset(node))
        case Session():
            keys = ", ".join(map(identifier, node.partition_by))
            return _function(node, query, f" PARTITION BY {keys}" if keys else "", node.gap_us)
        case Istream() | Dstream() | Rstream():
            return query(node)
        case _:
            return f"({query(node)})"


def default_name(node: Relation) -> str | None:
    """The name by which a source is known unless it has an alias."""
    if isinstance(node, Window | Tumble | Hop | Session | Cumulate):
        return default_name(node.input)
    return _own_name(node)


def values_sql(node: Values) -> str:
    """Given rows, as a query."""
    types = [column.type for column in node.columns]
    rows = (
        ", ".join(literal_text(value, type_) for value, type_ in zip(row, types, strict=True))
        for row in node.rows
    )
    return f"VALUES {', '.join(f'({row})' for row in rows)}"


def _own_name(node: Relation) -> str | None:
    match node:
        case Stream() | StaticTable() | ChangingTable():
            return node.declaration.name
        case View() | Recurrence():
            return node.name
        case _:
            return None


def _offset(node: Tumble | Hop | Cumulate) -> tuple[Duration, ...]:
    return (node.offset_us,) if node.offset_us else ()


def _function(
    node: Tumble | Hop | Session | Cumulate,
    query: Callable[[Relation], str],
    partition: str,
    *lengths: Duration,
) -> str:
    sizes = "".join(f", {format_duration(length)}" for length in lengths)
    source = source_sql(node.input, query)
    name = type(node).__name__.upper()
    return f"{name}({source}{partition}, {identifier(node.on)}{sizes})"
