"""The rows of a partition that give a row its rank, its neighbours, its frame or its window.

Law: as long as these rows are what they are, the row's place is what it is, whatever else of the
partition is deleted.  A deletion only ever moves rows closer together, so of the rows before a row
in a top n, say, none matters unless its number is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, Frame, FrameUnit, Over, TopN
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import LinearWindow, Rows, Session, Sessions, Window
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant, is_finite
from ebbtide.core.values import Row, row_key
from ebbtide.lineage.emerging import candidates, emerging
from ebbtide.lineage.patterns import UNKNOWN, fits, is_known, values
from ebbtide.lineage.snapshots import Snapshots
from ebbtide.reference.ordering import place
from ebbtide.reference.ranking import _frame
from ebbtide.reference.scalar import evaluate
from ebbtide.reference.windows import shown_over

Member = tuple[Row, bool]
"""A row of the input, and whether it is the one that is asked about."""


@dataclass(frozen=True, slots=True)
class KeyOrder:
    """An order on rows, of which some may not be known."""

    keys: tuple[SortKey, ...]
    schema: Schema
    _place: Callable[[Row], Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_place", place(self.keys, self.schema))

    def may_precede(self, one: Row, other: Row) -> bool:
        """Whether one row may stand before another."""
        if not is_known(one) or not is_known(other):
            return True
        return bool(self._place(one) < self._place(other))


@dataclass(frozen=True, slots=True)
class Order:
    """A row among the rows of an operator's input, at an instant."""

    world: Snapshots
    node: TopN | Over | Session | Window
    input: Relation
    goal: Row
    at: Instant

    @staticmethod
    def of_keys(keys: tuple[SortKey, ...], schema: Schema) -> KeyOrder:
        """An order by keys, then by all columns."""
        return KeyOrder(keys, schema)

    @property
    def row(self) -> Row:
        """The row of the input that the goal is about."""
        return self.goal[: len(self.input.schema)]

    @property
    def copies(self) -> int:
        """How often it is in the input."""
        return self.world.rows(self.input, self.at)[self.row]

    @property
    def shown(self) -> int:
        """How often it is in the output, with whatever was added to it."""
        width = len(self.row)
        rows = self.world.rows(self.node, self.at)
        return sum(n for row, n in rows.items() if row[:width] == self.row)

    def partition(self, keys: Sequence[Expression]) -> list[Row]:
        """The rows that are, or may emerge, in the partition of the row."""
        mine = values(keys, self.input.schema, self.row)
        return [
            other
            for other in candidates(self.world, self.input, self.at)
            if fits(values(keys, self.input.schema, other), mine)
        ]

    def there(self, rows: Sequence[Row]) -> list[Row]:
        """Those of some rows that are there, each as often as it is."""
        found = self.world.rows(self.input, self.at)
        return [row for row in rows for _ in range(found[row])]

    def new(self, rows: Sequence[Row]) -> list[Row]:
        """Those of some rows that may emerge."""
        known = emerging(self.world, self.input, self.at)
        return [row for row in rows if row in known]

    def settled(self, rows: Sequence[Row]) -> list[Member] | None:
        """The members if no order is needed to tell: the row is not known, or is not there."""
        if not is_known(self.row):
            return [(self.row, True), *((row, False) for row in rows)]
        return None if self.copies else [(self.row, True)]


def top_members(order: Order, node: TopN) -> Iterator[Member]:
    """The row, and those before it as far as they matter."""
    members = order.partition(node.partition_by)
    settled = order.settled(members)
    if settled is not None:
        yield from settled
        return
    yield order.row, True
    # Without those before it, it only stands nearer to the top.
    safe = node.number_as is None and node.offset == 0 and order.shown == order.copies
    keys = Order.of_keys(node.order_by, node.input.schema)
    wanted = order.new(members) if safe else members
    yield from ((r, False) for r in wanted if r != order.row and keys.may_precede(r, order.row))


def framed_members(order: Order, node: Over) -> Iterator[Member]:
    """The row, and those that its calls look at or count."""
    members = order.partition(node.partition_by)
    settled = order.settled(members)
    if settled is not None:
        yield from settled
        return
    yield order.row, True
    yield from ((row, False) for row in order.new(members))
    rows = sorted(order.there(members), key=place(node.order_by, node.input.schema))
    for index, row in enumerate(rows):
        if row == order.row:
            for framed in node.calls:
                yield from ((r, r == row) for r in _looked_at(node, framed.call, rows, index))


