"""Windows in GROUP BY, as Flink's older SQL and Spark have them, said as functions in FROM.

Law: the tree that is left is the one of the same query with the window in FROM:

    SELECT TUMBLE_END(at, INTERVAL '1' HOUR), COUNT(*) FROM s GROUP BY TUMBLE(at, INTERVAL '1' HOUR)
    SELECT window.end, COUNT(*) FROM s GROUP BY window(at, '1 hour')
    SELECT window_end, COUNT(*) FROM TUMBLE(s, at, 1 HOUR) GROUP BY window_start, window_end

A session is one of the rows that WHERE leaves and that agree in what else is grouped by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from ebbtide.errors import ParseError, Span
from ebbtide.sql import nodes, refusals
from ebbtide.sql.made_nodes import aliased, column, own_parts, placed
from ebbtide.sql.spans import extent_of, span_of

__all__ = ["with_windows_in_from"]

ReadDuration = Callable[[str, Span], int]
"""Reads a duration that stands in a text, at a place."""

# By the name of a function: how it is written, and the node that it becomes.
_KINDS = {
    "TUMBLE": ("TUMBLE(at, INTERVAL 10 MINUTES)", nodes.Tumble),
    "HOP": ("HOP(at, INTERVAL 1 MINUTE, INTERVAL 10 MINUTES)", nodes.Hop),
    "SESSION": ("SESSION(at, INTERVAL 10 MINUTES)", nodes.Session),
    "WINDOW": ("WINDOW(at, '10 minutes')", nodes.Tumble),
    "SESSION_WINDOW": ("SESSION_WINDOW(at, '10 minutes')", nodes.Session),
}
_STRUCTS = ("WINDOW", "SESSION_WINDOW")
_ENDS = {"START": "window_start", "END": "window_end"}


@dataclass(frozen=True, slots=True)
class _Window:
    """A window in GROUP BY: its call, the name of its function, and what it stands on."""

    call: nodes.Call
    name: str
    on: exp.Identifier
    lengths: tuple[nodes.Duration, ...]


def with_windows_in_from(select: exp.Select, source: str, read: ReadDuration) -> None:
    """Moves the window that a SELECT groups by into its FROM."""
    group = select.args.get("group")
    if group is None:
        return
    named = {item.alias.casefold(): item.this for item in select.expressions if item.alias}
    keys = [_meant(key, named) for key in group.expressions]
    calls = [key for key in keys if isinstance(key, nodes.Call) and key.this in _KINDS]
    if not calls:
        return
    if len(calls) > 1:
        raise refusals.SEVERAL_WINDOWS(span_of(calls[1], source))
    window = _read(calls[0], source, read)
    others = [key for key in keys if key is not calls[0]]
    _move(select, window, others, source)
    place = keys.index(calls[0])
    ends = [column(name, window.call) for name in _ENDS.values()]
    group.set("expressions", [*keys[:place], *ends, *keys[place + 1 :]])
    for part in (*select.expressions, select.args.get("having"), select.args.get("order")):
        if part is not None:
            _replace(part, window, source, read)


def _meant(key: exp.Expr, named: dict[str, exp.Expr]) -> exp.Expr:
    """A key, or the window that it is the alias of."""
    if isinstance(key, exp.Column) and len(key.parts) == 1:
        found = named.get(key.name.casefold())
        if isinstance(found, nodes.Call) and found.this in _KINDS:
            return found
    return key


def _read(call: nodes.Call, source: str, read: ReadDuration) -> _Window:
    name = call.this
    on, *amounts = call.expressions or [None]
    lengths = tuple(_length(amount, source, read) for amount in amounts)
    most = {"HOP": 3, "WINDOW": 3, "TUMBLE": 2}.get(name, 1)
    least = 2 if name == "HOP" else 1
    if not isinstance(on, exp.Column) or not least <= len(lengths) <= most:
        raise ParseError(
            "wrong-arguments",
            f"{name} in GROUP BY stands on a column, and has other arguments",
            span=span_of(call, source),
            hint=f"write {_KINDS[name][0]}",
        )
    for length in lengths[: {"HOP": 2, "WINDOW": 2}.get(name, 1)]:
        if length.us <= 0:
            raise ParseError(
                "bad-duration",
                "a window must be longer than zero",
                span=span_of(length, source),
                hint="write INTERVAL 10 MINUTES",
            )
    time = exp.Identifier(this=on.name, quoted=on.this.quoted)
    placed(time, on)
    return _Window(call, name, time, lengths)


def _length(node: exp.Expr, source: str, read: ReadDuration) -> nodes.Duration:
    span = span_of(node, source)
    if isinstance(node, nodes.Duration):
        return node
    if isinstance(node, exp.Literal) and node.is_string:
        length = nodes.Duration(us=read(node.name, span))
        placed(length, node)
        return length
    raise ParseError(
        "bad-duration", "a window needs a duration", span=span, hint="write INTERVAL 10 MINUTES"
    )


# --- into FROM ---------------------------------------------------------------------------------


def _move(select: exp.Select, window: _Window, others: list[exp.Expr], source: str) -> None:
    if select.args.get("from_") is None or select.args.get("joins"):
        raise refusals.GROUPED_JOIN(span_of(window.call, source), name=window.name)
    origin = select.args["from_"].this
    alias = origin.args.pop("alias", None)
    _, kind = _KINDS[window.name]
    if kind is nodes.Session:
        where = select.args.pop("where", None)
        if where is not None:
            origin, alias = _filtered(origin, alias, where)
    arguments = {"this": origin, "on": window.on}
    function: nodes.TableFunction
    match window.name, window.lengths:
        case ("HOP", (slide, size, *offset)) | ("WINDOW", (size, slide, *offset)):
            moved = {"offset": offset[0]} if offset else {}
            function = nodes.Hop(**arguments, slide=slide, size=size, **moved)
        case "TUMBLE", (size, offset):
            function = nodes.Tumble(**arguments, size=size, offset=offset)
        case (("SESSION" | "SESSION_WINDOW"), (gap,)):
            keys = [_partition(key, source) for key in others] or None
            function = nodes.Session(**arguments, gap=gap, partition_by=keys)
        case _:
            function = nodes.Tumble(**arguments, size=window.lengths[0])
    function.set("alias", alias)
    placed(function, origin)
    select.args["from_"].set("this", function)


def _filtered(
    origin: exp.Expr, alias: exp.TableAlias | None, where: exp.Where
) -> tuple[exp.Expr, exp.TableAlias | None]:
    """The rows of a source that WHERE leaves, as a source by the same name."""
    known = alias
    if known is None and isinstance(origin, exp.Table):
        known = exp.TableAlias(this=origin.this.copy())
    origin.set("alias", alias)
    rows = exp.Select(expressions=[exp.Star()], from_=exp.From(this=origin), where=where)
    subquery = exp.Subquery(this=rows)
    for node in (rows, rows.args["from_"], subquery, *rows.expressions):
        placed(node, origin)
    return subquery, None if known is None else known.copy()


def _partition(key: exp.Expr, source: str) -> exp.Identifier:
    if not isinstance(key, exp.Column):
        raise refusals.SESSION_BY_EXPRESSION(span_of(key, source))
    name = exp.Identifier(this=key.name, quoted=key.this.quoted)
    placed(name, key)
    return name


# --- what is said of the window ----------------------------------------------------------------


def _replace(part: exp.Expr, window: _Window, source: str, read: ReadDuration) -> None:
    """Puts the columns of the window where its functions stand."""
    for node in list(own_parts(part)):
        said = _said(node, window, source, read)
        if said is not None:
            named = isinstance(node.parent, exp.Select) and isinstance(said, nodes.Call)
            node.replace(aliased(said, window.name.lower()) if named else said)


def _said(node: exp.Expr, window: _Window, source: str, read: ReadDuration) -> exp.Expr | None:
    if isinstance(node, nodes.Call):
        base, _, end = node.this.rpartition("_")
        if node == window.call and node.this in _STRUCTS:
            return _struct(node)
        if end in _ENDS and base == window.name:
            if _read_same(node, window, source, read):
                return column(_ENDS[end], node)
            _differs(node, window, source)
        return None
    if isinstance(node, exp.Column) and window.name in _STRUCTS:
        parts = [part.name.upper() for part in node.parts]
        if parts == [window.name]:
            return _struct(node)
        if len(parts) == 2 and parts[0] == window.name and parts[1] in _ENDS:
            return column(_ENDS[parts[1]], node)
    return None


def _read_same(node: nodes.Call, window: _Window, source: str, read: ReadDuration) -> bool:
    same = nodes.Call(this=window.name, expressions=[e.copy() for e in node.expressions])
    placed(same, node)
    other = _read(same, source, read)
    return (other.on, other.lengths) == (window.on, window.lengths)


def _differs(node: nodes.Call, window: _Window, source: str) -> NoReturn:
    end = node.this.rpartition("_")[2]
    arguments = extent_of(window.call, source).text.partition("(")[2]
    raise ParseError(
        "wrong-arguments",
        f"{node.this} is of another window than the one that is grouped by",
        span=span_of(node, source),
        hint=f"write {window.name}_{end}({arguments}",
    )


def _struct(node: exp.Expr) -> nodes.Call:
    parts = []
    for field, name in (("start", "window_start"), ("end", "window_end")):
        part = exp.Alias(this=column(name, node), alias=exp.to_identifier(field, quoted=True))
        placed(part, node)
        placed(part.args["alias"], node)
        parts.append(part)
    made = nodes.Call(this="STRUCT", expressions=parts)
    placed(made, node)
    return made
