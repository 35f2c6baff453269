"""Equations of multisets: filters, maps, unions, differences, duplicates (paper 4, 5.3).

Those that paper 4 prints have its words; the others are the rules of multisets that it refers to.
"""

from ebbtide.algebra import (
    And,
    Difference,
    Distinct,
    Expression,
    Filter,
    Intersection,
    Literal,
    MaxUnion,
    Product,
    Ref,
    Relation,
    StrictDifference,
    UnionAll,
    View,
)
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BOOLEAN
from laws.worlds import ROW, A, B, C, World, columns, equation, mapped, on, where, worlds

ONE, TWO = worlds("a"), worlds("ab")


def nothing(like: Relation) -> Relation:
    """No row, ever."""
    return Filter(like, Literal(False, BOOLEAN))


def both(w: World, below: Relation) -> Relation:
    """The rows for which both conditions hold."""
    left, right = on(w.p, ROW, below.schema), on(w.q, ROW, below.schema)
    return Filter(below, And(left, right))


def composed(w: World) -> tuple[Relation, Relation]:
    """A map of a map, and the map of both."""
    twice = mapped(mapped(A, w.f), w.f)
    once = tuple(_inlined(term, w) for term in w.f)
    return twice, mapped(A, once)


def _inlined(term: Expression, w: World) -> Expression:
    def step(node: Expression) -> Expression:
        return w.f[ROW.index(node.column)] if isinstance(node, Ref) else node

    return rewrite(term, step)


UNION = [
    equation("union is commutative", lambda w: (UnionAll(A, B), UnionAll(B, A)), TWO),
    equation(
        "union is associative",
        lambda w: (UnionAll(UnionAll(A, B), C), UnionAll(A, UnionAll(B, C))),
    ),
    equation("max-union is commutative", lambda w: (MaxUnion(A, B), MaxUnion(B, A)), TWO),
    equation(
        "max-union is associative",
        lambda w: (MaxUnion(MaxUnion(A, B), C), MaxUnion(A, MaxUnion(B, C))),
    ),
    equation("max-union is idempotent", lambda w: (MaxUnion(A, A), A), ONE),
    equation(
        "intersection is commutative", lambda w: (Intersection(A, B), Intersection(B, A)), TWO
    ),
    equation(
        "intersection is associative",
        lambda w: (Intersection(Intersection(A, B), C), Intersection(A, Intersection(B, C))),
    ),
    equation("intersection is idempotent", lambda w: (Intersection(A, A), A), ONE),
    equation(
        "greater and lesser multiplicity make the sum",
        lambda w: (UnionAll(MaxUnion(A, B), Intersection(A, B)), UnionAll(A, B)),
        TWO,
    ),
    equation("nothing adds nothing", lambda w: (UnionAll(A, nothing(A)), A), ONE),
]

DIFFERENCE = [
    equation("nothing is left of itself", lambda w: (Difference(A, A), nothing(A)), ONE),
    equation("nothing takes nothing away", lambda w: (Difference(A, nothing(A)), A), ONE),
    equation("what was added can be taken away", lambda w: (Difference(UnionAll(A, B), B), A), TWO),
    equation(
        "taking away twice is taking the union away",
        lambda w: (Difference(Difference(A, B), C), Difference(A, UnionAll(B, C))),
    ),
    equation(
        "what is left and what was taken make the whole",
        lambda w: (UnionAll(Difference(A, B), Intersection(A, B)), A),
        TWO,
    ),
    equation(
        "strict difference is the difference of sets",
        lambda w: (StrictDifference(A, B), Difference(Distinct(A), Distinct(B))),
        TWO,
    ),
    equation(
        "strict intersection is the intersection of sets",
        lambda w: (Intersection(A, B, all=False), Intersection(Distinct(A), Distinct(B))),
        TWO,
    ),
]

FILTER = [
    equation(
        "filter through union",
        lambda w: (where(UnionAll(A, B), w.p), UnionAll(where(A, w.p), where(B, w.p))),
        TWO,
    ),
    equation(
        "filter through a union of many",
        lambda w: (
            where(UnionAll(UnionAll(A, B), C), w.p),
            UnionAll(UnionAll(where(A, w.p), where(B, w.p)), where(C, w.p)),
        ),
    ),
    equation("filters commute", lambda w: (where(where(A, w.p), w.q), where(where(A, w.q), w.p))),
    equation("filters merge", lambda w: (where(where(A, w.p), w.q), both(w, A)), ONE),
    equation(
        "filter through max-union",
        lambda w: (where(MaxUnion(A, B), w.p), MaxUnion(where(A, w.p), where(B, w.p))),
        TWO,
    ),
    equation(
        "filter through both sides of a difference",
        lambda w: (where(Difference(A, B), w.p), Difference(where(A, w.p), where(B, w.p))),
        TWO,
    ),
    equation(
        "filter through the left side of a difference",
        lambda w: (where(Difference(A, B), w.p), Difference(where(A, w.p), B)),
        TWO,
    ),
    equation(
        "filter through a strict difference",
        lambda w: (where(StrictDifference(A, B), w.p), StrictDifference(where(A, w.p), B)),
        TWO,
    ),
    equation(
        "filter through an intersection",
        lambda w: (where(Intersection(A, B), w.p), Intersection(where(A, w.p), B)),
        TWO,
    ),
    equation(
        "filter through distinct",
        lambda w: (where(Distinct(A), w.p), Distinct(where(A, w.p))),
        ONE,
    ),
]

DISTINCT = [
    equation(
        "distinct through product",
        lambda w: (Distinct(Product(A, B)), Product(Distinct(A), Distinct(B))),
        TWO,
    ),
    equation("distinct is idempotent", lambda w: (Distinct(Distinct(A)), Distinct(A)), ONE),
    equation(
        "distinct of a union is the max-union of sets",
        lambda w: (Distinct(UnionAll(A, B)), MaxUnion(Distinct(A), Distinct(B))),
        TWO,
    ),
    equation(
        "distinct below distinct goes through a map",
        lambda w: (Distinct(mapped(Distinct(A), w.f)), Distinct(mapped(A, w.f))),
        ONE,
    ),
]

MAP = [
    equation(
        "map through union",
        lambda w: (mapped(UnionAll(A, B), w.f), UnionAll(mapped(A, w.f), mapped(B, w.f))),
        TWO,
    ),
    equation("maps merge", composed, ONE),
    equation(
        "map of a column commutes with a filter",
        lambda w: (
            where(columns(A, 0, 1), w.p),
            columns(where(A, w.p), 0, 1),
        ),
        ONE,
    ),
]

SAME = [
    equation("a view is its query", lambda w: (View("v", where(A, w.p)), where(A, w.p)), ONE),
]

LAWS = [*UNION, *DIFFERENCE, *FILTER, *DISTINCT, *MAP, *SAME]
