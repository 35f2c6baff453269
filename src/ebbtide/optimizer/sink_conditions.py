"""Conditions where they can be judged first.

Law: the plan means the same.  A condition on rows of one input of an inner join stands on that
input, and one on both is part of the join.  What a join stores follows from its predicate, so this
decides which queries have bounded state.
"""

from __future__ import annotations

from typing import TypeAlias

from ebbtide.algebra.combination import Join, Product
from ebbtide.algebra.expression import Expression, Ref, conjunction, conjuncts
from ebbtide.algebra.relation import Alias, Filter, Map, Relation
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find, rewrite

Terms: TypeAlias = tuple[Expression, ...]


def sink_conditions(plan: Relation) -> Relation:
    """The plan with every condition of a filter as far down as inner joins let it."""
    return rewrite(plan, _sink)


def _sink(node: Relation) -> Relation:
    match node:
        case Filter():
            return _placed(node.input, conjuncts(node.predicate))
        case Join():
            return _placed(node, ())
        case _:
            return node


def _placed(relation: Relation, terms: Terms) -> Relation:
    match relation:
        case Filter():
            return _placed(relation.input, (*conjuncts(relation.predicate), *terms))
        case Alias() if terms:
            below = tuple(_through_alias(term, relation) for term in terms)
            return Alias(_placed(relation.input, below), relation.name)
        case Map() if terms and all(map(_has_columns, terms)):
            below = tuple(_through_map(term, relation) for term in terms)
            return Map(_placed(relation.input, below), relation.columns)
        case Join():
            every = (*conjuncts(relation.predicate), *terms)
            return _joined(relation.left, relation.right, every)
        case Product():
            return _joined(relation.left, relation.right, terms)
        case _:
            return Filter(relation, conjunction(terms)) if terms else relation


def _joined(left: Relation, right: Relation, terms: Terms) -> Relation:
    of_left = tuple(term for term in terms if _is_about(term, left.schema))
    of_right = tuple(term for term in terms if _is_about(term, right.schema))
    rest = tuple(term for term in terms if term not in of_left and term not in of_right)
    left, right = _placed(left, of_left), _placed(right, of_right)
    return Join(left, right, conjunction(rest)) if rest else Product(left, right)


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
