"""Subqueries that are values, as joins.

| in SQL | in the plan |
|---|---|
| `(q)` that depends on nothing outside | product with `q` as one row |
| `(q)` with `inner = outer` in WHERE | left join with `q` grouped by the inner sides |
| `(q)` with other conditions | left join with `q` joined to the outer values, grouped by them |
| `(SELECT x ... ORDER BY k LIMIT 1)` with conditions | as the aggregate `FIRST(x)` in that order |
| `IN` and `EXISTS` under OR, NOT, CASE | counts, as values |

Law: a subquery without rows is NULL as a value, but its COUNT is 0.  `x IN (q)` is unknown if no
row of `q` equals `x`, but one could: `x` or a row is NULL.  IN and EXISTS are ORs over the rows
of `q`: they are errors where what joins `q` to the row around it fails on a row of `q` and is TRUE
of none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.coercion import call, compare
from ebbtide.algebra.combination import Join, Outer, OuterJoin, Product
from ebbtide.algebra.expression import (
    And,
    Case,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
    Succeeds,
    Tried,
    conjunction,
    depends_on_now,
)
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.printing import sql
from ebbtide.algebra.quarantine import subquery_value
from ebbtide.algebra.relation import (
    SCALAR,
    Aggregate,
    Alias,
    Distinct,
    Map,
    Named,
    NamedCall,
    Relation,
    Values,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import find, rewrite
from ebbtide.core.types import BIGINT, BOOLEAN, INT
from ebbtide.errors import BindError
from ebbtide.plan_text.call_sql import aggregate_sql
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.context import Names
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.grouping import ordered_call
from ebbtide.sql.binding.naming import column_text, unique
from ebbtide.sql.binding.scalars import scalar
from ebbtide.sql.binding.scope import tables_of

__all__ = ["TRUE", "Above", "Attachments", "BindInner", "Inner", "operands"]

Above = Callable[[Expression, exp.Expr], Expression]
"""Takes an expression on a block's FROM, read at a node, to what the block has become."""


@dataclass(frozen=True, slots=True)
class Inner:
    """A subquery that has been bound: its columns, and the conditions that join it.

    ``calls`` are the aggregates that the columns are made of, over all rows.  ``relation`` are the
    rows that fulfil the subquery's own conditions, and more of them.
    """

    items: list[Expression]
    calls: list[NamedCall]
    outer_terms: list[Expression]
    relation: Callable[[tuple[Expression, ...]], Relation]


class BindInner(Protocol):
    """Binds a subquery; ``value`` says that its columns may be aggregates over all rows."""

    def __call__(self, node: exp.Expr, env: Environment, *, value: bool) -> Inner: ...


@dataclass(frozen=True, slots=True)
class Attachment:
    """What is joined to a block for a value: on a condition, or to every row."""

    relation: Relation
    predicate: Expression | None
    node: exp.Expr

    @property
    def tables(self) -> frozenset[str]:
        """The names by which the plan knows the value's columns."""
        known = (column.table for column in self.relation.schema)
        return frozenset(table.casefold() for table in known if table is not None)

    def onto(self, left: Relation, above: Above) -> Relation:
        """The block with the value's columns."""
        if self.predicate is None:
            return Product(left, self.relation)
        return OuterJoin(left, self.relation, above(self.predicate, self.node), Outer.LEFT)


