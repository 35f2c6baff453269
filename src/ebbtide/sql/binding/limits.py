"""ORDER BY ... LIMIT: the first rows in an order.

A result is a bag at every instant, so an order without a limit would be lost; it is refused.
"""

from __future__ import annotations

from sqlglot import exp

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.origin import tie_break
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.relation import Relation
from ebbtide.core.tree import find, fold
from ebbtide.errors import BindError
from ebbtide.sql import refusals
from ebbtide.sql.binding.context import Context

__all__ = ["limited", "on_selected", "row_count"]

_NEED_LIMIT = {
    "order": refusals.ORDER_WITHOUT_LIMIT,
    "offset": refusals.OFFSET_WITHOUT_LIMIT,
}


def row_count(query: exp.Expr, context: Context) -> tuple[int | None, int]:
    """LIMIT and OFFSET of a query; no LIMIT is None."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if limit is None:
        for key, refusal in _NEED_LIMIT.items():
            clause = query.args.get(key)
            if clause is not None:
                span = context.span(clause)
                raise refusal(span, clause=span.text)
        return None, 0
    return int(limit.expression.name), int(offset.expression.name) if offset is not None else 0


def limited(relation: Relation, order: tuple[SortKey, ...], count: int, offset: int) -> TopN:
    """The first rows of a relation, ties broken by time and key."""
    return TopN(relation, count, order + tie_break(relation, order), offset=offset)


def on_selected(
    expression: Expression,
    relation: Relation,
    columns: list[Expression],
    node: exp.Expr,
    context: Context,
) -> Expression:
    """An expression on the columns that SELECT DISTINCT has left."""
    made: dict[Expression, Expression] = {}
    for column, shown in zip(columns, relation.schema, strict=True):
        made.setdefault(column, Ref(shown))

    def step(part: Expression, children: tuple[Expression, ...]) -> Expression:
        return made[part] if part in made else part.with_children(children)

    bound = fold(expression, step)
    if any(ref not in made.values() for ref in find(bound, Ref)):
        text = context.span(node).text
        raise BindError(
            "not-selected",
            f"ORDER BY {text} is not in the list of SELECT DISTINCT",
            detail="after DISTINCT only the selected columns are left",
            span=context.span(node),
        )
    return bound
