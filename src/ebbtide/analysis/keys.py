"""Candidate keys of every relation.

Law: a set of columns is a key iff in no snapshot two rows agree on all of it, NULLs agreeing with
each other.  The empty key says that there is never more than one row.  A declared key is a
promise of the user; every other is derived from those (paper 1, section 2.1).

Two cheap functional dependencies help: columns that a predicate fixes to a constant need not be
in a key, and columns that it makes equal may stand for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, assert_never

from ebbtide.algebra.combination import (
    Intersection,
    Join,
    MaxUnion,
    Outer,
    Product,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Comparison, Expression, Literal, Ref, conjuncts
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.ranking import Ranking, TopN
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Named,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
)
from ebbtide.algebra.traits import KeepsKeys
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
)
from ebbtide.core.schema import Schema
from ebbtide.core.tree import fold

Key: TypeAlias = frozenset[int]
"""Positions of columns in a schema."""

LIMIT = 16
"""How many keys of a relation are kept, the smallest ones."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The candidate keys of a relation, and what is known of its columns in every row.

    ``constants`` maps columns to the literal that they always are; ``equal`` has pairs of columns
    that are always equal and not NULL.
    """

    candidates: tuple[Key, ...] = ()
    constants: frozenset[tuple[int, Literal]] = frozenset()
    equal: frozenset[tuple[int, int]] = frozenset()

    def determines(self, columns: Iterable[int]) -> bool:
        """Whether some key lies within the columns, so that they tell all rows apart."""
        known = frozenset(columns) | self.fixed
        known |= {b for a, b in self._pairs() if a in known}
        return any(key <= known for key in self.candidates)

    @property
    def fixed(self) -> Key:
        """The columns that never vary."""
        return frozenset(column for column, _ in self.constants)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for a, b in self.equal:
            yield a, b
            yield b, a

    def names(self, schema: Schema) -> tuple[tuple[str, ...], ...]:
        """The candidate keys as names of columns."""
        return tuple(tuple(str(schema[i]) for i in sorted(key)) for key in self.candidates)


def keys(plan: Relation) -> Keys:
    """What is known of the keys of a plan's output."""
    return fold(plan, derive)


def derive(relation: Relation, below: tuple[Keys, ...]) -> Keys:
    """The keys of a node from those of its inputs."""
    node = operator(relation)
    if isinstance(node, KeepsKeys):
        return below[0]
    if isinstance(node, Padding):
        return _outer(node, below)
    match node:
        case ChangingTable() if node.declaration.bag:
            return Keys()
        case Stream() | StaticTable() | ChangingTable():
            declared = node.declaration.key
            return Keys(_some(declared, node.schema))
        case Recurrence():
            return Keys()
        case Values():
            return Keys((frozenset(),) if len(node.rows) <= 1 else ())
        case Filter():
            return _selected(below[0], node.predicate, node.schema)
        case Distinct() | StrictDifference():
            return _with(below[0], _all(node.schema))
        case Map():
            return _mapped(below[0], node.columns, node.input.schema)
        case Aggregate():
            return _grouped(below[0], node)
        case TopN():
            return _top(below[0], node)
        case Unnest():
            numbered = _extended(below[0], len(node.schema) - 1)
            return Keys((), below[0].constants, below[0].equal) if node.place is None else numbered
        case Hop():
            return _extended(below[0], node.schema.position("window_start"))
        case Cumulate():
            return _extended(below[0], node.schema.position("window_end"))
        case Istream() | Dstream() | Rstream():
            return _extended(below[0], len(node.schema) - 1)
        case Product():
            return _paired(below[0], below[1], len(node.left.schema))
        case Join():
            pairs = _paired(below[0], below[1], len(node.left.schema))
            joined = _selected(pairs, node.predicate, node.schema)
            left, right = _kept_sides(node, below, joined.equal)
            return _with(joined, *left, *right)
        case UnionAll():
            return _united(below[0], below[1])
        case MaxUnion():
            both = all(one.candidates for one in below)
            return Keys((_all(node.schema),) if both else ())
        case Intersection():
            met = _with(below[0], *below[1].candidates)
            return met if node.all else _with(met, _all(node.schema))
        case _:
            assert_never(node)


def _some(names: tuple[str, ...], schema: Schema) -> tuple[Key, ...]:
    return (frozenset(schema.position(name) for name in names),) if names else ()


def _all(schema: Schema) -> Key:
    return frozenset(range(len(schema)))


def _minimal(candidates: Iterable[Key]) -> tuple[Key, ...]:
    ordered = sorted(set(candidates), key=lambda key: (len(key), sorted(key)))
    kept: list[Key] = []
    for key in ordered:
        if not any(smaller <= key for smaller in kept):
            kept.append(key)
    return tuple(kept[:LIMIT])


