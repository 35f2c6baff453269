"""The closed set of operators, for matches that the type checker proves exhaustive."""

from __future__ import annotations

from typing import TypeAlias, cast, get_args

from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.errors import InternalError

Padding: TypeAlias = OuterJoin | AsofJoin
"""Has pairs, and the rows of its kept sides without a partner, padded with NULLs."""

Matching: TypeAlias = Join | SemiJoin | AntiJoin | Padding
"""Brings rows of two inputs together by a predicate on both."""

Joining: TypeAlias = Product | Matching
"""Brings rows of two inputs together, by a predicate or all of them."""

Source: TypeAlias = Stream | StaticTable | ChangingTable | Values | Recurrence
Pointwise: TypeAlias = (
    View
    | Alias
    | Filter
    | Map
    | Unnest
    | Distinct
    | Aggregate
    | TopN
    | Over
    | Joining
    | UnionAll
    | MaxUnion
    | Difference
    | StrictDifference
    | Intersection
    | Tumble
    | Hop
    | Session
    | Cumulate
)
AcrossTime: TypeAlias = Window | Istream | Dstream | Rstream | Recursion
Operator: TypeAlias = Source | Pointwise | AcrossTime

OPERATORS: tuple[type[Relation], ...] = get_args(Operator)


def operator(relation: Relation) -> Operator:
    """The relation as a member of the closed set."""
    if not isinstance(relation, OPERATORS):
        raise InternalError("unknown-operator", f"{type(relation).__name__} is no operator")
    return cast(Operator, relation)
