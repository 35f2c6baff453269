"""Plans whose expressions fail: those of the other strategies, with something bad put into them.

What is put in fails on some of the small values of generated data and is a value on others:
``6 DIV x`` where ``x`` is 0, and ``x * 2**62`` where ``x`` is 2 or more; sums of the latter leave
their type.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.combination import AntiJoin, AsofJoin, Join, OuterJoin, SemiJoin
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Comparison,
    Expression,
    Literal,
    Or,
    Ref,
    conjunction,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.operators import operator
from ebbtide.algebra.ranking import NEIGHBOURS, Over, TopN
from ebbtide.algebra.relation import Aggregate, Filter, Map, Named, NamedCall, Relation
from ebbtide.core.schema import Schema
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BIGINT

_SIX, _HUGE, _ONE = (Literal(value, BIGINT) for value in (6, 2**62, 1))


def poisoned(draw: st.DrawFn, plan: Relation) -> Relation:
    """The plan with expressions that fail on some rows; its columns are the same."""
    return rewrite(plan, lambda node: _Poison(draw).into(node))


class _Poison:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def into(self, relation: Relation) -> Relation:
        node = operator(relation)
        match node:
            case Filter():
                return replace(node, predicate=self._condition(node.predicate, node.input.schema))
            case Map():
                return replace(node, columns=tuple(map(self._named, node.columns)))
            case Aggregate():
                calls = (NamedCall(c.name, self._call(c.call, node)) for c in node.calls)
                keys = tuple(map(self._named, node.keys))
                return replace(node, keys=keys, calls=tuple(calls))
            case TopN():
                return replace(node, order_by=self._order(node.order_by))
            case Over():
                framed = (replace(c, call=self._argument(c.call)) for c in node.calls)
                return replace(node, calls=tuple(framed))
            case AsofJoin():
                return replace(node, predicate=self._compared(node))
            case Join():
                schema = node.left.schema + node.right.schema
                return replace(node, predicate=self._condition(node.predicate, schema))
            case SemiJoin() | AntiJoin() | OuterJoin():
                if depends_on_now(node.predicate):
                    return node
                schema = node.left.schema + node.right.schema
                return replace(node, predicate=self._condition(node.predicate, schema))
            case _:
                return node

    def _compared(self, node: AsofJoin) -> Expression:
        """The condition of an ASOF JOIN, with sides of its equalities that may fail, and more."""

        def bad(term: Expression) -> Expression:
            if isinstance(term, Comparison) and term.op == "=":
                return Comparison("=", self._value(term.left), self._value(term.right))
            return term

        terms = tuple(map(bad, conjuncts(node.predicate)))
        columns = [Ref(c) for c in (*node.left.schema, *node.right.schema) if c.type == BIGINT]
        if not columns or not self._chosen(1):
            return conjunction(terms)
        column = self.draw(st.sampled_from(columns))
        return conjunction((*terms, Comparison(">", Arithmetic("DIV", _SIX, column), _ONE)))

    def _chosen(self, often: int = 2) -> bool:
        return self.draw(st.integers(0, often)) == often

    def _named(self, named: Named) -> Named:
        return Named(named.name, self._value(named.expression))

    def _value(self, expression: Expression, often: int = 2) -> Expression:
        if expression.type != BIGINT or not self._chosen(often):
            return expression
        if self.draw(st.booleans()):
            return Arithmetic("DIV", _SIX, expression)
        return Arithmetic("*", expression, _HUGE)

    def _order(self, keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
        return tuple(replace(key, expression=self._value(key.expression)) for key in keys)

    def _argument(self, call: AggregateCall) -> AggregateCall:
        if call.name in NEIGHBOURS or not call.arguments:
            return call
        first, *rest = call.arguments
        return replace(call, arguments=(self._value(first), *rest))

    def _call(self, call: AggregateCall, node: Aggregate) -> AggregateCall:
        schema = node.input.schema
        if call.filter is not None:
            call = replace(call, filter=self._condition(call.filter, schema))
        if not call.arguments:
            return call
        first, *rest = call.arguments
        return replace(call, arguments=(self._value(first, 1), *rest))

    def _condition(self, predicate: Expression, schema: Schema) -> Expression:
        columns = [Ref(column) for column in schema if column.type == BIGINT]
        if not columns or not self._chosen(1):
            return predicate
        column = self.draw(st.sampled_from(columns))
        fails = Comparison(">", Arithmetic("DIV", _SIX, column), _ONE)
        match self.draw(st.integers(0, 3)):
            case 0:
                return And(fails, predicate)
            case 1:
                return And(predicate, fails)
            case 2:
                return Or(predicate, fails)
            case _:
                return Or(fails, predicate)
