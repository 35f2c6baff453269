"""Rows that would be there, or be there more often, if some inputs were not.

Law: whatever inputs are deleted, a row whose multiplicity in a node grows by it fits one of the
node's emerging patterns.  There may be too many of them, never too few: a pattern too many names an
input too many.

A row emerges where operators deny: what a partner kept out of an anti join, what a better row kept
out of a top n, the sum of a group without some of its rows.  Filters, joins and unions of sources
only ever lose rows, so nothing emerges from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
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
from ebbtide.algebra.operators import AcrossTime, Source, operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Map,
    Relation,
    Unnest,
    View,
)
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    LinearWindow,
    Rows,
    Rstream,
    Session,
    Sessions,
    Tumble,
    Window,
)
from ebbtide.core.time import Instant, is_finite
from ebbtide.core.values import Row
from ebbtide.lineage.patterns import UNKNOWN, refuted, value, values
from ebbtide.lineage.snapshots import ANY_TIME, Snapshots
from ebbtide.reference.instants import at_instant
from ebbtide.reference.pointwise import operate
from ebbtide.reference.windows import shown_over

Patterns: TypeAlias = frozenset[Row]

_DENYING = (
    Aggregate,
    TopN,
    Over,
    Session,
    AntiJoin,
    OuterJoin,
    AsofJoin,
    Difference,
    StrictDifference,
    Istream,
    Dstream,
)


def emerging(world: Snapshots, node: Relation, at: Instant) -> Patterns:
    """The patterns of the rows that may emerge in a node at an instant."""
    moment = world.instant(node, at)
    make = partial(_patterns, world, node, moment)
    return world.once(("emerging", id(node), moment), make)


def candidates(world: Snapshots, node: Relation, at: Instant) -> Patterns:
    """The rows of a node at an instant, and those that may emerge."""
    moment = world.instant(node, at)

    def make() -> Patterns:
        return emerging(world, node, moment) | world.rows(node, moment).keys()

    return world.once(("candidates", id(node), moment), make)


def only_loses(world: Snapshots, node: Relation) -> bool:
    """Whether no row of a node can emerge, at any instant."""
    return world.once(("loses", id(node)), lambda: not any(map(_denies, below(world, node))))


def below(world: Snapshots, node: Relation) -> Iterator[Relation]:
    """A node and all that it stands on, also by way of a recursion around it."""
    pending, entered = [node], set()
    while pending:
        found = pending.pop()
        yield found
        pending += found.children
        if isinstance(found, Recurrence) and found.name not in entered:
            entered.add(found.name)
            pending.append(world.recursions[found.name].input)


def _denies(node: Relation) -> bool:
    return isinstance(node, _DENYING) or (isinstance(node, Window) and isinstance(node.spec, Rows))


def _patterns(world: Snapshots, relation: Relation, at: Instant) -> Patterns:
    node = operator(relation)
    if only_loses(world, relation):
        return frozenset()
    if isinstance(node, Source):
        # Of a recursion with denials in it, any fact may emerge.
        unknown: Row = (UNKNOWN,) * len(node.schema)
        return frozenset({unknown} if isinstance(node, Recurrence) else ())
    if isinstance(node, AcrossTime):
        return frozenset(_across_time(world, node, at))
    match node:
        case View() | Alias() | Distinct():
            return emerging(world, node.input, at)
        case Filter():
            return frozenset(_filtered(world, node, at))
        case Map():
            return frozenset(_mapped(world, node, at))
        case Unnest():
            return frozenset(_unnested(world, node, at))
        case Aggregate():
            return frozenset(_grouped(world, node, at))
        case TopN():
            return frozenset(_top(world, node, at))
        case Over():
            unknown = (UNKNOWN,) * len(node.calls)
            return frozenset(row + unknown for row in candidates(world, node.input, at))
        case Tumble() | Hop() | Cumulate():
            return frozenset(_assigned(node, emerging(world, node.input, at)))
        case Session():
            return frozenset((*row, UNKNOWN, UNKNOWN) for row in candidates(world, node.input, at))
        case Product() | Join():
            return frozenset(_paired(world, node, at))
        case SemiJoin():
            return frozenset(_partnered(world, node, at))
        case AntiJoin():
            return _kept_out(world, node, at)
        case OuterJoin():
            return frozenset((*_paired(world, node, at), *_padded(world, node, at)))
        case AsofJoin():
            return frozenset(_nearest(world, node, at))
        case UnionAll() | MaxUnion() | Intersection():
            return emerging(world, node.left, at) | emerging(world, node.right, at)
        case Difference() | StrictDifference():
            return _kept_out(world, node, at)
        case _:
            assert_never(node)


def _filtered(world: Snapshots, node: Filter, at: Instant) -> Iterator[Row]:
    there = at_instant(node, at if is_finite(at) else ANY_TIME)
    assert isinstance(there, Filter)
    for row in emerging(world, node.input, at):
        if not refuted(there.predicate, node.input.schema, row):
            yield row


def image(node: Map, row: Row, at: Instant) -> Row:
    """What a projection makes of a pattern at an instant."""
    there = at_instant(node, at if is_finite(at) else ANY_TIME)
    assert isinstance(there, Map)
    return values((named.expression for named in there.columns), node.input.schema, row)


def _mapped(world: Snapshots, node: Map, at: Instant) -> Iterator[Row]:
    for row in emerging(world, node.input, at):
        yield image(node, row, at)


def _unnested(world: Snapshots, node: Unnest, at: Instant) -> Iterator[Row]:
    added = 1 if node.place is None else 2
    for row in emerging(world, node.input, at):
        if value(node.array, node.input.schema, row) is UNKNOWN:
            yield row + (UNKNOWN,) * added
        else:
            yield from operate(node, (Counter([row]),))


def group(node: Aggregate, row: Row) -> Row:
    """The group that a pattern belongs to."""
    return values((named.expression for named in node.keys), node.input.schema, row)


def _grouped(world: Snapshots, node: Aggregate, at: Instant) -> Iterator[Row]:
    unknown = (UNKNOWN,) * len(node.calls)
    if not node.keys:
        yield unknown
    for row in candidates(world, node.input, at):
        yield group(node, row) + unknown


def _top(world: Snapshots, node: TopN, at: Instant) -> Iterator[Row]:
    if node.number_as is not None:
        yield from ((*row, UNKNOWN) for row in candidates(world, node.input, at))
        return
    yield from emerging(world, node.input, at)
    chosen = world.rows(node, at)
    yield from (row for row, n in world.rows(node.input, at).items() if chosen[row] < n)


def _assigned(node: Tumble | Hop | Cumulate, rows: Iterable[Row]) -> Iterator[Row]:
    time = node.input.schema.position(node.on)
    for row in rows:
        if row[time] is UNKNOWN:
            yield (*row, UNKNOWN, UNKNOWN)
        else:
            yield from operate(node, (Counter([row]),))


def _paired(world: Snapshots, node: Product | Join | OuterJoin, at: Instant) -> Iterator[Row]:
    """Pairs of which a side may emerge."""
    left, right = emerging(world, node.left, at), emerging(world, node.right, at)
    schema = node.left.schema + node.right.schema
    pairs = [(one, other) for one in left for other in candidates(world, node.right, at)]
    pairs += [(one, other) for one in world.rows(node.left, at) for other in right]
    for one, other in pairs:
        if isinstance(node, Product) or not refuted(node.predicate, schema, one + other):
            yield one + other


def partners(
    world: Snapshots, node: SemiJoin | AntiJoin | OuterJoin | AsofJoin, row: Row, at: Instant
) -> list[Row]:
    """The right rows that a left one may match, there or emerging."""
    schema = node.left.schema + node.right.schema
    others = candidates(world, node.right, at)
    return [other for other in others if not refuted(node.predicate, schema, row + other)]


def matched(world: Snapshots, node: OuterJoin, row: Row, at: Instant) -> list[Row]:
    """The left rows that a right one may match, there or emerging."""
    schema = node.left.schema + node.right.schema
    others = candidates(world, node.left, at)
    return [other for other in others if not refuted(node.predicate, schema, other + row)]


def _partnered(world: Snapshots, node: SemiJoin, at: Instant) -> Iterator[Row]:
    yield from emerging(world, node.left, at)
    new, chosen = emerging(world, node.right, at), world.rows(node, at)
    schema = node.left.schema + node.right.schema
    for row in world.rows(node.left, at) if new else ():
        if row not in chosen and any(
            not refuted(node.predicate, schema, row + other) for other in new
        ):
            yield row


def _kept_out(
    world: Snapshots, node: AntiJoin | Difference | StrictDifference, at: Instant
) -> Patterns:
    """Left rows that the right side keeps out, all copies of them or some."""
    chosen = world.rows(node, at)
    rows = world.rows(node.left, at)
    once = isinstance(node, StrictDifference)
    out = {row for row, n in rows.items() if chosen[row] < (1 if once else n)}
    return emerging(world, node.left, at) | out


def _padded(world: Snapshots, node: OuterJoin, at: Instant) -> Iterator[Row]:
    """Rows of the kept sides that may lose their partners."""
    if node.kept is not Outer.RIGHT:
        padding: Row = (None,) * len(node.right.schema)
        yield from (row + padding for row in candidates(world, node.left, at))
    if node.kept is not Outer.LEFT:
        padding = (None,) * len(node.left.schema)
        yield from (padding + row for row in candidates(world, node.right, at))


def _nearest(world: Snapshots, node: AsofJoin, at: Instant) -> Iterator[Row]:
    padding: Row = (None,) * len(node.right.schema)
    for row in candidates(world, node.left, at):
        yield from (row + other for other in partners(world, node, row, at))
        if node.pads:
            yield row + padding


def _across_time(world: Snapshots, node: AcrossTime, at: Instant) -> Iterator[Row]:
    match node:
        case Window():
            yield from _windowed(world, node, at)
        case Istream() | Dstream():
            # That a row has come depends on the instant before, too: any of its facts may emerge.
            if only_loses(world, node.input):
                yield from {(*change.row, UNKNOWN) for change in world.relation(node.input)}
            else:
                yield (UNKNOWN,) * len(node.schema)
        case Rstream() | Recursion():
            yield (UNKNOWN,) * len(node.schema)
        case _:
            assert_never(node)


def _windowed(world: Snapshots, node: Window, at: Instant) -> Iterator[Row]:
    time, spec = node.input.schema.position(node.on), node.spec
    new = [row for row in emerging(world, node.input, ANY_TIME) if _begun(row[time], at, spec)]
    yield from new
    if isinstance(spec, LinearWindow):
        return
    shown = world.rows(node, at)
    facts = world.rows(node.input, ANY_TIME)
    hidden = (row for row, n in facts.items() if shown[row] < n and _begun(row[time], at, spec))
    match spec:
        case Rows():
            yield from hidden
        case Sessions():
            # A session only ever ends earlier, unless a row comes that makes it longer.
            yield from hidden if emerging(world, node.input, ANY_TIME) else ()
        case _:
            assert_never(spec)


def _begun(ts: Any, at: Instant, spec: LinearWindow | Rows | Sessions) -> bool:
    """Whether a window can show a fact of some time at an instant."""
    if ts is UNKNOWN:
        return True
    if ts is None or not is_finite(ts):
        return False
    if isinstance(spec, LinearWindow):
        interval = shown_over(spec, ts)
        return interval is not None and interval.valid_from <= at < interval.valid_to
    return bool(ts <= at)
