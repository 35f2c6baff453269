"""Builders of random operators on two relations: products, joins and set operations."""

from __future__ import annotations

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import And, Comparison, Expression, Ref
from ebbtide.algebra.origin import tie_break
from ebbtide.algebra.relation import Distinct, Filter, Relation
from strategies.expressions import is_nested, join_predicate_from
from strategies.growth import Builder, Growth, conformed, narrow


def product(growth: Growth) -> Relation:
    return Product(*growth.inputs())


def join(growth: Growth) -> Relation:
    left, right = growth.inputs()
    return Join(left, right, join_predicate_from(growth.draw, left.schema, right.schema))


def semi_join(growth: Growth) -> Relation:
    left, right = growth.inputs()
    return SemiJoin(left, right, join_predicate_from(growth.draw, left.schema, right.schema))


def anti_join(growth: Growth) -> Relation:
    left, right = growth.inputs()
    return AntiJoin(left, right, join_predicate_from(growth.draw, left.schema, right.schema))


def outer_join(growth: Growth) -> Relation:
    left, right = growth.inputs()
    predicate = join_predicate_from(growth.draw, left.schema, right.schema)
    return OuterJoin(left, right, predicate, growth.choose(list(Outer)))


def asof_join(growth: Growth) -> Relation:
    left, right = growth.inputs()
    pairs = [
        (a, b)
        for a in left.schema
        for b in right.schema
        if a.type == b.type and not is_nested(a.type)
    ]
    if not pairs:
        return outer_join(growth)
    a, b = growth.choose(pairs)
    op = growth.choose(["<", "<=", ">", ">="])
    near: Expression = Comparison(op, Ref(a), Ref(b))
    if growth.number(0, 2):
        near = And(near, join_predicate_from(growth.draw, left.schema, right.schema))
    first = SortKey(Ref(b), descending=op in (">", ">="))
    order = (first, *tie_break(right, (first,)))
    return AsofJoin(left, right, near, order, growth.choose([True, False]))


def union_all(growth: Growth) -> Relation:
    return UnionAll(*_aligned(growth))


def max_union(growth: Growth) -> Relation:
    return MaxUnion(*_aligned(growth))


def difference(growth: Growth) -> Relation:
    return Difference(*_aligned(growth))


def strict_difference(growth: Growth) -> Relation:
    return StrictDifference(*_aligned(growth))


def intersection(growth: Growth) -> Relation:
    return Intersection(*_aligned(growth), all=growth.choose([True, False]))


def _aligned(growth: Growth) -> tuple[Relation, Relation]:
    left = narrow(growth, growth.input())
    if growth.number(0, 2) == 2:
        # Of the same: rows that are on both sides, and not equally often.
        condition = growth.predicate(left.schema, 0)
        return left, growth.choose([Distinct(left), Filter(left, condition), UnionAll(left, left)])
    return left, conformed(growth, growth.input(multiply=0), left.schema)


MULTIPLYING: dict[type[Relation], Builder] = {
    Product: product,
    Join: join,
    OuterJoin: outer_join,
    AsofJoin: asof_join,
}

BINARY: dict[type[Relation], Builder] = {
    SemiJoin: semi_join,
    AntiJoin: anti_join,
    UnionAll: union_all,
    MaxUnion: max_union,
    Difference: difference,
    StrictDifference: strict_difference,
    Intersection: intersection,
}
