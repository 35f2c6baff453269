"""What stands in FROM: names, queries, windows and functions on facts, each under its alias.

Law: every source is ``Alias(source, name)``; a window stands inside the alias.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Alias, Map, Named, Relation, View
from ebbtide.algebra.window import Dstream, Istream, Rstream
from ebbtide.errors import BindError, InternalError, TemporalError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.places import check, check_snapshot, kind_of, note
from ebbtide.sql.binding.scope import Scope, Visible, meant
from ebbtide.sql.binding.validity import valid
from ebbtide.sql.binding.windows import function_on, on_snapshot, window_on, without_window
from ebbtide.sql.catalog import StreamEntry, near
from ebbtide.sql.spans import mark

__all__ = ["BindQuery", "BoundSource", "aliased", "bare", "renamed", "stream", "within_lifetime"]

BindQuery = Callable[[exp.Expr, Context], Relation]


@dataclass(frozen=True, slots=True)
class BoundSource:
    """A source in FROM: the relation, and the names that it brings.

    ``moving`` are conditions on NOW() of its inner joins, which hold of the pairs.
    """

    relation: Relation
    scope: Scope
    moving: tuple[Expression, ...] = ()


def bare(node: exp.Expr, context: Context, bind: BindQuery) -> tuple[Relation, str | None]:
    """A source without its alias, and the name that it has without one."""
    with context.at(node):
        match node:
            case exp.Table():
                return _named(node, context)
            case exp.Subquery():
                return bind(node, context.apart()), None
            case exp.Values():
                return bind(node, context.apart()), None
            case nodes.Windowed():
                return _windowed(node, context, bind)
            case nodes.TableFunction():
                return _assigned(node, context, bind)
            case nodes.StreamOperator():
                return stream(node, context, bind), None
            case nodes.Unnest():
                raise refusals.WINDOW_ON_ITEMS()
            case nodes.AsOf():
                raise refusals.AS_OF(context.span(node))
            case _:
                pass
    raise InternalError("unknown-node", f"{type(node).__name__} is not a source")


def aliased(relation: Relation, name: str | None, node: exp.Expr, context: Context) -> BoundSource:
    """A source under its alias: the one written at the node, or else ``name``."""
    alias: exp.TableAlias | None = node.args.get("alias")
    if alias is not None and alias.this:
        name = alias.this.name
    plan_name = context.names.fresh("source") if name is None else context.alias(name)
    if alias is not None and alias.columns:
        with context.at(alias):
            relation = renamed(relation, tuple(c.name for c in alias.columns), plan_name)
    known = Alias(relation, plan_name)
    visible = tuple(Visible(column.name, name, Ref(column)) for column in known.schema)
    return BoundSource(known, Scope(visible, context.outer))


def renamed(relation: Relation, names: tuple[str, ...], alias: str) -> Relation:
    """A relation with other names for its columns."""
    if len(names) != len(relation.schema):
        raise BindError(
            "column-count",
            f"{len(names)} columns are named, and there are {len(relation.schema)}",
            detail=f"the columns are {', '.join(relation.schema.names)}",
        )
    if isinstance(relation, Map):
        pairs = zip(names, relation.columns, strict=True)
        return Map(relation.input, tuple(Named(name, old.expression) for name, old in pairs))
    source = Alias(relation, alias)
    pairs_of = zip(names, source.schema, strict=True)
    return Map(source, tuple(Named(name, Ref(column)) for name, column in pairs_of))


# --- names -------------------------------------------------------------------------------------


def within_lifetime(node: exp.Expr, context: Context) -> exp.Expr:
    """A source in FROM, under the window that its declaration gives it if it has none here."""
    if not isinstance(node, exp.Table) or node.this.name.casefold() in context.queries:
        return node
    entry = context.catalog.find(node.this.name)
    if not isinstance(entry, StreamEntry):
        return node
    declaration = entry.declaration
    if declaration.until is not None:
        until = exp.column(exp.to_identifier(declaration.until, quoted=True))
        window = nodes.WindowNode(this="VALID", valid_to=until)
    elif declaration.lifetime_us is not None:
        length = nodes.Duration(us=declaration.lifetime_us)
        window = nodes.WindowNode(this="RANGE", amounts=[length])
    else:
        return node
    span = context.span(node)
    for made in window.walk():
        mark(made, span.start, span.end)
    shown = nodes.Windowed(this=node.copy(), window=window)
    mark(shown, span.start, span.end)
    return shown


def _named(node: exp.Table, context: Context) -> tuple[Relation, str]:
    name: str = node.this.name
    query = context.queries.get(name.casefold())
    if query is not None:
        context.inlined.add(name, query.plan)
        context.places.extend(query.places)
        return query.plan, name
    entry = context.catalog.find(name)
    if entry is None:
        alias = node.args.get("alias")
        if name.casefold() == "stream" and alias is not None and alias.this:
            raise BindError(
                "unknown-name",
                'there is no stream, table or view "STREAM"',
                detail="the name of a stream stands alone",
                hint=f"write {alias.this.name}",
                span=context.extent(node),
            )
        error = context.catalog.unknown(name)
        close = near(name, (*context.queries, *context.catalog.names()))
        raise BindError(
            error.code,
            error.message,
            detail=error.detail,
            hint=meant(close),
            span=context.span(node.this),
        )
    relation = entry.relation
    if isinstance(relation, View):
        context.inlined.add(name, relation)
    note(relation, name, node.this, context)
    return relation, name


# --- windows -----------------------------------------------------------------------------------


def _windowed(
    node: nodes.Windowed, context: Context, bind: BindQuery
) -> tuple[Relation, str | None]:
    inner = context.elsewhere()
    relation, name = bare(node.this, inner, bind)
    context.placed(relation, node.this)
    window = node.args["window"]
    if kind_of(inner.places) is Kind.SNAPSHOT:
        raise on_snapshot(node, relation, name, context)
    with context.at(window):
        known: Relation = window_on(relation, window, context)
        if window.this == "VALID":
            known = valid(known, name, window, context)
        context.placed(known, window)
    note(known, name or "source", node.this, context)
    return known, name


# --- functions on facts, and the way back to them ----------------------------------------------


def _assigned(
    node: nodes.TableFunction, context: Context, bind: BindQuery
) -> tuple[Relation, str | None]:
    inner = context.elsewhere()
    relation, name = bare(node.this, inner, bind)
    if kind_of(inner.places) is Kind.SNAPSHOT:
        raise TemporalError(
            "window-on-snapshot",
            f'{type(node).__name__.upper()} works on facts, and "{name or "its input"}" changes'
            " with time already",
            hint=without_window(node),
            span=context.span(node.this),
        )
    known = function_on(relation, node, context)
    note(known, name or "source", node, context)
    return known, name


def stream(node: nodes.StreamOperator, context: Context, bind: BindQuery) -> Relation:
    """The facts of how a query's answer changes."""
    inner = context.apart().elsewhere()
    relation = bind(node.this, inner)
    name = type(node).__name__.upper()
    check(inner.places)
    check_snapshot(inner.places, name, context.span(node))
    known: Relation
    match node:
        case nodes.Istream():
            known = Istream(relation)
        case nodes.Dstream():
            known = Dstream(relation)
        case _:
            known = Rstream(relation, node.args["every"].us)
    note(known, name, node, context)
    return known