@dataclass(frozen=True, slots=True)
class Dependent:
    """Aggregates of a subquery for each of the different values that it reads of the block.

    ``outside`` are what it reads, ``terms`` the conditions that join its ``rows`` to them; the
    plan knows the values by ``outer``, and what is joined to the block by ``alias``.
    """

    rows: Relation
    terms: tuple[Expression, ...]
    calls: tuple[NamedCall, ...]
    outside: tuple[Ref, ...]
    outer: str
    alias: str
    node: exp.Expr

    @property
    def tables(self) -> frozenset[str]:
        """The name by which the plan knows the aggregates."""
        return frozenset({self.alias.casefold()})

    def onto(self, left: Relation, above: Above) -> Relation:
        """The block with the aggregates."""
        read = [above(ref, self.node) for ref in self.outside]
        names: list[str] = []
        taken = [named.name for named in self.calls]
        for ref in self.outside:
            names.append(unique(ref.column.name, [*taken, *names]))
        values = Map(left, tuple(map(Named, names, read)))
        different = Alias(Distinct(values), self.outer)
        known = dict(zip(self.outside, map(different.ref, names), strict=True))

        def step(node: Expression) -> Expression:
            return known.get(node, node) if isinstance(node, Ref) else node

        terms = tuple(rewrite(term, step) for term in self.terms)
        joined: Relation = Product(different, self.rows)
        if terms:
            joined = Join(different, self.rows, conjunction(terms))
        calls = tuple(
            ordered_call(replace(named, call=_on(named.call, step)), joined) for named in self.calls
        )
        keys = tuple(Named(name, different.ref(name)) for name in names)
        grouped = Aggregate(joined, keys, calls)
        columns = tuple(Named(column.name, Ref(column)) for column in grouped.schema)
        found = Alias(Map(grouped, columns), self.alias)
        same = (
            Comparison("<=>" if nullable(value) else "=", value, found.ref(name))
            for value, name in zip(read, names, strict=True)
        )
        return OuterJoin(left, found, conjunction(tuple(same)), Outer.LEFT)


def _on(call: AggregateCall, step: Callable[[Expression], Expression]) -> AggregateCall:
    """A call on other columns."""
    return replace(
        call,
        arguments=tuple(rewrite(argument, step) for argument in call.arguments),
        filter=None if call.filter is None else rewrite(call.filter, step),
        order=tuple(replace(key, expression=rewrite(key.expression, step)) for key in call.order),
    )


