"""The FROM clause: joins of sources, and the names that they bring.

Law: a comma binds less tightly than JOIN.  Of the columns that USING names, ``*`` and the bare name
show one: the left one, the right one of a RIGHT JOIN, and whichever is there of a FULL JOIN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.coercion import call, compare
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Join,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
)
from ebbtide.algebra.expression import Comparison, Expression, Ref, conjunction, conjuncts
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.origin import default_time, tie_break
from ebbtide.algebra.relation import Filter, Relation, Values
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find
from ebbtide.core.types import TimestampType
from ebbtide.errors import BindError, TemporalError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.as_of import facts_of, joined_as_of
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.instants import moving_of, read_always, without_now
from ebbtide.sql.binding.places import kind_of, note
from ebbtide.sql.binding.scope import Scope, Visible, tables_of
from ebbtide.sql.binding.sources import BindQuery, BoundSource, aliased, bare, within_lifetime
from ebbtide.sql.binding.unnesting import unnested

__all__ = ["Condition", "from_clause"]

Condition = Callable[[exp.Expr, Scope, bool], Expression]
"""Binds the condition of a join, an inner one whose rows nothing else keeps if the last is true."""

_NOTHING = Values(Schema(()), ((),))


def from_clause(
    select: exp.Select, context: Context, bind: BindQuery, condition: Condition
) -> BoundSource:
    """The sources of a SELECT; without FROM, one row without columns."""
    clause = select.args.get("from_")
    if clause is None:
        return BoundSource(_NOTHING, Scope((), context.outer))
    joiner = _Joiner(context, bind, condition)
    return joiner.joined(clause.this, select.args.get("joins") or [])


class _Joiner:
    """Joins the sources of one FROM clause."""

    def __init__(self, context: Context, bind: BindQuery, condition: Condition) -> None:
        self.context = context
        self.bind = bind
        self.condition = condition
        self.inside = 0
        self.lifts = True

    def joined(self, first: exp.Expr, joins: list[exp.Join]) -> BoundSource:
        """A source and what is joined to it, in order; commas last."""
        if not self.inside:
            self.lifts = not any(join.side in ("RIGHT", "FULL") for join in joins)
        result: BoundSource | None = None
        comma: exp.Join | None = None
        if isinstance(first, nodes.Unnest):
            group = unnested(
                BoundSource(_NOTHING, Scope((), self.context.outer)), first, self.context
            )
        else:
            group = self.source(first)
        for join in joins:
            if isinstance(join.this, nodes.Unnest):
                if _is_comma(join) and result is not None and comma is not None:
                    group, result = self.beside(result, group, comma), None
                group = self.with_items(group, join.this, join)
            elif _is_comma(join):
                result = group if result is None else self.beside(result, group, comma or join)
                group, comma = self.source(join.this), join
            else:
                group = self.join(group, join)
        return group if result is None or comma is None else self.beside(result, group, comma)

    def source(self, node: exp.Expr) -> BoundSource:
        """A single source, or a join in parentheses."""
        if isinstance(node, nodes.Joined):
            self.inside += 1
            joined = self.joined(node.this, node.args.get("joins") or [])
            self.inside -= 1
            return joined
        inner = self.context.elsewhere() if self.context.with_now else self.context
        with self.context.at(node):
            shown = within_lifetime(node, inner)
        relation, name = bare(shown, inner, self.bind)
        if self.context.with_now:
            if kind_of(inner.places) is Kind.FACT:
                with self.context.at(node):
                    relation = read_always(relation, name, node, self.context)
                note(relation, name or "source", node, self.context)
            else:
                self.context.places.extend(inner.places)
        with self.context.at(node):
            source = aliased(relation, name, node, self.context)
        self.context.placed(source.relation, node)
        return source

    def with_items(self, left: BoundSource, node: nodes.Unnest, join: exp.Join) -> BoundSource:
        """The rows so far, once for each item of an array of theirs."""
        on = join.args.get("on")
        left_join = join.side == "LEFT" and isinstance(on, exp.Boolean) and bool(on.this)
        others = join.kind not in ("", "CROSS") or join.args.get("using")
        if others or (join.side and not left_join):
            span = self.context.span(join)
            raise refusals.UNNEST_JOIN(span, item=self.context.extent(node).text)
        with self.context.at(node):
            source = unnested(left, node, self.context, pads=left_join)
        self.context.placed(source.relation, join)
        if on is None or left_join:
            return source
        predicate = self.condition(on, source.scope, self.is_inner(join))
        return replace(source, relation=Filter(source.relation, predicate))

    def beside(self, left: BoundSource, right: BoundSource, node: exp.Join) -> BoundSource:
        """Every pair of rows."""
        self.check_names(left.scope, right.scope, node)
        product = self.context.placed(Product(left.relation, right.relation), node)
        moving = left.moving + right.moving
        return BoundSource(product, left.scope.beside(right.scope), moving)

    def join(self, left: BoundSource, node: exp.Join) -> BoundSource:
        """Two sources joined by a condition."""
        if isinstance(node.this, nodes.AsOf):
            return self.join_as_of(left, node, node.this)
        right = self.source(node.this)
        if node.kind == "CROSS":
            return self.beside(left, right, node)
        self.check_names(left.scope, right.scope, node)
        both = left.scope.beside(right.scope)
        identifiers = node.args.get("using") or []
        using = [name.name for name in identifiers]
        with self.context.at(node):
            predicate = (
                self.alike(left.scope, right.scope, identifiers, node.kind == "ASOF")
                if using
                else self.condition(node.args["on"], both, self.is_inner(node))
            )
            sides = without_now(left.relation, right.relation, predicate, node)
            one, other, predicate, moving = sides
            relation = _combined(one, other, predicate, node)
            self.context.placed(relation, node)
            moving = (*moving_of(left.moving, right.moving, node), *moving)
        if isinstance(relation, SemiJoin | AntiJoin):
            return BoundSource(relation, left.scope, moving)
        merged = using[:-1] if node.kind == "ASOF" else using
        scope = _merged(left.scope, right.scope, merged, node.side) if merged else both
        return BoundSource(relation, scope.refreshed(relation.schema), moving)

    def join_as_of(self, left: BoundSource, node: exp.Join, source: nodes.AsOf) -> BoundSource:
        """Facts joined with what a table had at their times."""
        facts = facts_of(left, source, self.context)
        inner = self.context.elsewhere()
        relation, name = bare(source.this, inner, self.bind)
        if kind_of(inner.places) is Kind.FACT:
            raise TemporalError(
                "facts-need-window",
                f'"{name or "the query"}" has no window, so it has nothing at an instant',
                hint=f"write {self.context.span(source.this).text} [RANGE 1 HOUR]",
                span=self.context.span(source.this),
            )
        with self.context.at(source):
            right = aliased(relation, name, source, self.context)
        self.context.placed(right.relation, source)
        self.check_names(left.scope, right.scope, node)
        if node.kind in ("SEMI", "ANTI", "ASOF") or node.side not in ("", "LEFT"):
            raise refusals.AS_OF_JOIN(self.context.span(node))
        mine, identifiers = facts.source.scope, node.args.get("using") or []
        scope = mine.beside(right.scope)
        if identifiers:
            names = [name.name for name in identifiers]
            scope = _merged(mine, right.scope, names, node.side)
        with self.context.at(node):
            predicate = (
                self.equal(mine, right.scope, identifiers)
                if identifiers
                else self.condition(node.args.get("on") or exp.true(), scope, False)
            )
        made = joined_as_of(
            facts,
            right.relation,
            scope,
            lambda one, other: _combined(one, other, predicate, node),
            self.context,
        )
        self.context.placed(made.relation, node)
        return made

    def alike(
        self, left: Scope, right: Scope, names: list[exp.Identifier], near: bool
    ) -> Expression:
        """What USING says: that columns are equal, and of ASOF that the last is not later."""
        if not near:
            return self.equal(left, right, names)
        *same, last = names
        with self.context.at(last):
            nearest = compare(">=", _own(left, last.name), _own(right, last.name))
        equal = conjuncts(self.equal(left, right, same)) if same else ()
        return conjunction((nearest, *equal))

    def is_inner(self, node: exp.Join) -> bool:
        """Whether a condition of the join may as well stand in WHERE."""
        return self.lifts and not self.inside and not node.side and node.kind in ("", "CROSS")

    def equal(self, left: Scope, right: Scope, names: list[exp.Identifier]) -> Expression:
        """That the columns of a name are equal on both sides."""
        terms = []
        for node in names:
            with self.context.at(node):
                name = node.name
                terms.append(compare("=", _own(left, name), _own(right, name)))
        return conjunction(tuple(terms))

    def check_names(self, left: Scope, right: Scope, node: exp.Join) -> None:
        """Refuses two sources of one name."""
        known = {table.casefold() for table in left.tables}
        for table in right.tables:
            if table.casefold() in known:
                fresh = next(
                    name for n in range(2, 99) if (name := f"{table}{n}").casefold() not in known
                )
                span, given = self.context.span(node.this), node.this.args.get("alias")
                raise BindError(
                    "duplicate-alias",
                    f'"{table}" stands twice in FROM',
                    hint=None if given else f"write {span.text} AS {identifier(fresh)}",
                    span=span,
                )


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(key) for key in ("side", "kind", "on", "using"))


def _combined(left: Relation, right: Relation, predicate: Expression, node: exp.Join) -> Relation:
    if node.kind in ("SEMI", "ANTI"):
        return _partnered(left, right, predicate, AntiJoin if node.kind == "ANTI" else SemiJoin)
    if node.kind == "ASOF":
        near = _nearness(left, right, predicate)
        order = (near, *tie_break(right, (near,)))
        return AsofJoin(left, right, predicate, order, bool(node.side))
    if node.side:
        return OuterJoin(left, right, predicate, Outer(node.side))
    return Join(left, right, predicate)


def _nearness(left: Relation, right: Relation, predicate: Expression) -> SortKey:
    """What the first comparison of both sides says to be near: the last before, or the next."""

    def only_of(expression: Expression, side: Relation) -> bool:
        own = {column.identity for column in side.schema}
        columns = [ref.column.identity for ref in find(expression, Ref)]
        return bool(columns) and own.issuperset(columns)

    for term in conjuncts(predicate):
        if isinstance(term, Comparison) and term.op in ("<", "<=", ">", ">="):
            if only_of(term.left, left) and only_of(term.right, right):
                return SortKey(term.right, descending=term.op in (">", ">="))
            if only_of(term.left, right) and only_of(term.right, left):
                return SortKey(term.left, descending=term.op in ("<", "<="))
    raise BindError(
        "missing-match",
        "ASOF JOIN has no condition that says which row on the right is near",
        detail="it compares both sides with <, <=, > or >=",
        hint=f"add MATCH_CONDITION ({_a_time(left)} >= {_a_time(right)}) before ON",
    )


def _a_time(side: Relation) -> str:
    """A time of a side of a join, or what stands for one."""
    known = default_time(side)
    times = [c for c in side.schema if isinstance(c.type, TimestampType)]
    return next((str(c) for c in sorted(times, key=lambda c: c.name != known)), "a time")


def _partnered(
    left: Relation, right: Relation, predicate: Expression, make: type[SemiJoin] | type[AntiJoin]
) -> Relation:
    """A semi or anti join; what says nothing of the left side is a condition of the right one."""
    tables = {column.table.casefold() for column in left.schema if column.table is not None}
    terms = conjuncts(predicate)
    local = tuple(term for term in terms if not tables_of(term) & tables)
    rows = Filter(right, conjunction(local)) if local else right
    return make(left, rows, conjunction(tuple(term for term in terms if term not in local)))


def _own(scope: Scope, name: str) -> Expression:
    """A column of one side, not of the blocks around."""
    return replace(scope, outer=None).resolve((name,)).expression


def _merged(left: Scope, right: Scope, names: list[str], side: str) -> Scope:
    folded = {name.casefold() for name in names}
    merged = tuple(
        Visible(name, None, _shown(_own(left, name), _own(right, name), side)) for name in names
    )

    def rest(scope: Scope) -> tuple[Visible, ...]:
        return tuple(
            replace(visible, hidden=True) if visible.name.casefold() in folded else visible
            for visible in scope.columns
            if visible.table is not None or visible.name.casefold() not in folded
        )

    return replace(left, columns=merged + rest(left) + rest(right))


def _shown(left: Expression, right: Expression, side: str) -> Expression:
    if side == "FULL":
        return call("COALESCE", (left, right))
    return right if side == "RIGHT" else left
