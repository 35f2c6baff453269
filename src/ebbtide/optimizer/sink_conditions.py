"""Conditions where they can be judged first.

Law: the plan means the same.  A condition on rows of one input of an inner join stands on that
input, and one on both is part of the join; only one with NOW() in it stays above, for it is one of
the pairs' time.  A condition on the side that an outer join keeps, or on the rows of which partners
are asked for, stands on that side.  What a join stores follows from its predicate and its inputs,
so this decides which queries have bounded state.

Which rows fail is part of the meaning.  A condition that can fail stays where it is, and so does
one that would take rows away from an operator below that can fail on them.  Of one filter's terms
those that cannot fail go ahead of those that can where they decide: a row of which one is FALSE is
no error.  One that may be NULL stays with those that can fail, and what goes ahead is that it is
not FALSE; only where rows of several inputs meet by it, NULL decides as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from ebbtide.algebra.combination import (
    AntiJoin,
    Join,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
)
from ebbtide.algebra.expression import (
    Expression,
    IsNull,
    Or,
    Ref,
    conjunction,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.quarantine import OnError, inputs_of, meets, sides_of
from ebbtide.algebra.relation import Alias, Filter, Map, Relation
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find, rewrite

Terms: TypeAlias = tuple[Expression, ...]


def sink_conditions(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Relation:
    """The plan with every condition of a filter as far down as inner joins let it."""
    return rewrite(plan, _Sinking(on_error).sink)


@dataclass(frozen=True, slots=True)
class _Sinking:
    """Places conditions; where a failure fails the step, it is no matter which row it is of."""

    on_error: OnError

    def fails(self, *terms: Expression) -> bool:
        """Whether it matters on which rows terms are asked."""
        return self.on_error is OnError.QUARANTINE and any(map(can_fail, terms))

    def sink(self, node: Relation) -> Relation:
        match node:
            case Filter():
                return self._judged(node, conjuncts(node.predicate))
            case Join() if self.fails(node.predicate):
                terms = conjuncts(node.predicate)
                if depends_on_now(node.predicate) or self._computes(node):
                    return node
                ahead = self._ahead(terms, inputs_of(node))
                return self._joined(node.left, node.right, terms, ahead)
            case Join():
                return self._placed(node, ())
            case _:
                return node

    def _computes(self, node: Join) -> bool:
        """Whether the values that a join joins by can fail, on whatever rows its inputs have."""
        sides = node.left.schema, node.right.schema
        terms = (term for term in conjuncts(node.predicate) if sides_of(term, *sides) is not None)
        return self.fails(*terms)

    def _judged(self, node: Filter, terms: Terms) -> Relation:
        """A relation under the terms of a filter: those that can fail are asked last."""
        ahead = self._ahead(terms, inputs_of(node))
        stay = tuple(term for term in terms if term not in ahead)
        below = node.input
        if isinstance(below, Join | Product):
            known = (term for term in stay if not self.fails(term) and not depends_on_now(term))
            ahead = (*ahead, *(Or(term, IsNull(term)) for term in known))
        placed = self._placed(below, ahead)
        return Filter(placed, conjunction(stay)) if stay else placed

    def _ahead(self, terms: Terms, inputs: tuple[Schema, ...]) -> Terms:
        """The terms that can be asked before the others."""
        if not self.fails(*terms):
            return terms
        return tuple(
            term
            for term in terms
            if not self.fails(term) and (not nullable(term) or meets(term, inputs))
        )

    def _placed(self, relation: Relation, terms: Terms) -> Relation:
        match relation:
            case Filter() if not self.fails(relation.predicate):
                return self._placed(relation.input, (*conjuncts(relation.predicate), *terms))
            case Alias() if terms:
                below = tuple(_through_alias(term, relation) for term in terms)
                return Alias(self._placed(relation.input, below), relation.name)
            case Map() if terms and all(map(_has_columns, terms)) and not self._map_fails(relation):
                below = tuple(_through_map(term, relation) for term in terms)
                return Map(self._placed(relation.input, below), relation.columns)
            case Join() if not self.fails(relation.predicate):
                every = (*conjuncts(relation.predicate), *terms)
                return self._joined(relation.left, relation.right, every, every)
            case Product():
                return self._joined(relation.left, relation.right, terms, terms)
            case SemiJoin() | AntiJoin() if not self.fails(relation.predicate):
                return self._on_kept(relation, relation.left, terms)
            case OuterJoin(kept=Outer.LEFT) if not self.fails(relation.predicate):
                return self._on_kept(relation, relation.left, terms)
            case OuterJoin(kept=Outer.RIGHT) if not self.fails(relation.predicate):
                return self._on_kept(relation, relation.right, terms)
            case _:
                return Filter(relation, conjunction(terms)) if terms else relation

    def _on_kept(
        self, node: SemiJoin | AntiJoin | OuterJoin, side: Relation, terms: Terms
    ) -> Relation:
        """A join that keeps a side, under terms: those on that side stand there."""
        below = tuple(term for term in terms if _is_about(term, side.schema))
        stay = tuple(term for term in terms if term not in below)
        placed = self._placed(side, below)
        if side is node.left:
            joined: Relation = replace(node, left=placed)
        else:
            joined = replace(node, right=placed)
        return Filter(joined, conjunction(stay)) if stay else joined

    def _map_fails(self, node: Map) -> bool:
        return self.fails(*(named.expression for named in node.columns))

    def _joined(self, left: Relation, right: Relation, terms: Terms, ahead: Terms) -> Relation:
        """A join by terms, of which those that can be asked ahead stand on their input."""
        of_left = tuple(term for term in ahead if _is_about(term, left.schema))
        of_right = tuple(term for term in ahead if _is_about(term, right.schema))
        both = [term for term in terms if term not in of_left and term not in of_right]
        rest = tuple(term for term in both if not depends_on_now(term))
        left, right = self._placed(left, of_left), self._placed(right, of_right)
        joined = Join(left, right, conjunction(rest)) if rest else Product(left, right)
        moving = tuple(term for term in both if depends_on_now(term))
        return Filter(joined, conjunction(moving)) if moving else joined


def _is_about(term: Expression, schema: Schema) -> bool:
    """Whether all columns of a term, and at least one, are of a schema."""
    known = {column.identity for column in schema}
    return _has_columns(term) and all(ref.column.identity in known for ref in find(term, Ref))


def _has_columns(term: Expression) -> bool:
    return any(True for _ in find(term, Ref))


def _through_alias(term: Expression, node: Alias) -> Expression:
    def inner(part: Expression) -> Expression:
        if not isinstance(part, Ref):
            return part
        return Ref(node.input.schema[node.schema.index(part.column)])

    return rewrite(term, inner)


def _through_map(term: Expression, node: Map) -> Expression:
    def inner(part: Expression) -> Expression:
        if not isinstance(part, Ref):
            return part
        return node.columns[node.schema.index(part.column)].expression

    return rewrite(term, inner)
