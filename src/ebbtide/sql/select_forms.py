"""Clauses of SELECT that say what others say too: WINDOW, QUALIFY and DISTINCT ON.

Law: the tree that is left is the one of a query without them.

    SUM(x) OVER w ... WINDOW w AS (d)       SUM(x) OVER (d)
    SELECT a FROM t QUALIFY f OVER (d) < 3  SELECT * EXCEPT (q) FROM
                                              (SELECT a, f OVER (d) AS q FROM t) WHERE q < 3
    SELECT DISTINCT ON (k) a FROM t ORDER BY k, b
                                            SELECT a FROM t
                                              QUALIFY ROW_NUMBER() OVER (PARTITION BY k
                                                                         ORDER BY k, b) = 1

In QUALIFY an alias of the SELECT list goes before a column of its name, as in ORDER BY.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from sqlglot import exp

from ebbtide.errors import ParseError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.calls import is_aggregate
from ebbtide.sql.call_forms import FRAMELESS, UNORDERED
from ebbtide.sql.made_nodes import OUTER, aliased, around, column, fresh_names, own_parts, placed
from ebbtide.sql.spans import span_of

__all__ = ["with_named_windows", "with_subquery_for_qualify"]

_DEFINITION = ("partition_by", "order", "spec")


# --- WINDOW ------------------------------------------------------------------------------------


def with_named_windows(select: exp.Select, source: str) -> None:
    """Puts the definitions of windows where their names stand."""
    defined: dict[str, exp.Window] = {}
    for window in select.args.pop("windows", None) or ():
        written = window.args.pop("alias")
        if written.name.casefold() in defined:
            raise ParseError(
                "duplicate-name",
                f'WINDOW names two windows "{written.name}"',
                span=span_of(written, source),
            )
        _define(window, defined, source)
        defined[written.name.casefold()] = window
    for part in _clauses(select):
        for node in list(own_parts(part)):
            if isinstance(node, exp.Window):
                _define(node, defined, source)


def _clauses(select: exp.Select) -> Iterator[exp.Expr]:
    for value in (*select.expressions, *map(select.args.get, ("order", "qualify", "distinct"))):
        if isinstance(value, exp.Expr):
            yield value


def _define(window: exp.Window, defined: dict[str, exp.Window], source: str) -> None:
    """Completes a window that stands on a named one."""
    base = window.args.pop("first", None)
    if base is None:
        return
    known = defined.get(base.name.casefold())
    if known is None:
        names = ", ".join(defined)
        raise ParseError(
            "unknown-window",
            f'there is no window "{base.name}"',
            span=span_of(base, source),
            detail=f"WINDOW names {names}" if defined else "the query has no clause WINDOW",
        )
    for key in _DEFINITION:
        given, inherited = window.args.get(key), known.args.get(key)
        if inherited and given:
            raise ParseError(
                "duplicate-clause",
                f'"{base.name}" has this part of the definition already',
                span=span_of(base, source),
            )
        if inherited and key == "spec" and window.meta_get(FRAMELESS):
            message = f"{window.meta[FRAMELESS]} takes no frame"
            raise ParseError("bad-frame", message, span=span_of(base, source))
        window.args.pop(key, None)
        if key != "order" or not window.meta_get(UNORDERED):
            window.set(key, given or deepcopy(inherited))
    window.set("over", window.args.pop("over"))


# --- QUALIFY and DISTINCT ON -------------------------------------------------------------------


def with_subquery_for_qualify(select: exp.Select, source: str) -> exp.Select:
    """The query without QUALIFY and DISTINCT ON, as one around it."""
    names = fresh_names(select, "qualify")
    qualify = select.args.pop("qualify", None)
    conditions = [qualify.this] if qualify is not None else []
    if _distinct_on(select):
        if qualify is not None:
            raise refusals.DISTINCT_ON_AND_QUALIFY(span_of(select.args["distinct"], source))
        conditions = [_first_of_each(select)]
    for condition in conditions:
        select = _around(select, condition, names)
    return select


def _around(select: exp.Select, condition: exp.Expr, names: Iterator[str]) -> exp.Select:
    items = {i.alias.casefold(): i.this for i in select.expressions if isinstance(i, exp.Alias)}
    lifted: list[exp.Alias] = []
    outer = {key: select.args.pop(key, None) for key in OUTER}
    where = exp.Where(this=_lifted(condition, items, lifted, names))
    placed(where, condition)
    if outer["order"] is not None:
        for ordered in outer["order"].expressions:
            if not ordered.this.is_int:
                ordered.set("this", _lifted(ordered.this, items, lifted, names))
    hidden = [column(item.alias, item) for item in lifted]
    star = exp.Star(except_=hidden) if hidden else exp.Star()
    placed(star, select.expressions[0])
    select.set("expressions", [*select.expressions, *lifted])
    return around(star, select, next(names), outer, where)


def _lifted(
    node: exp.Expr, items: dict[str, exp.Expr], lifted: list[exp.Alias], names: Iterator[str]
) -> exp.Expr:
    """A condition on the query outside, what it needs of the inside computed there."""
    holder = exp.Paren(this=node)
    for part in _leaves(node, items):
        said = _with_items(part.copy(), items)
        known = next((item.alias for item in lifted if item.this == said), None)
        if known is None:
            known = next(names)
            lifted.append(aliased(said, known))
        part.replace(column(known, part))
    result: exp.Expr = holder.this
    result.pop()
    return result


def _leaves(node: exp.Expr, items: dict[str, exp.Expr]) -> list[exp.Expr]:
    """The greatest parts that only the inside can compute."""
    if isinstance(node, exp.Window) or (isinstance(node, nodes.Call) and is_aggregate(node.this)):
        return [node]
    if isinstance(node, exp.Column):
        alias = len(node.parts) == 1 and node.name.casefold() in items
        return [] if alias else [node]
    if isinstance(node, exp.Query):
        return []
    return [leaf for child in node.iter_expressions() for leaf in _leaves(child, items)]


def _with_items(node: exp.Expr, items: dict[str, exp.Expr]) -> exp.Expr:
    """A part with the expressions of the SELECT list in the place of their aliases."""
    holder = exp.Paren(this=node)
    for part in list(own_parts(node)):
        named = isinstance(part, exp.Column) and len(part.parts) == 1
        if named and part.name.casefold() in items and part is not node:
            expression = items[part.name.casefold()].copy()
            part.replace(expression)
    result: exp.Expr = holder.this
    result.pop()
    return result


def _distinct_on(select: exp.Select) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and bool(distinct.args.get("on"))


def _first_of_each(select: exp.Select) -> exp.Expr:
    """ROW_NUMBER() OVER (PARTITION BY k ORDER BY ...) = 1, for DISTINCT ON (k)."""
    distinct = select.args.pop("distinct")
    keys = distinct.args["on"].expressions
    order = select.args.get("order")
    items = [item.unalias() for item in select.expressions]
    inside = None
    if order is not None:
        inside = order.copy()
        for ordered in inside.expressions:
            key = ordered.this
            if key.is_int and 1 <= int(key.name) <= len(items):
                key.replace(items[int(key.name) - 1].copy())
    if order is not None and select.args.get("limit") is None:
        select.args.pop("order")
    call = nodes.Call(this="ROW_NUMBER", expressions=[])
    window = exp.Window(this=call, partition_by=keys, order=inside, over="OVER")
    one = exp.Literal.number(1)
    made = exp.EQ(this=window, expression=one)
    for part in (call, window, one, made):
        placed(part, distinct)
    return made
