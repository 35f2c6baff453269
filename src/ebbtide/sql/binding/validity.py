"""The window ``[VALID FROM a TO b]``: rows that say themselves when they are valid.

Law: a row is valid from ``a`` to ``b``, expressions over its columns; without FROM it is valid from
its time on.  If ``b`` is NULL or left out it never ends, and if ``a`` is NULL, or not before ``b``,
it is never valid.  That is a condition on NOW() over all facts, so nobody after the binder knows of
this window.
"""

from __future__ import annotations

from sqlglot import exp

from ebbtide.algebra.coercion import as_timestamp
from ebbtide.algebra.expression import (
    Comparison,
    Expression,
    IsNull,
    Or,
    Ref,
    SnapshotTime,
    conjunction,
    depends_on_now,
)
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.relation import Alias, Filter, Map, Named, Relation
from ebbtide.core.types import TIMESTAMP
from ebbtide.errors import BindError, TemporalError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.scalars import scalar
from ebbtide.sql.binding.scope import Scope, Visible

__all__ = ["valid"]


def valid(rows: Relation, name: str | None, node: nodes.WindowNode, context: Context) -> Relation:
    """The rows over the times that they give."""
    alias = context.names.fresh("source") if name is None else name
    known = Alias(rows, alias)
    visible = tuple(Visible(column.name, alias, Ref(column)) for column in known.schema)
    env = Environment(context, Scope(visible), "VALID")
    conditions: list[Expression] = []
    first, last = node.args.get("valid_from"), node.args.get("valid_to")
    if first is not None:
        conditions.append(Comparison(">=", SnapshotTime(), _time(first, env)))
    if last is not None:
        end = _time(last, env)
        before: Expression = Comparison("<", SnapshotTime(), end)
        conditions.append(Or(before, IsNull(end)) if nullable(end) else before)
    columns = tuple(Named(column.name, Ref(column)) for column in known.schema)
    return Map(Filter(known, conjunction(tuple(conditions))), columns)


def _time(node: exp.Expr, env: Environment) -> Expression:
    """An end of the validity: a time that follows from the row."""
    bound = scalar(node, env)
    with env.context.at(node):
        if depends_on_now(bound):
            raise TemporalError(
                "misplaced-now",
                "NOW() cannot stand in VALID",
                detail="the ends of a row's validity follow from its columns",
                hint="put the condition into WHERE",
            )
        time = as_timestamp(bound)
        if time.type != TIMESTAMP:
            raise BindError("not-a-time", f"VALID needs a TIMESTAMP, and this is {bound.type}")
    return time
