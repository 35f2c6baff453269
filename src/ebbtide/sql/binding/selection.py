"""A SELECT as a whole.

Its clauses become operators in this order, each only where it is needed:

    FROM, with the values of subqueries joined to it
    Filter, SemiJoin, AntiJoin      WHERE
    Aggregate, Filter               GROUP BY, HAVING
    Over                            OVER
    TopN                            ORDER BY ... LIMIT
    Map                             the SELECT list
    Distinct, TopN                  DISTINCT, and ORDER BY ... LIMIT with it

If the groups have to be joined with subqueries, they become a query in FROM of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.expression import Expression, conjunction, conjuncts
from ebbtide.algebra.relation import Distinct, Filter, Map, Named, Relation
from ebbtide.errors import BindError, InternalError
from ebbtide.sql import nodes
from ebbtide.sql.binding.calls import sort_key
from ebbtide.sql.binding.clauses import and_parts, is_grouped, made_by, without_not
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.framing import Framing
from ebbtide.sql.binding.grouping import Grouping
from ebbtide.sql.binding.instants import checked_now, mentions_now
from ebbtide.sql.binding.items import SelectItem, listed
from ebbtide.sql.binding.joins import from_clause
from ebbtide.sql.binding.limits import limited, on_selected, row_count
from ebbtide.sql.binding.ranking import top_ranks
from ebbtide.sql.binding.scalars import condition, scalar
from ebbtide.sql.binding.scope import Scope, tables_of
from ebbtide.sql.binding.semijoins import Semi, semi_join
from ebbtide.sql.binding.sources import BindQuery
from ebbtide.sql.binding.subqueries import Above, Attachments, BindInner

__all__ = ["Block"]


_SUBQUERIES = (exp.Exists, exp.In, nodes.Quantified)


@dataclass(slots=True)
class Conditions:
    """What WHERE or HAVING demands: terms, and semi joins with subqueries."""

    terms: list[Expression]
    semis: list[Semi]


class Block:
    """A SELECT while it is bound."""

    def __init__(
        self,
        select: exp.Select,
        context: Context,
        bind: BindQuery,
        inner: BindInner,
        *,
        correlated: bool = False,
    ) -> None:
        self.select = select
        if mentions_now(select) is not None:
            context = replace(context, with_now=True)
        self.context = context
        self.inner = inner
        self.correlated = correlated
        self.from_on: list[Expression] = []
        self.source = from_clause(select, context, bind, self._on)
        self.scope = self.source.scope
        self.below = Attachments(inner, context.names)
        self.above = Attachments(inner, context.names)
        self.framing = Framing()
        self.grouping = Grouping(subquery=self.below.value) if is_grouped(select) else None
        self.items = listed(select, self.scope, context)
        self.where = self._conditions("where", self._env("WHERE"))
        self.where.terms = [*self.source.moving, *self.from_on, *self.where.terms]
        self.outer_terms = self._joining() if correlated else []
        self.having = Conditions([], [])

    # --- clauses --------------------------------------------------------------------------------

    def _env(self, clause: str) -> Environment:
        correlated = self.correlated and clause == "WHERE"
        return Environment(
            self.context,
            self.scope,
            clause,
            correlated,
            subquery=self.below.value,
            unseen=self._aliases() if clause == "WHERE" else {},
        )

    def _upper(self, clause: str, *, aliases_first: bool = False) -> Environment:
        """The environment of a clause that comes after grouping."""
        env = replace(self._env(clause), aliases=self._aliases(), aliases_first=aliases_first)
        if self.grouping is not None:
            env = replace(env, aggregate=self.grouping.aggregate, subquery=self.above.value)
        return env if clause == "HAVING" else replace(env, window=self.framing.window)

    def _aliases(self) -> dict[str, exp.Expr]:
        return {item.name.casefold(): item.node for item in self.items if item.named}

    def _on(self, node: exp.Expr, scope: Scope, inner: bool) -> Expression:
        """The condition of a join; of an inner one, what names the block around is as in WHERE."""
        env = Environment(self.context, scope, "ON", inner and self.correlated)
        terms = conjuncts(checked_now(condition(node, env), node, self.context))
        own = scope.plan_tables
        self.from_on += [term for term in terms if tables_of(term) - own]
        return conjunction(tuple(term for term in terms if not tables_of(term) - own))

    def _conditions(self, clause: str, env: Environment) -> Conditions:
        found = Conditions([], [])
        node = self.select.args.get(clause)
        for part in and_parts(node.this) if node is not None else ():
            core, negated = without_not(part)
            if isinstance(core, _SUBQUERIES) and not core.expressions:
                with self.context.at(core):
                    found.semis.append(semi_join(core, negated, env, self.inner))
                continue
            found.terms += conjuncts(checked_now(condition(part, env), part, self.context))
        return found

    def _joining(self) -> list[Expression]:
        """Takes the terms of WHERE that name the block around, which joins this one by them."""
        values = (table for item in self.below.items for table in item.tables)
        own = self.scope.plan_tables | frozenset(values)
        joining = [term for term in self.where.terms if tables_of(term) - own]
        self.where.terms = [term for term in self.where.terms if not tables_of(term) - own]
        return joining

    def _group(self) -> None:
        clause = self.select.args.get("group")
        if self.grouping is None or clause is None:
            return
        env = replace(self._env("GROUP BY"), aliases=self._aliases())
        for node in clause.expressions:
            item = self._ordinal(node, "GROUP BY")
            with self.context.at(node):
                if item is None:
                    self.grouping.add_key(scalar(node, env))
                else:
                    self.grouping.add_key(item.expression or scalar(item.node, env))

    def _ordinal(self, node: exp.Expr, clause: str) -> SelectItem | None:
        """The item of the SELECT list that a number stands for."""
        if not isinstance(node, exp.Literal) or node.is_string:
            return None
        text = str(node.this)
        if not text.isdigit() or not 1 <= int(text) <= len(self.items):
            raise BindError(
                "bad-position",
                f"{clause} {text} is not a column of the SELECT list, which has {len(self.items)}",
                hint=f"write {len(self.items)}",
                span=self.context.span(node),
            )
        return self.items[int(text) - 1]

    # --- the plan -------------------------------------------------------------------------------

    def rows(self, more: tuple[Expression, ...] = ()) -> Relation:
        """What FROM and WHERE give."""
        relation = self.below.onto(self.source.relation, lambda expression, _: expression)
        terms = (*self.where.terms, *more)
        relation, terms = top_ranks(relation, terms)
        self._place(relation, "where")
        return self._filtered(relation, list(terms), self.where.semis, lambda e, _: e)

    def columns(self) -> list[Expression]:
        """The expressions of the SELECT list, on FROM and on aggregates."""
        env = self._upper("SELECT")
        env = replace(
            env,
            aliases={},
            unseen=self._aliases(),
            correlated=self.correlated and self.grouping is None,
        )
        return [
            item.expression or checked_now(scalar(item.node, env), item.node, self.context)
            for item in self.items
        ]

    def plan(self) -> Relation:
        """The whole SELECT as a plan; only a subquery has terms that join it to a block around."""
        if self.outer_terms:
            raise InternalError(
                "not-bound", "a condition on the query around has no part in the plan"
            )
        self._group()
        columns = self.columns()
        self.having = self._conditions("having", self._upper("HAVING"))
        order = self._order()
        relation = self._grouped(self.having)
        relation = self.framing.on(relation, lambda expression: self._raised(expression))
        self._place(relation, "over")
        columns = [
            self._final(column, item.node) for column, item in zip(columns, self.items, strict=True)
        ]
        keys = [replace(key, expression=self._final(key.expression, node)) for node, key in order]
        return self._projected(relation, columns, tuple(keys), [node for node, _ in order])

    def _grouped(self, having: Conditions) -> Relation:
        relation = self.rows()
        if self.grouping is None:
            return relation
        grouped = self.grouping.on(relation, self.context.names)
        self._place(grouped, "group")
        if not self.above.items and not having.semis:
            terms = [self.checked(term, self.select.args["having"]) for term in having.terms]
            return Filter(grouped, conjunction(tuple(terms))) if terms else grouped
        closed = self.grouping.close(grouped, self.context.names.fresh("grouped"))
        joined = self.above.onto(closed, self.checked)
        terms = [self.checked(term, self.select.args["having"]) for term in having.terms]
        return self._filtered(joined, terms, having.semis, self.checked)

    def _raised(self, expression: Expression) -> Expression:
        return expression if self.grouping is None else self.grouping.above(expression)

    def checked(self, expression: Expression, node: exp.Expr) -> Expression:
        """An expression on FROM as one on what the block has become."""
        if self.grouping is None:
            return expression
        beside = [semi.relation for semi in self.having.semis]
        known = frozenset(table for relation in beside for table in _tables_in(relation))
        known = known.union(*(item.tables for item in self.above.items))
        return self.grouping.check(expression, node, self._env("SELECT"), known)

    def _final(self, expression: Expression, node: exp.Expr) -> Expression:
        return self.framing.above(self.checked(expression, node))

    def _order(self) -> list[tuple[exp.Expr, SortKey]]:
        clause = self.select.args.get("order")
        env = self._upper("ORDER BY", aliases_first=True)
        keys = []
        for node in clause.expressions if clause is not None else ():
            item = self._ordinal(node.this, "ORDER BY")
            target = node.this if item is None else item.node
            plain = env if item is None else replace(env, aliases={})
            expression = item.expression if item is not None else None
            keys.append((target, sort_key(node, expression or scalar(target, plain))))
        return keys

    def sorted_by(self) -> tuple[SortKey, ...]:
        """The keys of ORDER BY."""
        return tuple(key for _, key in self._order())

    def _projected(
        self,
        relation: Relation,
        columns: list[Expression],
        order: tuple[SortKey, ...],
        nodes_: list[exp.Expr],
    ) -> Relation:
        count, offset = row_count(self.select, self.context)
        distinct = bool(self.select.args.get("distinct"))
        if count is not None and not distinct:
            relation = self._place(limited(relation, order, count, offset), "limit")
        pairs = zip(self.items, columns, strict=True)
        result: Relation = Map(relation, tuple(Named(item.name, c) for item, c in pairs))
        if not distinct:
            return result
        self.context.placed(result, self.select)
        result = self._place(Distinct(result), "distinct")
        if count is None:
            return result
        keys = tuple(
            replace(
                key, expression=on_selected(key.expression, result, columns, node, self.context)
            )
            for key, node in zip(order, nodes_, strict=True)
        )
        return self._place(limited(result, keys, count, offset), "limit")

    def _filtered(
        self, relation: Relation, terms: list[Expression], semis: list[Semi], above: Above
    ) -> Relation:
        if terms:
            relation = Filter(relation, conjunction(tuple(terms)))
        for semi in semis:
            relation = self.context.placed(semi.onto(relation, above), semi.node)
        return relation

    def _place(self, relation: Relation, clause: str) -> Relation:
        """The relation, the new operators of which are made by a clause."""
        return self.context.placed(relation, made_by(self.select, clause))


def _tables_in(relation: Relation) -> Iterator[str]:
    for column in relation.schema:
        if column.table is not None:
            yield column.table.casefold()