def _looked_at(node: Over, call: AggregateCall, rows: list[Row], index: int) -> list[Row]:
    """The rows of a partition that decide what a call is for one of them."""
    schema = node.input.schema
    if call.name in NUMBERINGS:
        return rows[:index]
    if call.name in NEIGHBOURS:
        options = call.arguments[1:]
        distance = evaluate(options[0], schema, rows[index]) if options else 1
        other = index - distance if call.name == "LAG" else index + distance
        if not 0 <= other < len(rows):
            return []
        return rows[min(index, other) : max(index, other) + 1]
    frame = node.frame or Frame(FrameUnit.RANGE, None, 0 if node.order_by else None)
    if frame.unit is FrameUnit.RANGE:
        return _frame(frame, node.order_by, schema, rows, index)
    start = 0 if frame.start is None else index + frame.start
    end = len(rows) if frame.end is None else index + frame.end + 1
    return rows[max(0, min(index, start)) : max(index, end)]


def session_members(order: Order, node: Session) -> Iterator[Member]:
    """The row, and all of its session."""
    keys = _columns(node.input, node.partition_by)
    members = order.partition(keys)
    settled = order.settled(members)
    if settled is not None:
        yield from settled
        return
    yield order.row, True
    yield from ((row, False) for row in order.new(members))
    time = node.input.schema.position(node.on)
    for row in _chain(order.there(members), order.row, time, node.gap_us):
        yield row, row == order.row


def windowed(order: Order, node: Window) -> Iterator[Member]:
    """The fact, and those that decide whether its window shows it."""
    time, at = node.input.schema.position(node.on), order.at
    facts = Order(order.world, node, node.input, order.goal, order.at)
    ts: Any = order.row[time]
    if ts is not UNKNOWN and (ts is None or not is_finite(ts)):
        return
    spec = node.spec
    if isinstance(spec, LinearWindow):
        interval = None if ts is UNKNOWN else shown_over(spec, ts)
        if ts is UNKNOWN or (interval is not None and at in interval):
            yield order.row, True
        return
    members = [
        row
        for row in facts.partition(_columns(node.input, spec.keys))
        if row[time] is UNKNOWN or (_is_time(row[time]) and row[time] <= at)
    ]
    settled = facts.settled(members)
    if settled is not None:
        yield from settled
        return
    if ts is UNKNOWN or ts > at:
        return
    yield order.row, True
    yield from ((row, False) for row in facts.new(members) if row != order.row)
    match spec:
        case Rows():
            yield from _followed(facts, node, spec, members, time)
        case Sessions():
            for row in _chain(facts.there(members), order.row, time, spec.gap_us):
                if row[time] >= ts and row != order.row:
                    yield row, False
        case _:
            assert_never(spec)


def _followed(
    order: Order, node: Window, spec: Rows, members: list[Row], time: int
) -> Iterator[Member]:
    """The rows by which a row leaves a window of rows, or comes into one that slides."""
    schema = node.input.schema
    places = [time, *(schema.position(name) for name in node.key), *range(len(schema))]

    def key(row: Row) -> Any:
        return row_key(row[i] for i in places)

    there = order.there(members)
    if spec.slide is not None and spec.slide > 1:
        yield from ((row, False) for row in there if row != order.row)
    elif order.shown < order.copies:
        yield from ((row, False) for row in there if key(row) > key(order.row))


def _chain(rows: Sequence[Row], row: Row, time: int, gap_us: int) -> list[Row]:
    """The rows of a row's session; a row without a time has none."""
    if not _is_time(row[time]):
        return []
    times = sorted({other[time] for other in rows if _is_time(other[time])} | {row[time]})
    low = high = times.index(row[time])
    while low > 0 and times[low] - times[low - 1] <= gap_us:
        low -= 1
    while high + 1 < len(times) and times[high + 1] - times[high] <= gap_us:
        high += 1
    first, last = times[low], times[high]
    return [other for other in rows if _is_time(other[time]) and first <= other[time] <= last]


def _is_time(value: Any) -> bool:
    return value is not None and value is not UNKNOWN and is_finite(value)


def _columns(node: Relation, names: Sequence[str]) -> list[Expression]:
    return [node.ref(name) for name in names]
