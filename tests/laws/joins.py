"""Equations of products and joins, and the derived operators of paper 4, 3.3 to 3.8.

(12) and (15) as printed multiply, or keep duplicates, where SQL does not; here they stand in the
form that does give EXISTS and EXCEPT. tests/properties/test_counterexamples.py has the printed
forms and where they fail.
"""

from ebbtide.algebra import (
    Alias,
    And,
    AntiJoin,
    Comparison,
    Difference,
    Distinct,
    Expression,
    Filter,
    Intersection,
    Join,
    Literal,
    Map,
    MaxUnion,
    Named,
    Outer,
    OuterJoin,
    Product,
    Ref,
    Relation,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.call import SortKey
from ebbtide.algebra.combination import AsofJoin
from ebbtide.core.schema import Schema
from laws.worlds import A, B, C, World, columns, equal, equation, matching, where, worlds

TWO = worlds("ab")
# Three relations make a product of three: few rows each.
FEW = worlds("abc", max_changes=6)


def join(w: World, left: Relation, right: Relation) -> Relation:
    """The join on the world's condition."""
    return Join(left, right, matching(w, left, right))


def semi(w: World, left: Relation, right: Relation) -> Relation:
    """The semi join on the world's condition."""
    return SemiJoin(left, right, matching(w, left, right))


def anti(w: World, left: Relation, right: Relation) -> Relation:
    """The anti join on the world's condition."""
    return AntiJoin(left, right, matching(w, left, right))


def outer(w: World, kept: Outer) -> Relation:
    """The outer join on the world's condition."""
    return OuterJoin(A, B, matching(w, A, B), kept)


def asof(w: World, pads: bool, right: Relation = B) -> Relation:
    """The ASOF join on the world's condition, the greatest x being near."""
    order = (SortKey(Ref(right.schema[0]), descending=True),)
    return AsofJoin(A, right, matching(w, A, right), order, pads)


def padded(below: Relation, before: Schema | None, after: Schema | None) -> Relation:
    """The rows of a relation with NULLs for the columns of another."""
    nulls_before = [Literal(None, column.type) for column in before or ()]
    nulls_after = [Literal(None, column.type) for column in after or ()]
    terms = [*nulls_before, *(Ref(column) for column in below.schema), *nulls_after]
    return Map(below, tuple(Named(f"m{i}", term) for i, term in enumerate(terms)))


def same_row(left: Relation, right: Relation) -> Expression:
    """That two rows are the same, NULLs included."""
    x, y = (Comparison("<=>", Ref(left.schema[i]), Ref(right.schema[i])) for i in range(2))
    return And(x, y)


PRODUCT = [
    equation(
        "product is associative",
        lambda w: (Product(Product(A, B), C), Product(A, Product(B, C))),
        FEW,
    ),
    equation(
        "product is commutative up to the order of columns",
        lambda w: (columns(Product(A, B), 0, 1, 2, 3), columns(Product(B, A), 2, 3, 0, 1)),
        TWO,
    ),
    equation(
        "product through union",
        lambda w: (
            Product(A, UnionAll(B, C)),
            UnionAll(Product(A, B), Product(A, Alias(C, "b"))),
        ),
        FEW,
    ),
    equation(
        "product through difference",
        lambda w: (
            Product(A, Difference(B, C)),
            Difference(Product(A, B), Product(A, Alias(C, "b"))),
        ),
        FEW,
    ),
    equation(
        "product through max-union",
        lambda w: (
            Product(A, MaxUnion(B, C)),
            MaxUnion(Product(A, B), Product(A, Alias(C, "b"))),
        ),
        FEW,
    ),
    equation(
        "filter into the left side of a product",
        lambda w: (where(Product(A, B), w.p), Product(where(A, w.p), B)),
        TWO,
    ),
    equation(
        "filter into the right side of a product",
        lambda w: (where(Product(A, B), w.p, first=2), Product(A, where(B, w.p))),
        TWO,
    ),
]

JOIN = [
    equation(
        "join is associative",
        lambda w: (
            Join(Join(A, B, equal(A, B)), C, equal(B, C)),
            Join(A, Join(B, C, equal(B, C)), equal(A, B)),
        ),
        FEW,
    ),
    equation(
        "join is commutative up to the order of columns",
        lambda w: (
            columns(join(w, A, B), 0, 1, 2, 3),
            columns(Join(B, A, matching(w, A, B)), 2, 3, 0, 1),
        ),
        TWO,
    ),
    equation(
        "filter into the left side of a join",
        lambda w: (where(join(w, A, B), w.p), join(w, where(A, w.p), B)),
        TWO,
    ),
    equation(
        "join through union",
        lambda w: (
            join(w, UnionAll(A, C), B),
            UnionAll(join(w, A, B), join(w, Alias(C, "a"), B)),
        ),
        FEW,
    ),
    equation(
        "distinct through join",
        lambda w: (Distinct(join(w, A, B)), join(w, Distinct(A), Distinct(B))),
        TWO,
    ),
    equation(
        "filter through a semi join",
        lambda w: (where(semi(w, A, B), w.p), semi(w, where(A, w.p), B)),
        TWO,
    ),
    equation(
        "filter through an anti join",
        lambda w: (where(anti(w, A, B), w.p), anti(w, where(A, w.p), B)),
        TWO,
    ),
    equation(
        "with a partner or without: each row once",
        lambda w: (UnionAll(semi(w, A, B), anti(w, A, B)), A),
        TWO,
    ),
    equation(
        "a semi join does not count partners",
        lambda w: (semi(w, A, B), semi(w, A, UnionAll(B, B))),
        TWO,
    ),
]

ASOF = [
    equation(
        "an ASOF join has the left rows that have a partner, each once",
        lambda w: (columns(asof(w, False), 0, 1), columns(semi(w, A, B), 0, 1)),
        TWO,
    ),
    equation(
        "a padded ASOF join is the other and what has no partner",
        lambda w: (
            asof(w, True),
            UnionAll(asof(w, False), padded(anti(w, A, B), None, B.schema)),
        ),
        TWO,
    ),
    equation(
        "an ASOF join does not count partners",
        lambda w: (asof(w, False), asof(w, False, UnionAll(B, B))),
        TWO,
    ),
]

OUTER = [
    equation(
        "left outer join is the join and what has no partner",
        lambda w: (
            outer(w, Outer.LEFT),
            UnionAll(join(w, A, B), padded(anti(w, A, B), None, B.schema)),
        ),
        TWO,
    ),
    equation(
        "right outer join is the join and what has no partner",
        lambda w: (
            outer(w, Outer.RIGHT),
            UnionAll(join(w, A, B), padded(AntiJoin(B, A, matching(w, A, B)), A.schema, None)),
        ),
        TWO,
    ),
    equation(
        "full outer join is the left one and the right side's rest",
        lambda w: (
            outer(w, Outer.FULL),
            UnionAll(
                outer(w, Outer.LEFT), padded(AntiJoin(B, A, matching(w, A, B)), A.schema, None)
            ),
        ),
        TWO,
    ),
    equation(
        "filter into the kept side of an outer join",
        lambda w: (
            where(outer(w, Outer.LEFT), w.p),
            OuterJoin(where(A, w.p), B, matching(w, A, B), Outer.LEFT),
        ),
        TWO,
    ),
]

DERIVED = [
    equation(
        "(11) a theta join is a map of a filtered product",
        lambda w: (
            columns(join(w, A, B), 0, 3),
            columns(Filter(Product(A, B), matching(w, A, B)), 0, 3),
        ),
        TWO,
    ),
    equation(
        "(12) a semi join on equality joins the distinct join attributes",
        lambda w: (
            columns(SemiJoin(A, B, equal(A, B)), 0, 1),
            columns(Join(A, (keys := Alias(Distinct(columns(B, 0)), "k")), equal(A, keys)), 0, 1),
        ),
        TWO,
    ),
    equation(
        "(13) intersection takes away what would be left",
        lambda w: (Intersection(A, B), Difference(A, Difference(A, B))),
        TWO,
    ),
    equation(
        "(14) max-union is both differences and the intersection",
        lambda w: (
            MaxUnion(A, B),
            UnionAll(UnionAll(Difference(A, B), Difference(B, A)), Intersection(A, B)),
        ),
        TWO,
    ),
    equation(
        "(15) strict difference is an anti join of the distinct rows",
        lambda w: (StrictDifference(A, B), AntiJoin(Distinct(A), B, same_row(A, B))),
        TWO,
    ),
]

LAWS = [*PRODUCT, *JOIN, *ASOF, *OUTER, *DERIVED]
