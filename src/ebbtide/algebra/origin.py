"""Which columns of a relation are the times and keys that its facts were declared with.

Law: ``times`` are columns that hold, unchanged, an attribute declared to progress (or the instant
of ISTREAM, DSTREAM and RSTREAM, or the end of a fact's window); ``order`` are the columns by which
rows that an order leaves equal are told apart: the time and the primary key of every input, as far
as they are still there.  Both follow from the plan alone, so what the binder adds by default need
not be printed.

This is about names; what progresses for other reasons is for the analysis to find.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ebbtide.algebra.call import SortKey
from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    Product,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Map,
    Named,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.traits import KeepsPlaces
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
)
from ebbtide.core.schema import Schema
from ebbtide.core.tree import fold

Places: TypeAlias = tuple[int, ...]
"""Positions of columns in a schema."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the declared times and keys of the inputs stand in a relation."""

    times: Places = ()
    key: Places = ()
    order: Places = ()


def origin(relation: Relation) -> Origin:
    """The declared times and keys that a relation still has."""
    return fold(relation, _step)


def default_time(relation: Relation) -> str | None:
    """The attribute that a window on the relation stands on unless another is named."""
    times = origin(relation).times
    return relation.schema[times[0]].name if times else None


def default_key(relation: Relation) -> tuple[str, ...]:
    """The primary key by which a window on the relation orders facts of one instant."""
    return tuple(relation.schema[place].name for place in origin(relation).key)


def tie_break(relation: Relation, given: Iterable[SortKey] = ()) -> tuple[SortKey, ...]:
    """What follows the sort keys ``given``: the times and keys that are not among them."""
    sorted_by = {sort.expression for sort in given}
    refs = (Ref(relation.schema[place]) for place in origin(relation).order)
    return tuple(SortKey(ref) for ref in refs if ref not in sorted_by)


def _step(relation: Relation, below: tuple[Origin, ...]) -> Origin:
    node = operator(relation)
    if isinstance(node, View) and node.promises is not None:
        return replace(below[0], times=tuple(map(node.schema.position, node.promises)))
    if isinstance(node, KeepsPlaces):
        return below[0]
    if isinstance(node, Padding):
        return _paired(node, below[0], below[1])
    match node:
        case Stream() | ChangingTable() | StaticTable():
            return _declared(node)
        case Values() | Recurrence():
            return Origin()
        case Tumble() | Hop() | Session() | Cumulate():
            width = len(node.schema)
            return replace(below[0], times=(*below[0].times, width - 1, width - 2))
        case Istream() | Dstream() | Rstream():
            instant = len(node.schema) - 1
            return Origin((instant,), below[0].key, _once((instant, *below[0].order)))
        case Unnest():
            return replace(below[0], key=())
        case Map():
            return _through(below[0], node.columns, node.input.schema)
        case Aggregate():
            return replace(_through(below[0], node.keys, node.input.schema), key=())
        case Product() | Join():
            return _paired(node, below[0], below[1])
        case UnionAll() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return _common(below[0], below[1])
        case _:
            assert_never(node)


def _declared(node: Stream | StaticTable | ChangingTable) -> Origin:
    declaration, schema = node.declaration, node.schema
    key = tuple(map(schema.position, declaration.key))
    times = tuple(schema.position(promise.attribute) for promise in declaration.promises)
    first = () if declaration.time is None else (schema.position(declaration.time),)
    return Origin(times, key, _once((*first, *key)))


def _through(known: Origin, columns: tuple[Named, ...], schema: Schema) -> Origin:
    places: dict[int, int] = {}
    for place, named in enumerate(columns):
        if isinstance(named.expression, Ref):
            places.setdefault(schema.index(named.expression.column), place)
    whole_key = all(place in places for place in known.key)
    return Origin(
        tuple(places[place] for place in known.times if place in places),
        tuple(places[place] for place in known.key) if whole_key else (),
        _once(places[place] for place in known.order if place in places),
    )


def _paired(node: Product | Join | Padding, left: Origin, right: Origin) -> Origin:
    width = len(node.left.schema)

    def moved(places: Places) -> Places:
        return tuple(place + width for place in places)

    kept = node.kept if isinstance(node, Padding) else None
    times = () if kept in (Outer.RIGHT, Outer.FULL) else left.times
    times += () if kept in (Outer.LEFT, Outer.FULL) else moved(right.times)
    whole_key = bool(left.key) and bool(right.key)
    key = left.key + moved(right.key) if whole_key else ()
    return Origin(times, key, left.order + moved(right.order))


def _common(left: Origin, right: Origin) -> Origin:
    return Origin(
        tuple(place for place in left.times if place in right.times),
        (),
        left.order if left.order == right.order else (),
    )


def _once(places: Iterable[int]) -> Places:
    return tuple(dict.fromkeys(places))
