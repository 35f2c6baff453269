"""GROUP BY and aggregates: what the expressions of a grouped block stand on.

Law: above the Aggregate an expression is made of its keys, its aggregates, and nothing else of the
input.  An expression is bound on the input first, each aggregate standing for the column that it
will make; then every part that equals a key becomes the key's column.

Columns of the input have a table, columns of the Aggregate have none, so the two cannot be taken
for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Expression, Ref, depends_on_now
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.group_instants import AT_NOW, PHASED, over_expressions
from ebbtide.algebra.origin import tie_break
from ebbtide.algebra.phases import comparisons, one_by_one
from ebbtide.algebra.relation import Aggregate, Alias, Map, Named, NamedCall, Relation
from ebbtide.core.schema import Column
from ebbtide.core.tree import find, fold
from ebbtide.errors import BindError, EbbtideError
from ebbtide.plan_text.call_sql import aggregate_sql
from ebbtide.sql import nodes
from ebbtide.sql.binding.calls import aggregate_call
from ebbtide.sql.binding.context import Names
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.naming import column_text, unique
from ebbtide.sql.binding.scalars import scalar

__all__ = ["Grouping", "ordered_call"]

Move = Callable[[Expression], Expression]

# What is one value in a window, so that groups by windows mean to have it.
_ENDS = ("window_start", "window_end")


@dataclass(slots=True)
class Grouping:
    """The keys and aggregates of a block, as its expressions are bound."""

    keys: list[Named] = field(default_factory=list)
    calls: dict[AggregateCall, NamedCall] = field(default_factory=dict)
    closed: dict[str, Column] = field(default_factory=dict)
    renamed: dict[str, Column] = field(default_factory=dict)
    subquery: Callable[[exp.Expr, Environment], Expression] | None = None

    def add_key(self, expression: Expression) -> None:
        """Groups by one more expression."""
        if all(key.expression != expression for key in self.keys):
            self.keys.append(Named(self._unused(_wanted(expression)), expression))

    def aggregate(self, node: nodes.Call, env: Environment) -> Expression:
        """The column that an aggregate will make."""
        inner = replace(env.within("an aggregate"), subquery=self.subquery)
        call = aggregate_call(node, inner, scalar)
        if call not in self.calls:
            self.calls[call] = NamedCall(self._unused(aggregate_sql(call, column_text)), call)
        return Ref(self.calls[call].column)

    def _unused(self, wanted: str) -> str:
        return unique(
            wanted, [key.name for key in self.keys] + [call.name for call in self.calls.values()]
        )

    def on(self, relation: Relation, names: Names) -> Aggregate:
        """The groups of a relation."""
        keys, given = list(self.keys), list(self.calls.values())
        if any(map(depends_on_now, _parts_of(keys, given))):
            relation, keys, given = self._below_now(relation, keys, given, names)
        calls = tuple(ordered_call(named, relation) for named in given)
        return Aggregate(relation, tuple(keys), calls)

    def _below_now(
        self, relation: Relation, keys: list[Named], calls: list[NamedCall], names: Names
    ) -> tuple[Relation, list[Named], list[NamedCall]]:
        """What depends on NOW() as columns of a query in FROM, and the groups over these.

        What can fail stays with the groups, so that it is an error of theirs; a time that NOW() is
        compared with is brought back to them where it fails (``algebra.group_instants``).
        """
        keys = [replace(key, expression=one_by_one(key.expression)) for key in keys]
        calls = [NamedCall(c.name, over_expressions(c.call, one_by_one)) for c in calls]
        parts = [part for part in _parts_of(keys, calls) if depends_on_now(part)]
        moving = [column for part in parts for column in _moving(part)]
        columns: list[Named] = []
        for expression in (*map(Ref, relation.schema), *dict.fromkeys(moving)):
            wanted = expression.column.name if isinstance(expression, Ref) else AT_NOW
            taken = [named.name for named in columns]
            columns.append(Named(unique(wanted, taken), expression))
        below = Alias(Map(relation, tuple(columns)), names.fresh(PHASED))
        made = {
            named.expression: Ref(column)
            for named, column in zip(columns, below.schema, strict=True)
        }

        def moved(expression: Expression) -> Expression:
            return made.get(expression) or expression.with_children(
                tuple(map(moved, expression.children))
            )

        taken = []
        for key in keys:
            expression = moved(key.expression)
            taken.append(unique(_wanted(expression), taken))
            self.renamed[key.name] = Named(taken[-1], expression).column
        grouped = [
            Named(name, moved(key.expression)) for name, key in zip(taken, keys, strict=True)
        ]
        called = []
        for named in calls:
            call = over_expressions(named.call, moved)
            taken.append(unique(aggregate_sql(call, column_text), taken))
            called.append(NamedCall(taken[-1], call))
            self.renamed[named.name] = called[-1].column
        return below, grouped, called

    def close(self, relation: Aggregate, alias: str) -> Relation:
        """The groups as a query in FROM, for what stands beside them to be joined."""
        columns = tuple(Named(column.name, Ref(column)) for column in relation.schema)
        known = Alias(Map(relation, columns), alias)
        self.closed = {column.name: column for column in known.schema}
        return known

    # --- from the input to the groups -----------------------------------------------------------

    def above(self, expression: Expression) -> Expression:
        """An expression on the input as one on the groups, where it is one."""
        columns = {key.expression: Ref(self._shown(key.column)) for key in self.keys}

        def step(node: Expression, children: tuple[Expression, ...]) -> Expression:
            if node in columns:
                return columns[node]
            if isinstance(node, Ref) and node.column.table is None:
                return Ref(self._shown(node.column))
            return node.with_children(children)

        return fold(expression, step)

    def _shown(self, column: Column) -> Column:
        made = self.renamed.get(column.name, column)
        return self.closed.get(made.name, made)

    def check(
        self, expression: Expression, node: exp.Expr, env: Environment, joined: frozenset[str]
    ) -> Expression:
        """The expression on the groups, if there is nothing else of the input in it.

        ``joined`` are the tables of the values of subqueries that stand beside the groups.
        """
        bound = self.above(expression)
        known = set(self.closed.values())
        for ref in find(bound, Ref):
            table = ref.column.table
            if table is not None and table.casefold() not in joined and ref.column not in known:
                raise self._not_grouped(ref.column, node, env)
        return bound

    def _not_grouped(self, column: Column, node: exp.Expr, env: Environment) -> BindError:
        place = _place(column, node, env)
        star = isinstance(place, exp.Star) or isinstance(place.this, exp.Star)
        text = column_text(Ref(column)) if star else env.context.span(place).text
        inside = place.find_ancestor(exp.Select) is not node.find_ancestor(exp.Select)
        return BindError(
            "not-grouped",
            f'"{text}" has many values in a group, and is neither grouped by nor aggregated',
            detail=f"grouped by {', '.join(column_text(key.expression) for key in self.keys)}"
            if self.keys
            else "without GROUP BY all rows are one group",
            hint=f"group by {text} as well"
            if star or inside or column.name.casefold() in _ENDS
            else f"write FIRST({text})",
            span=env.context.span(place),
        )


def ordered_call(named: NamedCall, relation: Relation) -> NamedCall:
    """An aggregate over a relation, its order completed by what breaks ties."""
    call = named.call
    if not call.function.ordered:
        return named
    return NamedCall(named.name, replace(call, order=call.order + tie_break(relation, call.order)))


def _place(column: Column, node: exp.Expr, env: Environment) -> exp.Expr:
    """Where in a node a column is named."""
    plain = replace(env, aliases={}, correlated=True)
    for candidate in node.find_all(exp.Column):
        if isinstance(candidate.this, exp.Star):
            continue
        try:
            bound = scalar(candidate, plain)
        except EbbtideError:  # a column of a subquery
            continue
        if any(ref.column == column for ref in find(bound, Ref)):
            return candidate
    return node


def _wanted(expression: Expression) -> str:
    """The name of the column that a key makes."""
    return expression.column.name if isinstance(expression, Ref) else column_text(expression)


def _parts_of(keys: list[Named], calls: list[NamedCall]) -> list[Expression]:
    """All that keys and aggregates are computed from."""
    found = [key.expression for key in keys]
    for named in calls:
        call = named.call
        found += [*call.arguments, *(key.expression for key in call.order)]
        found += [] if call.filter is None else [call.filter]
    return found


def _moving(part: Expression) -> tuple[Expression, ...]:
    """What of a part is computed below the groups: all of it, or if it can fail its comparisons."""
    return comparisons(part) if can_fail(part) else (part,)