def _with(known: Keys, *more: Key) -> Keys:
    fixed = known.fixed
    reduced = (key - fixed for key in (*known.candidates, *more))
    return Keys(_minimal(reduced), known.constants, known.equal)


def _selected(known: Keys, predicate: Expression, schema: Schema) -> Keys:
    constants, equal = set(known.constants), set(known.equal)
    for term in conjuncts(predicate):
        match term:
            case Comparison(op="=", left=Ref(column=a), right=Ref(column=b)):
                equal.add((schema.index(a), schema.index(b)))
            case (
                Comparison(op="=", left=Ref(column=a), right=Literal() as value)
                | Comparison(op="=", left=Literal() as value, right=Ref(column=a))
            ):
                constants.add((schema.index(a), value))
            case Ref(column=a):
                constants.add((schema.index(a), Literal(True, a.type)))
            case _:
                pass
    return _with(Keys(known.candidates, frozenset(constants), frozenset(equal)))


def _mapped(known: Keys, columns: tuple[Named, ...], schema: Schema) -> Keys:
    places: dict[int, int] = {}
    constants: set[tuple[int, Literal]] = set()
    for place, named in enumerate(columns):
        if isinstance(named.expression, Ref):
            places.setdefault(schema.index(named.expression.column), place)
        if isinstance(named.expression, Literal):
            constants.add((place, named.expression))
    equal = {(places[a], places[b]) for a, b in known.equal if a in places and b in places}
    for a, b in (*known.equal, *((b, a) for a, b in known.equal)):
        if a in places:
            places.setdefault(b, places[a])
    constants |= {(places[a], value) for a, value in known.constants if a in places}
    survivors = (
        frozenset(places[column] for column in key)
        for key in known.candidates
        if all(column in places for column in key)
    )
    return _with(Keys(tuple(survivors), frozenset(constants), frozenset(equal)))


def _grouped(known: Keys, node: Aggregate) -> Keys:
    through = _mapped(known, node.keys, node.input.schema)
    group = frozenset(range(len(node.keys)))
    return _with(through, group)


def _top(known: Keys, node: TopN) -> Keys:
    refs = [e for e in node.partition_by if isinstance(e, Ref)]
    if node.ranking is not Ranking.ROW_NUMBER or len(refs) != len(node.partition_by):
        return known
    partition = frozenset(node.input.schema.index(ref.column) for ref in refs)
    if node.count == 1:
        return _with(known, partition)
    if node.number_as is not None:
        return _with(known, partition | {len(node.schema) - 1})
    return known


def _extended(known: Keys, column: int) -> Keys:
    extended = tuple(key | {column} for key in known.candidates)
    return Keys(extended, known.constants, known.equal)


def _paired(left: Keys, right: Keys, width: int) -> Keys:
    candidates = (
        a | {column + width for column in b} for a, b in product(left.candidates, right.candidates)
    )
    constants = left.constants | {(column + width, v) for column, v in right.constants}
    equal = left.equal | {(a + width, b + width) for a, b in right.equal}
    return Keys(_minimal(candidates), constants, equal)


def _kept_sides(
    node: Join | Padding, below: tuple[Keys, ...], equal: frozenset[tuple[int, int]]
) -> tuple[list[Key], list[Key]]:
    """Each side's own keys, where the join fixes the other side's row."""
    width = len(node.left.schema)
    across = [sorted(pair) for pair in equal if min(pair) < width <= max(pair)]
    left, right = below
    right_fixed = right.determines(b - width for _, b in across)
    left_fixed = left.determines(a for a, _ in across)
    return (
        [*left.candidates] if right_fixed else [],
        [frozenset(c + width for c in key) for key in right.candidates] if left_fixed else [],
    )


def _outer(node: Padding, below: tuple[Keys, ...]) -> Keys:
    """What held on one side's rows does not hold where they are padded with NULLs."""
    pairs = _paired(below[0], below[1], len(node.left.schema))
    equal = _selected(pairs, node.predicate, node.schema).equal
    left, right = _kept_sides(node, below, equal)
    match node.kept:
        case Outer.LEFT:
            return Keys(_minimal((*pairs.candidates, *left)))
        case Outer.RIGHT:
            return Keys(_minimal((*pairs.candidates, *right)))
        case Outer.FULL:
            # A padded left and a padded right row agree on a key that can be all NULL.
            before = node.left.schema + node.right.schema
            return Keys(
                tuple(
                    key
                    for key in pairs.candidates
                    if any(not before[column].nullable for column in key)
                )
            )


def _united(left: Keys, right: Keys) -> Keys:
    """Rows of the two sides differ where a column is one literal here and another one there."""
    other = dict(right.constants)
    tags = {
        column for column, value in left.constants if column in other and other[column] != value
    }
    if not tags:
        return Keys()
    tag = min(tags)
    candidates = (a | b | {tag} for a, b in product(left.candidates, right.candidates))
    return Keys(_minimal(candidates))
