"""What each operator asks of its inputs, so that a row of its output stays what it is.

Law: a *goal* is a pattern of rows of a node at an instant.  Its multiplicity is what it is, and no
deletion of other inputs changes that, if the same holds of all goals that its operator asks for.
At the sources a goal is met by the inputs that have such rows: these are named.

For each operator that is a question of what could make the row come or go: its parents; the members
of its group; the partners that it has or has not; the rows before it in an order.  Rows that are
not there count as well: one that a deletion could bring forth (``emerging``) has to stay away, and
so what keeps it away is named, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.printing import sql
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
from ebbtide.core.change import Change
from ebbtide.core.time import NEG_INF, Instant, is_finite
from ebbtide.core.values import Row
from ebbtide.lineage.emerging import (
    below,
    candidates,
    group,
    image,
    matched,
    partners,
)
from ebbtide.lineage.orders import Order, framed_members, session_members, top_members, windowed
from ebbtide.lineage.patterns import UNKNOWN, fits, is_known, refuted
from ebbtide.lineage.snapshots import ANY_TIME, Snapshots
from ebbtide.reference.instants import at_instant


class Role(Enum):
    """How an input bears on a row; the first that applies is said."""

    SOURCE = "source"
    """The row is made of it."""
    PLACE = "place"
    """It gives the row its rank, its neighbour, or its place in a window."""
    BLOCKS = "blocks"
    """It keeps away what would keep the row away, or alter it."""
    INSTEAD = "instead"
    """It would bring the same row forth if those above were not there."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Rows of a node at an instant that are to stay as they are."""

    node: Relation
    row: Row
    at: Instant
    role: Role


@dataclass(frozen=True, slots=True)
class Cause:
    """A row of a source, with its validity."""

    source: str
    change: Change
    role: Role


@dataclass(frozen=True, slots=True)
class Absence:
    """That no row of a relation met a condition."""

    relation: str
    condition: str


Asked: TypeAlias = Goal | Cause | Absence


