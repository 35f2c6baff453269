"""What is there: the rows of every node of a plan, at an instant, and over all time.

Law: the reference evaluator's.  Facts are the same at every instant, and are looked at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, assert_never

from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.operators import AcrossTime, Source, operator
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    ChangingTable,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.window import Dstream, Istream, Rstream, Window
from ebbtide.core.change import Change, Multiset, fact, snapshot
from ebbtide.core.time import Instant, is_finite
from ebbtide.core.tree import find
from ebbtide.reference import evaluate
from ebbtide.reference.instants import at_instant
from ebbtide.reference.pointwise import operate
from ebbtide.reference.windows import validity

T = TypeVar("T")
ANY_TIME: Instant = 0
"""The instant at which facts are looked at."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of a plan over given inputs, each computed once.

    ``inputs`` has the accepted changes of every source, by its name, and the facts of every
    recursion; ``now`` bounds the facts that recursions, ISTREAM, DSTREAM and RSTREAM have made.
    """

    inputs: Mapping[str, Sequence[Change]]
    now: Instant
    recursions: Mapping[str, Recursion] = field(default_factory=dict)
    _known: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def of(plan: Relation, inputs: Mapping[str, Sequence[Change]], now: Instant) -> Snapshots:
        """The snapshots of a plan."""
        recursions = {node.name: node for node in find(plan, Recursion)}
        known = dict(inputs)
        for name, node in reversed(recursions.items()):
            known[name] = evaluate(node, known, now)
        return Snapshots(known, now, recursions)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """A value that is computed once."""
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    def instant(self, node: Relation, at: Instant) -> Instant:
        """The instant at which a node is looked at: of facts, always the same."""
        is_fact = self.once(("fact", id(node)), lambda: kind(node) is Kind.FACT)
        return ANY_TIME if is_fact else at

    def rows(self, node: Relation, at: Instant) -> Multiset:
        """The rows of a node at an instant."""
        moment = self.instant(node, at)
        return self.once(("rows", id(node), moment), partial(self._rows, node, moment))

    def relation(self, node: Relation) -> tuple[Change, ...]:
        """The rows of a node over all time."""
        return self.once(("relation", id(node)), lambda: evaluate(node, self.inputs, self.now))

    def _rows(self, relation: Relation, at: Instant) -> Multiset:
        node = operator(relation)
        if isinstance(node, Source):
            return self._source(node, at)
        if isinstance(node, AcrossTime):
            return self._across_time(node, at)
        if isinstance(node, Filter | Map) and node.depends_on_now:
            node = at_instant(node, at if is_finite(at) else ANY_TIME)
        return operate(node, tuple(self.rows(below, at) for below in relation.children))

    def _source(self, node: Source, at: Instant) -> Multiset:
        match node:
            case Stream() | StaticTable() | ChangingTable():
                return snapshot(self.inputs[node.declaration.name], at)
            case Recurrence():
                return snapshot(self.inputs[node.name], at)
            case Values():
                return Counter(node.rows)
            case _:
                assert_never(node)

    def _across_time(self, node: AcrossTime, at: Instant) -> Multiset:
        match node:
            case Window():
                return snapshot(self._validity(node), at)
            case Istream() | Dstream() | Rstream():
                return snapshot(self.relation(node), at)
            case Recursion():
                return snapshot(self.inputs[node.name], at)
            case _:
                assert_never(node)

    def _validity(self, node: Window) -> list[Change]:
        def make() -> list[Change]:
            facts = self.rows(node.input, ANY_TIME)
            return list(validity(node, [fact(row, n) for row, n in facts.items()]))

        return self.once(("validity", id(node)), make)
