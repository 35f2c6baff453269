"""Windows behind a source, and functions on facts.

Law: the time of a window is the first progressing attribute unless ON says otherwise; facts of one
instant are ordered by their primary key.
"""

from __future__ import annotations

from sqlglot import exp

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.origin import default_key, default_time
from ebbtide.algebra.relation import ChangingTable, Relation
from ebbtide.algebra.window import (
    Always,
    Cumulate,
    Hop,
    Session,
    Tumble,
    Unbounded,
    Window,
    WindowSpec,
    window_of,
)
from ebbtide.core.types import TimestampType
from ebbtide.errors import BindError, Span, TemporalError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.scope import meant
from ebbtide.sql.catalog import near

__all__ = ["function_on", "on_snapshot", "window_on", "without_window"]


def window_on(relation: Relation, node: nodes.WindowNode, context: Context) -> Window:
    """What a window makes of a source."""
    on = _time(relation, node, context)
    return Window(relation, _spec(relation, node, context), on, default_key(relation))


def on_snapshot(
    node: nodes.Windowed, relation: Relation, name: str | None, context: Context
) -> TemporalError:
    """The error of a window on what has windows already."""
    inner, window = context.span(node.this), context.span(node.args["window"])
    text = inner.text
    if isinstance(relation, ChangingTable):
        hint = f"write {text}"
    elif isinstance(node.this, exp.Subquery):
        hint = f"write ISTREAM{text} {window.text}"
    else:
        hint = f"write ISTREAM(SELECT * FROM {text}) {window.text}"
    start, end = min(inner.start, window.start), max(inner.end, window.end)
    return TemporalError(
        "window-on-snapshot",
        f'a window stands on facts, and "{name or text}" changes with time already',
        hint=hint,
        span=Span(context.source, start, end),
    )


def _spec(relation: Relation, node: nodes.WindowNode, context: Context) -> WindowSpec:
    if node.this == "VALID":
        # A row begins where it says, or else with its time.
        return Unbounded() if node.args.get("valid_from") is None else Always()
    given = node.args.get("amounts") or ()
    amounts = [amount.us if isinstance(amount, nodes.Duration) else amount for amount in given]
    keys = node.args.get("partition_by") or ()
    return window_of(node.this, amounts, tuple(_column(relation, key, context) for key in keys))


def _time(relation: Relation, node: nodes.WindowNode, context: Context) -> str:
    """The name of the attribute that a window stands on."""
    given = node.args.get("on")
    if given is not None:
        return _time_column(relation, given, context)
    default = default_time(relation)
    if default is not None:
        return default
    times = [c.name for c in relation.schema if isinstance(c.type, TimestampType)]
    text = context.span(node).text
    raise BindError(
        "no-time",
        "no attribute is declared to progress, so the window needs ON",
        detail=f"of type TIMESTAMP are {', '.join(times)}" if times else "none is a TIMESTAMP",
        hint=f"write {text.rstrip(']').rstrip()} ON {identifier(times[0])}]" if times else None,
    )


def _time_column(relation: Relation, node: exp.Expr, context: Context) -> str:
    name = _column(relation, node, context)
    type_ = relation.schema.column(name).type
    if not isinstance(type_, TimestampType):
        times = [c.name for c in relation.schema if isinstance(c.type, TimestampType)]
        raise BindError(
            "not-a-time",
            f'a window stands on a TIMESTAMP, and "{name}" is {type_}',
            hint=f"write {identifier(times[0])}" if times else None,
            span=context.span(node),
        )
    return name


def _column(relation: Relation, identifier: exp.Expr, context: Context) -> str:
    found = relation.schema.matches(identifier.name)
    if not found:
        close = near(identifier.name, relation.schema.names)
        raise BindError(
            "unknown-column",
            f'there is no column "{identifier.name}"',
            detail=f"there are {', '.join(relation.schema.names)}",
            hint=meant(close),
            span=context.span(identifier),
        )
    return found[0].name


def without_window(node: nodes.TableFunction) -> str | None:
    """How the input is written without its window, if it is the window that is too much."""
    if isinstance(node.this, nodes.Windowed) and isinstance(node.this.this, exp.Table):
        return f"write {identifier(node.this.this.name)}"
    return None


def function_on(relation: Relation, node: nodes.TableFunction, context: Context) -> Relation:
    """What TUMBLE, HOP, SESSION or CUMULATE makes of a source."""
    on = _time_column(relation, node.args["on"], context)
    lengths = {key: value.us for key, value in node.args.items() if _is_length(value)}
    offset = lengths.get("offset", 0)
    match node:
        case nodes.Tumble():
            return Tumble(relation, on, lengths["size"], offset % lengths["size"])
        case nodes.Hop():
            slide, size = lengths["slide"], lengths["size"]
            return Hop(relation, on, slide, size, offset % slide)
        case nodes.Cumulate():
            step, size = lengths["step"], lengths["size"]
            return Cumulate(relation, on, step, size, offset % size)
        case _:
            keys = node.args.get("partition_by") or ()
            names = tuple(_column(relation, key, context) for key in keys)
            return Session(relation, on, lengths["gap"], names)


def _is_length(value: object) -> bool:
    return isinstance(value, nodes.Duration)
