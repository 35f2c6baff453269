"""A plan as SQL.

Law: for a plan that the binder has made, the text is bound to the same plan.  The operators of a
SELECT are put back into its clauses, in the order in which the binder stacks them:

    FROM, WHERE (Filter, SemiJoin, AntiJoin), GROUP BY and HAVING (Aggregate, Filter), OVER,
    ORDER BY ... LIMIT (TopN), SELECT (Map), DISTINCT

A TopN that numbers its rows is a condition on the number in the query around it.  Other plans,
such as an optimizer makes, print as well: an operator that does not fit into its clause becomes a
query in FROM.
"""

from __future__ import annotations

from dataclasses import replace

from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    MaxUnion,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.printing import sql
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.relation import (
    Alias,
    ChangingTable,
    Distinct,
    Relation,
    StaticTable,
    Stream,
    Values,
    View,
)
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
from ebbtide.core.time import format_duration
from ebbtide.plan_text.block import as_one_table, block_of, is_limit, listed
from ebbtide.plan_text.select_sql import Select, limit_sql
from ebbtide.plan_text.source_sql import default_name, values_sql

_SET_OPERATIONS: dict[type[Relation], str] = {
    UnionAll: "UNION ALL",
    MaxUnion: "UNION MAX",
    Difference: "EXCEPT ALL",
    StrictDifference: "EXCEPT",
}


def plan_sql(plan: Relation) -> str:
    """The SQL text of a plan."""
    words = _set_operation(plan)
    if words is not None:
        left, right = (plan.input if isinstance(plan, Distinct) else plan).children
        return f"{_left(left, words)} {words} {_right(right)}"
    match plan:
        case Istream() | Dstream():
            return f"{type(plan).__name__.upper()}({plan_sql(plan.input)})"
        case Rstream():
            return f"RSTREAM({plan_sql(plan.input)} EVERY {format_duration(plan.every_us)})"
        case Values() if plan.columns:
            return values_sql(plan)
        case _:
            return _select(plan)


def _set_operation(plan: Relation) -> str | None:
    """The words of a set operation; None of what is none."""
    match plan:
        case Distinct(input=UnionAll()):
            return "UNION"
        case Intersection():
            return "INTERSECT ALL" if plan.all else "INTERSECT"
        case _:
            return _SET_OPERATIONS.get(type(plan))


def _left(plan: Relation, words: str) -> str:
    """The left side of a set operation; INTERSECT binds more tightly than the others."""
    inner = _set_operation(plan)
    same = inner is not None and inner.startswith("INTERSECT") == words.startswith("INTERSECT")
    return plan_sql(plan) if same else _right(plan)


def _right(plan: Relation) -> str:
    block = block_of(plan) if _set_operation(plan) is None else None
    bare = block is not None and block.limit is None and not block.numbered
    return plan_sql(plan) if bare else f"({plan_sql(plan)})"


def _select(plan: Relation) -> str:
    block = block_of(plan)
    if block is not None and not block.numbered:
        return Select(block, plan_sql).text()
    if block is not None:
        return plan_sql(listed(Alias(plan, "plan")))
    match plan:
        case TopN() if is_limit(plan) and all(column.table is None for column in plan.schema):
            return f"({plan_sql(plan.input)}){limit_sql(plan, sql)}"
        case TopN(number_as=None) if plan.partition_by:
            return plan_sql(listed(replace(plan, number_as="number")))
        case Distinct():
            return plan_sql(Distinct(listed(plan.input)))
        case _ if _is_named(plan) and as_one_table(plan) is plan:
            return plan_sql(listed(Alias(plan, default_name(plan) or "plan")))
        case _:
            return plan_sql(listed(plan))


def _is_named(plan: Relation) -> bool:
    """Whether a plan needs an alias in FROM."""
    named = Stream | StaticTable | ChangingTable | View | Window | Tumble | Hop | Session | Cumulate
    return isinstance(plan, named)
