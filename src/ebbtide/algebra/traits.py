"""What operators have in common, in one table.

Law: a trait names the operators for which a question has its plain answer: their keys are those of
their input, they store nothing, they emit each row once.  Whoever asks takes these first and has an
arm for each of the others, so an operator without the trait needs an arm of its own wherever the
trait is asked, and the type checker says where.  A new operator that is in no union below is
therefore refused by every analysis until it has been thought of; none takes it for plain.

A trait is a union of classes, which is what ``isinstance`` narrows by; ``TRAITS`` is the same table
by operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, get_args

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
from ebbtide.algebra.operators import OPERATORS, Joining, Source, operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import Aggregate, Alias, Distinct, Filter, Map, Relation, Unnest, View
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

SameRows: TypeAlias = View | Alias
"""Has the rows of its input, perhaps under other names."""

Linear: TypeAlias = SameRows | Filter | Map | Window
"""Maps every change to at most one, by its row alone; a window of rows is the exception."""

Counting: TypeAlias = MaxUnion | Difference | StrictDifference | Intersection
"""Compares how often equal rows are on two sides."""

Assigning: TypeAlias = Tumble | Hop | Session | Cumulate
"""Puts facts into windows, as two more columns."""

Streaming: TypeAlias = Istream | Dstream | Rstream
"""Makes facts of how a relation changes."""

Stateless: TypeAlias = (
    Source | SameRows | Filter | Map | Unnest | UnionAll | Tumble | Hop | Cumulate
)
"""Stores no row of its inputs, whatever its parameters are."""

EmitsOnce: TypeAlias = Stateless | Joining | Window | Session | Streaming | Recursion
"""Emits each row once, from its parents, and keeps nothing of what it has emitted."""

KeepsKind: TypeAlias = (
    SameRows
    | Recursion
    | Filter
    | Map
    | Unnest
    | Distinct
    | Aggregate
    | TopN
    | Over
    | Joining
    | UnionAll
    | Counting
)
"""Is of facts over facts, and of snapshots over snapshots."""

KeepsPlaces: TypeAlias = (
    SameRows | Recursion | Filter | Distinct | TopN | Over | Window | SemiJoin | AntiJoin
)
"""Has the columns of its first input in their places, and no declared time or key besides."""

KeepsKeys: TypeAlias = (
    SameRows
    | Recursion
    | Over
    | Window
    | Tumble
    | Session
    | SemiJoin
    | AntiJoin
    | AsofJoin
    | Difference
)
"""Has the candidate keys of its first input, and no other that is known."""

KeepsClass: TypeAlias = SameRows | Filter | Map | Unnest | Tumble | Hop | Cumulate
"""Lets rows leave as its input does."""

KeepsSize: TypeAlias = (
    SameRows
    | Recursion
    | Filter
    | Map
    | Unnest
    | Over
    | Assigning
    | SemiJoin
    | AntiJoin
    | Difference
    | StrictDifference
)
"""Holds at once about as many rows as its first input."""


Followed: TypeAlias = (
    SameRows
    | Recurrence
    | Filter
    | Map
    | Unnest
    | UnionAll
    | Product
    | Join
    | SemiJoin
    | AntiJoin
    | OuterJoin
    | Aggregate
    | Distinct
    | Tumble
    | Hop
    | Cumulate
)
"""Can stand between a recursion and its recurrence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The traits of one operator; the unions above say what each means."""

    same_rows: bool
    linear: bool
    joining: bool
    counting: bool
    assigning: bool
    streaming: bool
    stateless: bool
    emits_once: bool
    keeps_kind: bool
    keeps_places: bool
    keeps_keys: bool
    keeps_class: bool
    keeps_size: bool
    followed: bool


def _of(kind: type[Relation]) -> Traits:
    return Traits(
        same_rows=kind in get_args(SameRows),
        linear=kind in get_args(Linear),
        joining=kind in get_args(Joining),
        counting=kind in get_args(Counting),
        assigning=kind in get_args(Assigning),
        streaming=kind in get_args(Streaming),
        stateless=kind in get_args(Stateless),
        emits_once=kind in get_args(EmitsOnce),
        keeps_kind=kind in get_args(KeepsKind),
        keeps_places=kind in get_args(KeepsPlaces),
        keeps_keys=kind in get_args(KeepsKeys),
        keeps_class=kind in get_args(KeepsClass),
        keeps_size=kind in get_args(KeepsSize),
        followed=kind in get_args(Followed),
    )


TRAITS: Mapping[type[Relation], Traits] = MappingProxyType({kind: _of(kind) for kind in OPERATORS})


def traits(relation: Relation) -> Traits:
    """The traits of a relation's operator."""
    return TRAITS[type(operator(relation))]