@dataclass(slots=True)
class Attachments:
    """The values that subqueries of a block have; bound when they are met, joined later."""

    bind: BindInner
    names: Names
    items: list[Attachment | Dependent] = field(default_factory=list)
    known: dict[int, Expression] = field(default_factory=dict)

    def onto(self, relation: Relation, above: Above) -> Relation:
        """The relation with all of them."""
        for item in self.items:
            alone = isinstance(relation, Values)
            if alone and isinstance(item, Attachment) and item.predicate is None:
                relation = item.relation
            else:
                left = Alias(_ONE_ROW, self.names.fresh("row")) if alone else relation
                relation = item.onto(left, above)
        return relation

    def value(self, node: exp.Expr, env: Environment) -> Expression:
        """What a subquery stands for in an expression."""
        if id(node) not in self.known:
            match node:
                case exp.In():
                    self.known[id(node)] = self._in(node, env)
                case nodes.Quantified():
                    raise refusals.QUANTIFIED_VALUE(env.context.span(node))
                case exp.Exists():
                    self.known[id(node)] = self._exists(node, env)
                case _:
                    self.known[id(node)] = self._scalar(node, env)
        return self.known[id(node)]

    def _scalar(self, node: exp.Expr, env: Environment) -> Expression:
        inner = self.bind(node, env, value=True)
        if len(inner.items) != 1:
            raise BindError(
                "column-count",
                f"a subquery used as a value has one column, not {len(inner.items)}",
            )
        item, rows, terms = inner.items[0], inner.relation(()), tuple(inner.outer_terms)
        if inner.calls:
            return self._join(rows, inner.calls, terms, env, node)(item)
        if not terms and isinstance(rows, Values):
            return item
        if not terms and _one_row(rows):
            self.items.append(Attachment(rows, None, node))
            return item
        single = NamedCall(f"SINGLE({column_text(item)})", AggregateCall("SINGLE", (item,)))
        return self._join(rows, [single], terms, env, node)(Ref(single.column))

    def _exists(self, node: exp.Exists, env: Environment) -> Expression:
        inner = self.bind(node.this, env, value=False)
        rows, terms = inner.relation(()), tuple(inner.outer_terms)
        some = self._some(rows, _tried(terms, env), env, node)
        fails = self._some_fails(rows, (), terms, env, node)
        return some if fails is None else Case(((some, TRUE), (fails, FALSE)), FALSE)

    def _in(self, node: exp.In, env: Environment) -> Expression:
        # The subquery is joined below what computes window functions.
        here = replace(env, correlated=False, window=None, clause="an operand of IN")
        inner = self.bind(node.args["query"], env, value=False)
        outer = operands(node, inner, here)
        pairs = list(zip(outer, inner.items, strict=True))
        compared = tuple(compare("=", x, y) for x, y in pairs)
        rows, joining = inner.relation(()), tuple(inner.outer_terms)
        terms = _tried((*compared, *joining), env)
        branches = [(self._some(rows, terms, env, node), TRUE)]
        fails = self._some_fails(rows, compared, joining, env, node)
        if fails is not None:
            branches.append((fails, FALSE))
        if any(map(nullable, compared)):
            if len(pairs) > 1:
                raise refusals.IN_OF_SEVERAL_COLUMNS()
            unknown = self._unknown(*pairs[0], rows, _tried(joining, env), env, node)
            branches.append((unknown, Literal(None, BOOLEAN)))
        return branches[0][0] if len(branches) == 1 else Case(tuple(branches), FALSE)

    def _unknown(
        self,
        x: Expression,
        y: Expression,
        rows: Relation,
        terms: tuple[Expression, ...],
        env: Environment,
        node: exp.Expr,
    ) -> Expression:
        """Whether a comparison of a value with those of a subquery is NULL."""
        given = Tried(y) if _is_asked(y) else y
        every = NamedCall("COUNT(*)", AggregateCall("COUNT"))
        known = NamedCall(f"COUNT({column_text(y)})", AggregateCall("COUNT", (given,)))
        shown = self._join(rows, [every, known], terms, env, node)
        all_rows, all_known = shown(Ref(every.column)), shown(Ref(known.column))
        missing = And(IsNull(x), _positive(all_rows))
        return Or(missing, Comparison("<", all_known, all_rows))

    # --- pairs ----------------------------------------------------------------------------------

    def _some(
        self, rows: Relation, terms: tuple[Expression, ...], env: Environment, node: exp.Expr
    ) -> Expression:
        """Whether a row of a subquery fulfils the terms that join it."""
        every = NamedCall("COUNT(*)", AggregateCall("COUNT"))
        return _positive(self._join(rows, [every], terms, env, node)(Ref(every.column)))

    def _some_fails(
        self,
        rows: Relation,
        compared: tuple[Expression, ...],
        joining: tuple[Expression, ...],
        env: Environment,
        node: exp.Expr,
    ) -> Expression | None:
        """An error where terms fail on a row of a subquery, else FALSE; nothing if none can.

        A term that joins the subquery decides where it is NULL, a comparison of IN does not.
        """
        terms = (*compared, *joining)
        asked = tuple(filter(_is_asked, terms))
        if not asked:
            return None
        unsure = tuple(term for term in compared if nullable(term) and term not in asked)
        others = tuple(term for term in terms if term not in asked and term not in unsure)
        sides = _sides(asked[0], env) if len(asked) == 1 and not unsure else None
        decided = (term if term in compared else _decided(term) for term in asked)
        outside, inside = sides or (TRUE, conjunction((*unsure, *decided)))
        failing = AggregateCall("COUNT", filter=Not(Succeeds("", (inside,))))
        calls = [NamedCall("rows that fail", failing), NamedCall("rows", AggregateCall("COUNT"))]
        shown = self._join(rows, calls, others, env, node)
        some, every = (_positive(shown(Ref(named.column))) for named in calls)
        if _is_asked(outside):
            some = Or(some, And(every, Not(Succeeds("", (outside,)))))
        return Not(subquery_value(sql(conjunction(asked)), some))

    # --- joining --------------------------------------------------------------------------------

    def _join(
        self,
        rows: Relation,
        calls: list[NamedCall],
        every: tuple[Expression, ...],
        env: Environment,
        node: exp.Expr,
    ) -> Callable[[Expression], Expression]:
        """Joins aggregates of a subquery, by the terms that it has with the outside."""
        keys: list[Named] = []
        terms: list[tuple[Expression, str]] = []
        reads = any(_read_outside(named.call, env) for named in calls)
        if reads or any(_sides(term, env) is None for term in every):
            return self._depend(rows, every, calls, env, node)
        for outside, inside in filter(None, (_sides(term, env) for term in every)):
            known = next((key for key in keys if key.expression == inside), None)
            if known is None:
                wanted = inside.column.name if isinstance(inside, Ref) else column_text(inside)
                taken = [key.name for key in keys] + [named.name for named in calls]
                known = Named(unique(wanted, taken), inside)
                keys.append(known)
            terms.append((outside, known.name))
        grouped = Aggregate(rows, tuple(keys), tuple(ordered_call(c, rows) for c in calls))
        columns = tuple(Named(column.name, Ref(column)) for column in grouped.schema)
        joined = Alias(Map(grouped, columns), self.names.fresh(SCALAR))
        predicate = conjunction(
            tuple(Comparison("=", outside, joined.ref(name)) for outside, name in terms)
        )
        self.items.append(Attachment(joined, predicate if terms else None, node))
        return _shown(joined, calls, bool(terms))

    def _depend(
        self,
        rows: Relation,
        terms: tuple[Expression, ...],
        calls: list[NamedCall],
        env: Environment,
        node: exp.Expr,
    ) -> Callable[[Expression], Expression]:
        """Joins aggregates of a subquery, by any conditions that it has on the outside."""
        parts = (*terms, *(part for named in calls for part in _parts(named.call)))
        refs = (ref for part in parts for ref in find(part, Ref))
        outside = tuple(
            dict.fromkeys(ref for ref in refs if tables_of(ref) & env.scope.plan_tables)
        )
        if any(ref.column.table is None for part in parts for ref in find(part, Ref)):
            raise refusals.VALUE_OF_AGGREGATES(env.context.span(node))
        inside: Callable[[Expression], Expression] = _same
        if not isinstance(rows, Alias):
            rows, inside = _closed(rows, self.names.fresh("inside"))
            terms = tuple(rewrite(term, inside) for term in terms)
        alias = self.names.fresh(SCALAR)
        outer = self.names.fresh("outside")
        made = _renamed([_on(named.call, inside) for named in calls], outside, outer)
        self.items.append(Dependent(rows, terms, tuple(made), outside, outer, alias, node))
        pairs = zip(calls, made, strict=True)
        return _valued(calls, {c.name: replace(m.column, table=alias) for c, m in pairs}, True)


