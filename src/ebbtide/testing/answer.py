"""A plan's answer over all time, from inputs written as tables, to be asked about instants.

    bids = Stream(...)
    got = answer(Window(bids, Range(10), on="at"), {"bids": '''
        auction | at
        1       | 0
    '''})
    assert got.at(9) == [(1, 0)]
    assert got.at(10) == []

The evaluator is the reference, unless another is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream
from ebbtide.core.change import Change, consolidate, end_points, snapshot, until
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import Schema, schema
from ebbtide.core.time import INF, Instant, is_finite
from ebbtide.core.tree import find
from ebbtide.core.types import Type
from ebbtide.core.values import Row, row_key
from ebbtide.reference import evaluate
from ebbtide.testing.assertions import assert_snapshot_equal
from ebbtide.testing.tables import changes_from_text, changes_to_text

Inputs: TypeAlias = Mapping[str, Iterable[Change]]
Evaluator: TypeAlias = Callable[[Relation, Inputs, Instant], Iterable[Change]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The changes that a plan makes of its inputs, up to ``now``."""

    changes: tuple[Change, ...]
    schema: Schema
    now: Instant = INF

    def __str__(self) -> str:
        return changes_to_text(self.changes, self.schema)

    def at(self, t: Instant) -> list[Row]:
        """The rows at an instant, sorted, as often as they occur."""
        return sorted(snapshot(self.changes, t).elements(), key=row_key)

    def around(self, t: Instant) -> tuple[list[Row], list[Row]]:
        """The rows on both sides of a tick: an instant before it, and at it."""
        return self.at(t - 1), self.at(t)

    def comes(self, t: Instant) -> list[Row]:
        """The rows that are there at an instant and were not an instant before."""
        new = snapshot(self.changes, t) - snapshot(self.changes, t - 1)
        return sorted(new.elements(), key=row_key)

    def goes(self, t: Instant) -> list[Row]:
        """The rows that are no longer there at an instant."""
        old = snapshot(self.changes, t - 1) - snapshot(self.changes, t)
        return sorted(old.elements(), key=row_key)

    @property
    def ticks(self) -> list[Instant]:
        """The instants at which the answer changes."""
        return [t for t in end_points(self.changes) if is_finite(t)]

    def shows(self, table: str) -> None:
        """Fails unless the answer is, at every instant up to ``now``, what a table says."""
        __tracebackhide__ = True
        expected = changes_from_text(table, self.schema)
        assert_snapshot_equal(self.changes, expected, self.now, self.schema)


def answer(
    plan: Relation,
    inputs: Mapping[str, str | Iterable[Change]],
    now: Instant = INF,
    evaluator: Evaluator = evaluate,
) -> Answer:
    """What a plan makes of inputs: tables as text, or changes, by the names of the sources."""
    schemas = sources(plan)
    read = {
        name: changes_from_text(given, schemas[name]) if isinstance(given, str) else tuple(given)
        for name, given in inputs.items()
    }
    output = until(evaluator(plan, read, now), now)
    return Answer(consolidate(output), plan.schema, now)


def sources(plan: Relation) -> dict[str, Schema]:
    """The schemas of the rows of a plan's sources, by name."""
    leaves: list[Stream | StaticTable | ChangingTable] = [
        *find(plan, Stream),
        *find(plan, StaticTable),
        *find(plan, ChangingTable),
    ]
    return {leaf.declaration.name: leaf.schema for leaf in leaves}


def relation(name: str, /, **columns: Type | str) -> ChangingTable:
    """A source that stands for any relation: a table whose changes the test gives.

    >>> str(relation("prices", symbol="STRING", price="DOUBLE").schema)
    'symbol STRING, price DOUBLE'
    """
    return ChangingTable(TableDeclaration(name, schema(**columns)))