@dataclass(frozen=True, slots=True)
class Asking:
    """What the operator of a goal asks for."""

    world: Snapshots
    goal: Goal

    def answers(self) -> Iterator[Asked]:
        """The goals of its inputs, and at a source the inputs themselves."""
        node, row = operator(self.goal.node), self.goal.row
        if isinstance(node, Source):
            yield from self._source(node)
            return
        match node:
            case View() | Alias() | Distinct():
                yield self._below(node.input, row)
            case Filter():
                yield from self._filter(node)
            case Map():
                for other in candidates(self.world, node.input, self.goal.at):
                    if fits(image(node, other, self.goal.at), row):
                        yield self._below(node.input, other)
            case Unnest() | Tumble() | Hop() | Cumulate():
                yield self._below(node.input, row[: len(node.input.schema)])
            case Aggregate():
                for other in candidates(self.world, node.input, self.goal.at):
                    if fits(group(node, other), row[: len(node.keys)]):
                        yield self._below(node.input, other)
            case TopN():
                yield from self._ordered(node.input, top_members(self._order(node), node))
            case Over():
                yield from self._ordered(node.input, framed_members(self._order(node), node))
            case Session():
                yield from self._ordered(node.input, session_members(self._order(node), node))
            case Window():
                yield from self._ordered(node.input, windowed(self._order(node), node))
            case Product() | Join():
                yield from self._pair(node)
            case SemiJoin():
                yield from self._partnered(node)
            case AntiJoin():
                yield from self._unpartnered(node, row)
            case OuterJoin():
                yield from self._outer(node)
            case AsofJoin():
                yield from self._asof(node)
            case UnionAll() | MaxUnion() | Intersection():
                yield self._below(node.left, row)
                yield self._below(node.right, row)
            case Difference() | StrictDifference():
                yield from self._difference(node)
            case Istream() | Dstream() | Rstream():
                yield from self._fact(node)
            case Recursion():
                yield from self._recursive(node)
            case _:
                assert_never(node)

    # --- one input ------------------------------------------------------------------------------

    def _below(
        self, node: Relation, row: Row, role: Role | None = None, at: Instant | None = None
    ) -> Goal:
        moment = self.goal.at if at is None else at
        asked = self.goal.role if role is None else _lesser(self.goal.role, role)
        return Goal(node, row, self.world.instant(node, moment), asked)

    def _is_there(self, node: Relation, row: Row) -> bool:
        return self.world.rows(node, self.goal.at)[row] > 0

    def _source(self, node: Source) -> Iterator[Asked]:
        match node:
            case Values():
                return
            case Recurrence():
                yield from self._recursive(self.world.recursions[node.name])
            case Stream() | StaticTable() | ChangingTable():
                name = node.declaration.name
                for change in self.world.inputs[name]:
                    if self.goal.at in change.interval and fits(change.row, self.goal.row):
                        yield Cause(name, change, self.goal.role)
            case _:
                assert_never(node)

    def _filter(self, node: Filter) -> Iterator[Goal]:
        at = self.goal.at
        there = at_instant(node, at if is_finite(at) else ANY_TIME)
        assert isinstance(there, Filter)
        if not refuted(there.predicate, node.input.schema, self.goal.row):
            yield self._below(node.input, self.goal.row)

    def _order(self, node: TopN | Over | Session | Window) -> Order:
        return Order(self.world, node, node.input, self.goal.row, self.goal.at)

    def _ordered(self, node: Relation, members: Iterable[tuple[Row, bool]]) -> Iterator[Goal]:
        """The row itself, and members of its partition that give it its place."""
        for row, is_it in members:
            yield self._below(node, row, None if is_it else Role.PLACE)

    def _fact(self, node: Istream | Dstream | Rstream) -> Iterator[Asked]:
        *row, t = self.goal.row
        if t is UNKNOWN:
            yield from self._everything(node.input)
            return
        if t is None or not is_finite(t) or t > self.world.now:
            return
        yield self._below(node.input, tuple(row), at=t)
        if isinstance(node, Istream | Dstream):
            yield self._below(node.input, tuple(row), at=t - 1)
        elif candidates(self.world, node.input, NEG_INF):
            # What was always there is shown only from the first change of anything on.
            yield from self._everything(node.input)

    def _recursive(self, node: Recursion) -> Iterator[Asked]:
        """A fact follows from earlier ones, so the way down ends."""
        row = self.goal.row
        if not is_known(row):
            yield from self._everything(node.input)
        elif row[node.place] is not None and row[node.place] <= self.world.now:
            yield self._below(node.input, row)

    def _everything(self, node: Relation) -> Iterator[Cause]:
        """All inputs of a node: which rows would bear on the goal is not known."""
        for source in below(self.world, node):
            if isinstance(source, Stream | StaticTable | ChangingTable):
                name = source.declaration.name
                for change in self.world.inputs[name]:
                    yield Cause(name, change, _lesser(self.goal.role, Role.BLOCKS))

    # --- two inputs -----------------------------------------------------------------------------

    def _pair(self, node: Product | Join) -> Iterator[Goal]:
        width = len(node.left.schema)
        one, other = self.goal.row[:width], self.goal.row[width:]
        schema = node.left.schema + node.right.schema
        if isinstance(node, Join) and refuted(node.predicate, schema, one + other):
            return
        if is_known(one) and not self._is_there(node.left, one):
            yield self._below(node.left, one)
        elif is_known(other) and not self._is_there(node.right, other):
            yield self._below(node.right, other)
        else:
            yield self._below(node.left, one)
            yield self._below(node.right, other)

    def _partnered(self, node: SemiJoin) -> Iterator[Goal]:
        row = self.goal.row
        yield self._below(node.left, row)
        if not is_known(row) or self._is_there(node.left, row):
            for other in partners(self.world, node, row, self.goal.at):
                yield self._below(node.right, other)

    def _unpartnered(self, node: AntiJoin | OuterJoin | AsofJoin, row: Row) -> Iterator[Asked]:
        """A left row, there because nothing meets a condition, or not because something does."""
        yield self._below(node.left, row)
        if is_known(row) and not self._is_there(node.left, row):
            return
        found = partners(self.world, node, row, self.goal.at)
        for other in found:
            yield self._below(node.right, other, Role.BLOCKS)
        if is_known(row) and not any(self._is_there(node.right, other) for other in found):
            yield Absence(named(node.right), sql(node.predicate))

    def _unmatched(self, node: OuterJoin, row: Row) -> Iterator[Asked]:
        """The same for a right row."""
        yield self._below(node.right, row)
        if is_known(row) and not self._is_there(node.right, row):
            return
        found = matched(self.world, node, row, self.goal.at)
        for other in found:
            yield self._below(node.left, other, Role.BLOCKS)
        if is_known(row) and not any(self._is_there(node.left, other) for other in found):
            yield Absence(named(node.left), sql(node.predicate))

    def _outer(self, node: OuterJoin) -> Iterator[Asked]:
        width = len(node.left.schema)
        one, other = self.goal.row[:width], self.goal.row[width:]
        schema = node.left.schema + node.right.schema
        if not refuted(node.predicate, schema, one + other):
            yield self._below(node.left, one)
            yield self._below(node.right, other)
        if node.kept is not Outer.RIGHT and fits(other, (None,) * len(other)):
            yield from self._unpartnered(node, one)
        if node.kept is not Outer.LEFT and fits(one, (None,) * len(one)):
            yield from self._unmatched(node, other)

    def _asof(self, node: AsofJoin) -> Iterator[Asked]:
        width = len(node.left.schema)
        one, other = self.goal.row[:width], self.goal.row[width:]
        yield self._below(node.left, one)
        if is_known(one) and not self._is_there(node.left, one):
            return
        order = Order.of_keys(node.order_by, node.right.schema)
        schema = node.left.schema + node.right.schema
        if not refuted(node.predicate, schema, one + other):
            yield self._below(node.right, other)
        for near in partners(self.world, node, one, self.goal.at):
            if near != other and order.may_precede(near, other):
                yield self._below(node.right, near, Role.BLOCKS)
        if node.pads and fits(other, (None,) * len(other)):
            yield from self._unpartnered(node, one)

    def _difference(self, node: Difference | StrictDifference) -> Iterator[Asked]:
        row = self.goal.row
        yield self._below(node.left, row)
        if is_known(row) and not self._is_there(node.left, row):
            return
        yield self._below(node.right, row, Role.BLOCKS)
        if is_known(row) and not self._is_there(node.right, row):
            yield Absence(named(node.right), "the same row")


def named(node: Relation) -> str:
    """What a relation is called in a sentence: the sources that it reads."""
    pending: list[Any] = [node]
    found: list[str] = []
    while pending:
        below = pending.pop(0)
        if isinstance(below, Stream | StaticTable | ChangingTable):
            found.append(below.declaration.name)
        else:
            pending = [*below.children, *pending]
    return ", ".join(dict.fromkeys(found)) or "the given rows"


def _lesser(one: Role, other: Role) -> Role:
    order = list(Role)
    return max(one, other, key=order.index)