def _same(expression: Expression) -> Expression:
    return expression


def _renamed(calls: list[AggregateCall], outside: tuple[Ref, ...], outer: str) -> list[NamedCall]:
    """Calls under the names that they have where the outer values stand in ``outer``."""

    def step(node: Expression) -> Expression:
        return (
            Ref(replace(node.column, table=outer))
            if isinstance(node, Ref) and node in outside
            else node
        )

    made: list[NamedCall] = []
    for called in calls:
        text = aggregate_sql(_on(called, step), column_text)
        made.append(NamedCall(unique(text, [named.name for named in made]), called))
    return made


def _closed(rows: Relation, alias: str) -> tuple[Alias, Callable[[Expression], Expression]]:
    """Rows as a query in FROM, and what takes their columns to those of it."""
    names: list[str] = []
    for column in rows.schema:
        names.append(unique(column.name, names))
    refs = [Ref(column) for column in rows.schema]
    known = Alias(Map(rows, tuple(map(Named, names, refs))), alias)
    columns = dict(zip(refs, map(known.ref, names), strict=True))

    def step(node: Expression) -> Expression:
        return columns.get(node, node) if isinstance(node, Ref) else node

    return known, step


TRUE, FALSE = Literal(True, BOOLEAN), Literal(False, BOOLEAN)
_ONE_ROW = Map(Values(Schema(()), ((),)), (Named("one", Literal(1, INT)),))
"""What stands for a missing FROM where something is joined to it: SELECT 1 AS one."""


