"""PIVOT, said by an aggregate with FILTER for each value.

Law: the tree that is left is the one of the query with the groups.

    FROM (SELECT k, c, x FROM t) PIVOT (SUM(x) FOR c IN ('a', 'b' AS z))
    FROM (SELECT k, SUM(x) FILTER (WHERE c = 'a') AS a, SUM(x) FILTER (WHERE c = 'b') AS z
          FROM (SELECT k, c, x FROM t) GROUP BY k)

It groups by the columns of its source that it does not name, so its source is a query that names
its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ebbtide.sql import nodes
from ebbtide.sql.made_nodes import column, fresh_names, name, own_parts, placed

__all__ = ["Pivot", "named_columns", "pivoted"]


@dataclass(frozen=True, slots=True)
class Pivot:
    """What stands in the parentheses: aggregates FOR a column IN values; None is not named."""

    calls: Sequence[tuple[nodes.Call, str | None]]
    by: exp.Column
    values: Sequence[tuple[exp.Expr, str]]

    @property
    def used(self) -> set[str]:
        """The columns that it names, in lower case."""
        found = [self.by, *(part for call, _ in self.calls for part in own_parts(call))]
        return {part.name.casefold() for part in found if isinstance(part, exp.Column)}

    def columns(self) -> Iterator[exp.Alias]:
        """An aggregate for each value."""
        for value, shown in self.values:
            for call, called in self.calls:
                made = call.copy()
                made.set("filter", self._condition(value, call.args.get("filter")))
                label = shown if len(self.calls) == 1 else f"{shown}_{called or call.this.lower()}"
                alias = exp.Alias(this=made, alias=name(label, call, quoted=True))
                placed(alias, call)
                yield alias

    def _condition(self, value: exp.Expr, more: exp.Expr | None) -> exp.Expr:
        chosen: exp.Expr = exp.EQ(this=self.by.copy(), expression=value.copy())
        placed(chosen, value)
        if more is not None:
            chosen = exp.And(this=exp.Paren(this=more.copy()), expression=chosen)
            placed(chosen, value)
        return chosen


def named_columns(query: exp.Expr) -> list[str] | None:
    """The names of the columns of a query that names them all."""
    if not isinstance(query, exp.Select):
        return None
    found = [item.alias_or_name for item in query.expressions]
    return found if all(found) and "*" not in found else None


def pivoted(query: exp.Expr, columns: Sequence[str], pivot: Pivot) -> exp.Select:
    """The query that a PIVOT of a query stands for."""
    kept = [each for each in columns if each.casefold() not in pivot.used]
    inside = exp.Subquery(
        this=query, alias=exp.TableAlias(this=name(next(fresh_names(query, "rows")), query))
    )
    start = exp.From(this=inside)
    made = exp.Select(
        expressions=[*(column(each, query) for each in kept), *pivot.columns()],
        from_=start,
        group=exp.Group(expressions=[column(each, query) for each in kept]) if kept else None,
    )
    for part in (inside.args["alias"], inside, start, made, made.args["group"]):
        if part is not None:
            placed(part, query)
    return made
