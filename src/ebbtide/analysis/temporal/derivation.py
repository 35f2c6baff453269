"""The temporal facts of every operator, one arm each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    MaxUnion,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.operators import Joining, operator
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
from ebbtide.analysis.temporal import combination, pointwise, sources, windows
from ebbtide.analysis.temporal.edge import Edge

_NONE: Mapping[str, Edge] = MappingProxyType({})


def derive(
    relation: Relation, below: tuple[Edge, ...], recursions: Mapping[str, Edge] = _NONE
) -> Edge:
    """What is known about a node's output from what is known about its inputs.

    ``recursions`` has what is known of the rows of each recursion, by its name.
    """
    node = operator(relation)
    if isinstance(node, Joining):
        return combination.brought_together(node, below[0], below[1])
    match node:
        case Stream():
            return sources.stream(node)
        case StaticTable() | Values():
            return sources.static(node)
        case ChangingTable():
            return sources.table(node)
        case View():
            return sources.view(node, below[0])
        case Recurrence() | Recursion():
            return replace(recursions[node.name], schema=node.schema)
        case Alias():
            return pointwise.renamed(node, below[0])
        case Filter():
            return pointwise.filtered(node, below[0])
        case Map():
            return pointwise.mapped(node, below[0])
        case Unnest():
            return pointwise.unnested(node, below[0])
        case Distinct():
            return pointwise.distinct(node, below[0])
        case Aggregate():
            return pointwise.grouped(node, below[0])
        case TopN():
            return pointwise.ranked(node, below[0])
        case Over():
            return pointwise.framed(node, below[0])
        case UnionAll() | MaxUnion():
            return combination.united(node, below[0], below[1])
        case Difference() | StrictDifference():
            return combination.subtracted(node, below[0], below[1])
        case Intersection():
            return combination.intersected(node, below[0], below[1])
        case Window():
            return windows.windowed(node, below[0])
        case Tumble() | Hop() | Cumulate():
            return windows.assigned(node, below[0])
        case Session():
            return windows.in_session(node, below[0])
        case Istream() | Dstream() | Rstream():
            return windows.streamed(node, below[0])
        case _:
            assert_never(node)