def _is_asked(expression: Expression) -> bool:
    """Whether it is asked of each pair whether an expression fails on it."""
    return can_fail(expression) and not depends_on_now(expression)


def _decided(term: Expression) -> Expression:
    """The term, and FALSE where it is NULL."""
    return call("COALESCE", (term, FALSE)) if nullable(term) else term


def _tried(terms: tuple[Expression, ...], env: Environment) -> tuple[Expression, ...]:
    """Terms that are NULL where they fail; an equality that joins stays one."""

    def tried(part: Expression) -> Expression:
        return Tried(part) if _is_asked(part) else part

    found = []
    for term in terms:
        sides = _sides(term, env)
        found.append(tried(term) if sides is None else Comparison("=", *map(tried, sides)))
    return tuple(found)


def _positive(count: Expression) -> Expression:
    return Comparison(">", count, Literal(0, BIGINT))


def _one_row(relation: Relation) -> bool:
    """Whether a query in FROM always has one row."""
    query = relation.input if isinstance(relation, Alias) else relation
    rows = query.input if isinstance(query, Map) else query
    return isinstance(rows, Values) or (isinstance(rows, Aggregate) and not rows.keys)


def _shown(
    known: Alias, calls: list[NamedCall], may_miss: bool
) -> Callable[[Expression], Expression]:
    """Takes aggregates to columns of the joined relation, or to what they are on no rows."""
    columns = {named.name: known.schema.column(named.name, known.name) for named in calls}
    return _valued(calls, columns, may_miss)


def _valued(
    calls: list[NamedCall], joined: dict[str, Column], may_miss: bool
) -> Callable[[Expression], Expression]:
    columns: dict[Column, Expression] = {}
    for named in calls:
        column = joined[named.name]
        value: Expression = Ref(column)
        if may_miss:
            value = Ref(replace(column, nullable=True))
            empty = named.call.function.result(named.call.function.initial)
            if empty is not None:
                value = call("COALESCE", (value, Literal(empty, column.type)))
        columns[named.column] = value

    def step(node: Expression) -> Expression:
        return columns.get(node.column, node) if isinstance(node, Ref) else node

    return lambda expression: rewrite(expression, step)


def _sides(term: Expression, env: Environment) -> tuple[Expression, Expression] | None:
    """The outer and the inner side of an equality that joins a subquery to the outside."""
    outer = env.scope.plan_tables
    if isinstance(term, Comparison) and term.op == "=":
        for outside, inside in ((term.left, term.right), (term.right, term.left)):
            if tables_of(outside) <= outer and not tables_of(inside) & outer:
                return outside, inside
    return None


def _parts(called: AggregateCall) -> tuple[Expression, ...]:
    """The expressions in a call."""
    filters = () if called.filter is None else (called.filter,)
    return (*called.arguments, *filters, *(key.expression for key in called.order))


def _read_outside(called: AggregateCall, env: Environment) -> bool:
    return any(tables_of(part) & env.scope.plan_tables for part in _parts(called))


def operands(node: exp.In | nodes.Quantified, inner: Inner, env: Environment) -> list[Expression]:
    """What stands before IN, to be compared with the columns of the subquery."""
    given = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    if len(given) != len(inner.items):
        word, inside = "IN" if isinstance(node, exp.In) else "ANY", len(inner.items)
        raise BindError(
            "column-count",
            f"{word} has {_columns(len(given))} on the left and {inside} in the subquery",
        )
    return [scalar(operand, env) for operand in given]


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"
