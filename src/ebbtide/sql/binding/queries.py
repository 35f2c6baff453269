"""Queries: SELECT, set operations, VALUES, WITH, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.coercion import cast, common_type
from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    MaxUnion,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression, Literal, Ref, conjunction
from ebbtide.algebra.relation import (
    Alias,
    Distinct,
    Filter,
    Map,
    Named,
    NamedCall,
    Relation,
    Values,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import Type
from ebbtide.errors import BindError, InternalError
from ebbtide.plan_text.call_sql import aggregate_sql
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.calls import holds_aggregate, holds_window, sort_key
from ebbtide.sql.binding.context import BoundPlan, Context
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.limits import limited, row_count
from ebbtide.sql.binding.naming import column_text
from ebbtide.sql.binding.scalars import scalar
from ebbtide.sql.binding.scope import Scope, Visible
from ebbtide.sql.binding.selection import Block
from ebbtide.sql.binding.sources import renamed, stream
from ebbtide.sql.binding.subqueries import Inner

__all__ = ["query", "shaped"]


def query(node: exp.Expr, context: Context) -> Relation:
    """The plan of a query."""
    with context.at(node):
        context = _with(node, context)
        return context.placed(_planned(node, context), node)


def _planned(node: exp.Expr, context: Context) -> Relation:
    match node:
        case exp.Select():
            return Block(node, context, query, _inner).plan()
        case exp.SetOperation():
            both = context.placed(_set_operation(node, context), node)
            return _ordered(both, node, context)
        case exp.Subquery():
            return _ordered(query(node.this, context), node, context)
        case exp.Values():
            return _values(node, context)
        case nodes.StreamOperator():
            return stream(node, context, query)
        case _:
            raise InternalError("unknown-node", f"{type(node).__name__} is not a query")


def _with(node: exp.Expr, context: Context) -> Context:
    clause = node.args.get("with_")
    seen: set[str] = set()
    for common in clause.expressions if clause is not None else ():
        name = common.alias
        if name.casefold() in seen:
            span = context.span(common.args["alias"])
            raise BindError("duplicate-name", f'WITH names two queries "{name}"', span=span)
        seen.add(name.casefold())
        inner = context.apart().elsewhere()
        plan = query(common.this, inner)
        columns = common.args["alias"].columns
        if columns:
            with context.at(common.args["alias"]):
                plan = renamed(plan, tuple(column.name for column in columns), name)
        context = context.knowing(name, BoundPlan(plan, tuple(inner.places)))
    return context


def _ordered(relation: Relation, node: exp.Expr, context: Context) -> Relation:
    """ORDER BY ... LIMIT behind a query as a whole."""
    count, offset = row_count(node, context)
    if count is None:
        return relation
    visible = tuple(Visible(column.name, None, Ref(column)) for column in relation.schema)
    env = Environment(context, Scope(visible), "ORDER BY")
    clause = node.args.get("order")
    keys = tuple(
        sort_key(ordered, _by_position(ordered.this, visible, env))
        for ordered in (clause.expressions if clause is not None else ())
    )
    return context.placed(limited(relation, keys, count, offset), node.args["limit"])


def _by_position(node: exp.Expr, columns: tuple[Visible, ...], env: Environment) -> Expression:
    if not isinstance(node, exp.Literal) or node.is_string:
        return scalar(node, env)
    place = int(node.name) if node.name.isdigit() else 0
    if not 1 <= place <= len(columns):
        raise BindError(
            "bad-position",
            f"ORDER BY {node.name} is not a column of the query, which has {len(columns)}",
            hint=f"write {len(columns)}",
            span=env.context.span(node),
        )
    return columns[place - 1].expression


# --- set operations ----------------------------------------------------------------------------


def _set_operation(node: exp.SetOperation, context: Context) -> Relation:
    left, right = query(node.this, context), query(node.expression, context)
    left, right = _aligned(left, right, node, context)
    all_ = not node.args.get("distinct")
    match node:
        case nodes.MaxUnion():
            return MaxUnion(left, right)
        case exp.Except():
            return Difference(left, right) if all_ else StrictDifference(left, right)
        case exp.Intersect():
            return Intersection(left, right, all_)
        case _:
            return UnionAll(left, right) if all_ else Distinct(UnionAll(left, right))


def _aligned(
    left: Relation, right: Relation, node: exp.Expr, context: Context
) -> tuple[Relation, Relation]:
    """Both sides with the types that hold the values of both."""
    if len(left.schema) != len(right.schema):
        raise BindError(
            "column-count",
            f"{context.span(node).text} needs as many columns on both sides",
            detail=f"the left has {len(left.schema)}, the right {len(right.schema)}",
        )
    types: list[Type] = []
    for mine, other in zip(left.schema, right.schema, strict=True):
        type_ = common_type(mine.type, other.type)
        if type_ is None:
            raise BindError(
                "type-mismatch",
                f'column "{mine.name}" is {mine.type} on the left, and {other.type} on the right',
            )
        types.append(type_)
    return (
        shaped(left, left.schema.names, tuple(types), context),
        shaped(right, right.schema.names, tuple(types), context),
    )


def shaped(
    relation: Relation, names: tuple[str, ...], types: tuple[Type, ...], context: Context
) -> Relation:
    """A query with other names or types for its columns."""
    same = tuple(column.type for column in relation.schema) == types
    if same and relation.schema.names == names:
        return relation
    if not isinstance(relation, Map):
        source = Alias(relation, context.names.fresh("source"))
        relation = Map(source, tuple(Named(c.name, Ref(c)) for c in source.schema))
    columns = zip(names, types, relation.columns, strict=True)
    return replace(
        relation,
        columns=tuple(Named(name, cast(old.expression, type_)) for name, type_, old in columns),
    )


# --- VALUES ------------------------------------------------------------------------------------


def _values(node: exp.Values, context: Context) -> Relation:
    env = Environment(context, Scope(), "VALUES")
    rows = [[scalar(part, env) for part in _parts(row)] for row in node.expressions]
    if len({len(row) for row in rows}) > 1:
        raise BindError("column-count", "the rows of VALUES have different numbers of columns")
    columns = [_common(column, node, context) for column in zip(*rows, strict=True)]
    names = [f"col{number}" for number in range(1, len(columns) + 1)]
    typed = [[cast(value, t) for value, t in zip(row, columns, strict=True)] for row in rows]
    constants = [[v.value for v in row if isinstance(v, Literal)] for row in typed]
    if all(len(row) == len(columns) for row in constants):
        nulls = [None in column for column in zip(*constants, strict=True)]
        parts = zip(names, columns, nulls, strict=True)
        return Values(Schema(tuple(Column(*part) for part in parts)), tuple(map(tuple, constants)))
    result: Relation | None = None
    for row in typed:
        pairs = zip(names, row, strict=True)
        one = Map(Values(Schema(()), ((),)), tuple(Named(n, value) for n, value in pairs))
        result = one if result is None else UnionAll(result, one)
    assert result is not None
    return result


def _parts(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _common(values: tuple[Expression, ...], node: exp.Expr, context: Context) -> Type:
    type_ = values[0].type
    for value in values[1:]:
        wider = common_type(type_, value.type)
        if wider is None:
            raise BindError("type-mismatch", f"VALUES mixes {type_} and {value.type}")
        type_ = wider
    return type_


# --- subqueries --------------------------------------------------------------------------------


def _inner(node: exp.Expr, env: Environment, *, value: bool) -> Inner:
    """A subquery in an expression of a block."""
    context = env.context.inside(env.scope)
    first = _first_row(node) if value else None
    if first is not None and (found := _first(first, context)) is not None:
        return found
    select = _plain(node, value)
    if select is None:
        return _apart(node, context)
    block = Block(select, context, query, _inner, correlated=True)
    items = block.columns()
    if block.above.items:
        return _apart(node, context)  # only a query of its own joins values to its aggregates
    calls = list(block.grouping.calls.values()) if block.grouping is not None else []
    if block.grouping is not None:
        items = [block.checked(i, item.node) for i, item in zip(items, block.items, strict=True)]
    return Inner(items, calls, block.outer_terms, block.rows)


def _apart(node: exp.Expr, context: Context) -> Inner:
    """A subquery whose rows are those of a whole query."""
    known = Alias(query(node, context), context.names.fresh("subquery"))
    return Inner([Ref(column) for column in known.schema], [], [], _rows_of(known))


def _first_row(node: exp.Expr) -> exp.Select | None:
    """The SELECT ... ORDER BY ... LIMIT 1 that a subquery is, if it is no more than that."""
    while isinstance(node, exp.Subquery | exp.Paren) and not _modified(node):
        node = node.this
    if not isinstance(node, exp.Select) or not node.args.get("order") or len(node.expressions) != 1:
        return None
    limit = node.args.get("limit")
    if limit is None or limit.expression.name != "1":
        return None
    if any(node.args.get(key) for key in ("with_", "group", "having", "distinct", "offset")):
        return None
    parts = (*node.expressions, node.args["order"])
    made = any(map(holds_aggregate, parts)) or any(map(holds_window, parts))
    return None if made else node


def _first(select: exp.Select, context: Context) -> Inner | None:
    """The first row of a subquery as an aggregate, if the subquery depends on the outside."""
    block = Block(select, context, query, _inner, correlated=True)
    if not block.outer_terms:
        return None
    (item,) = block.columns()
    if block.below.items or block.above.items:
        raise refusals.VALUE_OF_AGGREGATES(context.span(select))
    call = AggregateCall("FIRST", (item,), order=block.sorted_by())
    named = NamedCall(aggregate_sql(call, column_text), call)
    return Inner([Ref(named.column)], [named], block.outer_terms, block.rows)


def _rows_of(relation: Relation) -> Callable[[tuple[Expression, ...]], Relation]:
    return lambda more: Filter(relation, conjunction(more)) if more else relation


def _plain(node: exp.Expr, value: bool) -> exp.Select | None:
    """The SELECT that a subquery is, if its rows can be joined with those of the query around."""
    while isinstance(node, exp.Subquery | exp.Paren) and not _modified(node):
        node = node.this
    if not isinstance(node, exp.Select) or _modified(node):
        return None
    if any(node.args.get(key) for key in ("group", "having")):
        return None
    if any(map(holds_window, node.expressions)):
        return None
    if value:
        return None if node.args.get("distinct") else node
    return None if any(map(holds_aggregate, node.expressions)) else node


def _modified(node: exp.Expr) -> bool:
    return any(node.args.get(key) for key in ("with_", "order", "limit", "offset"))
