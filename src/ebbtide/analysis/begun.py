"""Whether rows of a changing relation begin after ``now``, and what may become of them then.

Law: if a plan has begun, then after every step, of what its operators have made so far, each row
begins at or before ``now``; what is known of it after ``now`` is its end alone.  If its rows come
whole, each comes once, with all of its time, and is never taken back.

Operators that are derived anew per key emit what begins at or before ``now``, whatever they stand
on; but where all rows are there from the start, they emit all that follows.  The others make a row
begin where some row of theirs does, except that a row without partners begins again where a partner
ends, and that conditions on NOW(), slides and windows on computed times let rows begin at any time
to come.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

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
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Relation,
    Stream,
    Unnest,
    View,
)
from ebbtide.algebra.traits import Assigning, Streaming, traits
from ebbtide.algebra.window import LinearWindow, Range, Window
from ebbtide.analysis.monotonicity import monotonicity
from ebbtide.core.tree import find, fold


class Beginning(Enum):
    """When rows of a plan begin: by ``now``; later, and they come whole; later, and they change."""

    BEGUN = "begun"
    WHOLE = "whole"
    CHANGING = "changing"


def beginning(plan: Relation) -> Beginning:
    """When rows of a plan begin."""
    if has_begun(plan):
        return Beginning.BEGUN
    whole = all(map(_keeps_whole, find(plan, Relation)))
    return Beginning.WHOLE if whole and not monotonicity(plan).has_negatives else Beginning.CHANGING


def has_begun(plan: Relation) -> bool:
    """Whether no row of a plan begins after ``now``."""
    return fold(plan, derive)


def derive(relation: Relation, below: tuple[bool, ...]) -> bool:
    """Whether no row of a node begins after ``now``, from what is known of its inputs."""
    node = operator(relation)
    if kind(relation) is Kind.FACT or isinstance(node, Source):
        return True
    if isinstance(node, Assigning | Streaming | Recursion):
        return True
    match node:
        case Aggregate() | Distinct() | TopN() | Over():
            return below[0] or not _is_static(relation)
        case Difference() | StrictDifference() | Intersection() | MaxUnion():
            return all(below) or not _is_static(relation)
        case Window():
            on = node.input.schema.position(node.on)
            return _of_source(node.input, on) and not _slides(node)
        case Filter() | Map():
            return below[0] and not node.depends_on_now
        case View() | Alias() | Unnest() | UnionAll() | Product() | Join() | SemiJoin():
            return all(below)
        case AntiJoin() | OuterJoin() | AsofJoin():
            return False
        case _:
            assert_never(node)


def _is_static(relation: Relation) -> bool:
    """Whether all rows of a relation are there from the start."""
    every = find(relation, Relation)
    return not any(isinstance(each, Stream | ChangingTable | Streaming) for each in every)


def _keeps_whole(relation: Relation) -> bool:
    """Whether an operator looks at each row by itself."""
    node = operator(relation)
    if isinstance(node, Window):
        return isinstance(node.spec, LinearWindow)
    return traits(relation).linear or isinstance(node, Source | UnionAll)


def _slides(window: Window) -> bool:
    return isinstance(window.spec, Range) and window.spec.slide_us is not None


def _of_source(relation: Relation, place: int) -> bool:
    """Whether a column is a time of a stream as it came, which moves ``now``."""
    match relation:
        case Stream():
            return True
        case View() | Alias() | Filter():
            return _of_source(relation.input, place)
        case Map():
            value = relation.columns[place].expression
            below = relation.input.schema.columns
            return isinstance(value, Ref) and _of_source(relation.input, below.index(value.column))
        case _:
            return False
