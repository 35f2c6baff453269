"""How the rows of a store have to be found: by a key, by times, by the whole row.

Law: what is asked of a store decides, and classes and negatives say what can be asked (papers 1,
section 2.2, and 2, section 5.1):

- *key*: what a change touches agrees with it in these columns; without a key it may be any row;
- *to*: what has ended is dropped, or is seen ending; not asked where rows never end.  Rows of the
  weakest class end in the order in which they begin, but may come in any, so they need it too;
- *from*: what begins where ``now`` gets to, or beside a change in the past that ends before it;
- *row*: a negative change takes back an equal row; not asked where none can come.

Facts have no ends; they are found by the times that the rule judges them by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    MaxUnion,
    Outer,
    Product,
    SemiJoin,
    StrictDifference,
)
from ebbtide.algebra.operators import Joining, Matching, Padding, operator
from ebbtide.algebra.printing import sql
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import Aggregate, Distinct, Relation
from ebbtide.algebra.traits import Stateless
from ebbtide.algebra.window import Dstream, Istream, Rstream, Session, Window
from ebbtide.analysis.equalities import split_condition
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule
from ebbtide.analysis.monotonicity import Class, Monotonicity
from ebbtide.analysis.temporal.edge import FROM, TO, Edge


class IndexedInput(Protocol):
    """What is known about an input of an operator."""

    @property
    def edge(self) -> Edge: ...
    @property
    def monotonicity(self) -> Monotonicity: ...


@dataclass(frozen=True, slots=True)
class Indexes:
    """What the rows of a store are found by; ``times`` are ``to``, ``from`` or time columns."""

    key: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    row: bool = False

    def __str__(self) -> str:
        key = [f"key ({', '.join(self.key)})"] if self.key else []
        found = [*key, *self.times, *(["row"] if self.row else [])]
        return f"by {', '.join(found)}" if found else "none: all rows are read"


def indexes_of(
    relation: Relation, place: int, inputs: tuple[IndexedInput, ...], rule: Rule
) -> Indexes:
    """What a node needs of one stored input."""
    stored = inputs[place]
    rewrites = isinstance(relation, Window | Session | Istream | Dstream)
    row = rewrites or stored.monotonicity.has_negatives
    key = tuple(_key(relation, place))
    if not stored.edge.is_snapshot:
        return Indexes(key, tuple(_judged_by(rule, stored.edge)), row)
    times = ((str(TO), _ends(stored)), (str(FROM), _begins(relation, place, inputs)))
    return Indexes(key, tuple(name for name, needed in times if needed), row)


def held_indexes(edge: Edge, monotonicity: Monotonicity, rule: Rule) -> Indexes:
    """What rows that wait for their finality are found by: the time at which they pass."""
    return Indexes((), tuple(_judged_by(rule, edge)), monotonicity.has_negatives)


def _key(relation: Relation, place: int) -> Iterator[str]:
    """The columns in which a row agrees with what touches it."""
    node = operator(relation)
    if isinstance(node, Stateless):
        return
    if isinstance(node, Matching):
        split = split_condition(node.predicate, node.left.schema, node.right.schema)
        yield from map(sql, (split.left, split.right)[place])
        return
    match node:
        case Aggregate():
            yield from (sql(named.expression) for named in node.keys)
        case TopN() | Over():
            yield from map(sql, node.partition_by)
        case Window():
            yield from node.spec.keys
        case Session():
            yield from node.partition_by
        case Product() | Rstream() | Recursion():
            return
        case Distinct() | Difference() | StrictDifference() | Intersection() | MaxUnion():
            yield from map(str, node.children[place].schema)
        case Istream() | Dstream():
            yield from map(str, node.input.schema)
        case _:
            assert_never(node)


def _ends(source: IndexedInput) -> bool:
    """Whether rows end."""
    return source.monotonicity.value is not Class.MONOTONIC


def _begins(relation: Relation, place: int, inputs: tuple[IndexedInput, ...]) -> bool:
    """Whether it is asked what begins at some time."""
    stored = inputs[place]
    if stored.monotonicity.static:
        return False
    node = operator(relation)
    if isinstance(node, Stateless):
        return False
    if isinstance(node, Joining):
        # A change that ends before a row begins does not meet it.
        return any(_ends(inputs[other]) for other in _touching(node, place))
    match node:
        case Aggregate() | Istream() | Dstream() | Rstream():
            # A change in the past leads accumulators back; comings are what is emitted.
            return True
        case Distinct() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return begins_ahead(stored.edge)
        case TopN() | Over() | Window() | Session() | Recursion():
            return begins_ahead(stored.edge)
        case _:
            assert_never(node)


def _touching(relation: Relation, place: int) -> Iterable[int]:
    """The inputs whose changes look for rows of a side of a join; see ``keep``."""
    again = isinstance(relation, SemiJoin | AntiJoin) and place == 1
    if isinstance(relation, Padding):
        alone = Outer.RIGHT if place == 1 else Outer.LEFT
        again = relation.kept is not alone
    return (0, 1) if again else (1 - place,)


def begins_ahead(edge: Edge) -> bool:
    """Whether a change may begin after ``now``, which is at every time that has been accepted."""
    known = edge.bounds.variables
    return not all(
        any(case.is_there(v) and case.dist(v, FROM) <= 0 for v in known)
        for case in edge.facts.cases
    )


def _judged_by(rule: Rule, edge: Edge) -> Iterator[str]:
    match rule:
        case ByTime():
            yield from dict.fromkeys(str(p.variable) for case in rule.keep.cases for p in case)
        case LastRows() | OpenSessions():
            yield str(edge.columns[rule.on])
