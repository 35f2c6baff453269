"""What a query says over summaries of its inputs, and how far from that the truth may lie.

Law: a row that stands for k rows is there k times, and the estimate is the query, by plain SQL
semantics, on that.  For sums, counts and means of a sample there is an interval besides, which
covers the value over all rows with the stated probability, if at least ``ENOUGH`` of the rows of
the group were left to chance: then the sum of so many independent parts is nearly normal.

With a row x that was kept with probability 1 / k:

    sum    S = sum of k x          variance  sum of k (k - 1) x^2           (Horvitz and Thompson)
    mean   M = S / N, N = sum of k variance  sum of k (k - 1) (x - M)^2 / N^2       (Hajek)

Rows that are certain, k = 1, add nothing to a variance.  Where values are skewed, so are estimates,
and large ones come with large variances: by the first terms of Cornish and Fisher's expansion, from
the third moments of the same parts, the ends are to be moved towards the long tail.  A sample does
not know how long it is: one that has met the tail moves its ends too far, and one that has not, too
little.  So the end on the side of the tail moves by that and by some of its square (``LONGER``),
and has as many degrees of freedom as the fourth moments leave (Satterthwaite); the other end moves
by a part of it only (``near_part``).  How much was found by trials: docs/adr/0028 has them.

No sum is given an interval of which a single row makes up most (``MOST``).  An interval is stated
where every row below the aggregate comes of one row of the sample; for a histogram none is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeAlias

from ebbtide.algebra.combination import AntiJoin, Join, Product, SemiJoin
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Filter,
    Map,
    Named,
    Relation,
    Stream,
    Unnest,
    View,
)
from ebbtide.algebra.window import Cumulate, Hop, Rows, Sessions, Tumble, Window
from ebbtide.core.change import Change, Multiset, fact
from ebbtide.core.time import Instant
from ebbtide.core.tree import find, fold
from ebbtide.core.values import Row
from ebbtide.lineage.snapshots import Snapshots
from ebbtide.optimizer import unfailing
from ebbtide.store.input_archive import WeighedRow

ENOUGH = 30
"""How many rows of a group have to be left to chance, so that an interval is stated."""

LONGER = {"sum": 1.0, "mean": 2.0}
"""How much further than by the expansion the end on the side of the tail moves, by its square."""

MOST = 0.8
"""The part of the variance of a sum that a single row may make up."""

Interval: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A row of the answer, and an interval for each of the columns that can have one."""

    row: Row
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Weighed:
    """The inputs of a plan: summaries by the names of their sources, and others as they are."""

    summaries: Mapping[str, Sequence[WeighedRow]]
    exact: Mapping[str, Sequence[Change]]
    sampled: frozenset[str]
    """The sources whose summaries are samples."""

    def changes(self) -> dict[str, Sequence[Change]]:
        """Every row as often as it stands for rows."""
        made = {
            name: [fact(each.row, each.copies * each.weight) for each in rows]
            for name, rows in self.summaries.items()
        }
        return {**self.exact, **made}

    def of_weight(self, source: str, weight: int) -> dict[str, Sequence[Change]]:
        """The same, with those rows of a source alone that have a weight, once each."""
        rows = (each for each in self.summaries[source] if each.weight == weight)
        return {**self.changes(), source: [fact(each.row, each.copies) for each in rows]}


def estimates(
    plan: Relation, inputs: Weighed, at: Instant, now: Instant, level: float
) -> tuple[tuple[int, ...], list[Estimate]]:
    """The rows of a plan at an instant, and the places of the columns that have intervals."""
    shape = _Shape.of(plan, inputs.sampled & inputs.summaries.keys())
    if shape is None:
        found = _rows(plan, inputs.changes(), at, now)
        return (), [Estimate(row) for row in _copies(found)]
    found = _rows(shape.marked, inputs.changes(), at, now)
    stated = _Intervals(shape, inputs, at, now, level).by_group()
    width, keys = len(plan.schema), len(shape.aggregate.keys)
    result = []
    for row in _copies(found):
        group = row[width : width + keys]
        known = stated.get(group, {})
        result.append(Estimate(row[:width], tuple(known.get(c) for _, c in shape.stated)))
    return tuple(place for place, _ in shape.stated), result


def _rows(
    plan: Relation, changes: Mapping[str, Sequence[Change]], at: Instant, now: Instant
) -> Multiset:
    """The rows of a plan at an instant, without those on which it fails."""
    sound = unfailing(plan)
    return Snapshots.of(sound, changes, now).rows(sound, at)


def _copies(rows: Mapping[Row, int]) -> Iterable[Row]:
    return (row for row, n in rows.items() for _ in range(n))


@dataclass(frozen=True, slots=True)
class _Shape:
    """A plan that projects and filters the rows of an aggregate over one sample.

    ``stated`` has the places of columns that are sums, counts or means, and which call each is.
    """

    top: Map
    aggregate: Aggregate
    source: str
    stated: tuple[tuple[int, int], ...]

    @staticmethod
    def of(plan: Relation, sampled: frozenset[str]) -> _Shape | None:
        """None if the plan has another shape."""
        while isinstance(plan, View | Alias):
            plan = plan.input
        top = plan if isinstance(plan, Map) else None
        below = plan if top is None else top.input
        while isinstance(below, Filter):
            below = below.input
        streams = [node.declaration.name for node in find(plan, Stream)]
        chosen = [name for name in streams if name in sampled]
        if not isinstance(below, Aggregate) or len(chosen) != 1:
            return None
        if fold(below.input, lambda node, parts: _linear(node, parts, chosen[0])) is not True:
            return None
        whole = top or Map(plan, tuple(Named(c.name, Ref(c)) for c in plan.schema))
        places = {call.column: number for number, call in enumerate(below.calls)}
        stated = tuple(
            (place, places[named.expression.column])
            for place, named in enumerate(whole.columns)
            if isinstance(named.expression, Ref) and named.expression.column in places
        )
        simple = tuple((p, c) for p, c in stated if _is_simple(below, c))
        return _Shape(whole, below, chosen[0], simple) if simple else None

    @property
    def marked(self) -> Map:
        """The plan, with the group of each row behind its columns."""
        keys = (Named(f"group {i}", Ref(k.column)) for i, k in enumerate(self.aggregate.keys))
        return replace(self.top, columns=(*self.top.columns, *keys))

    @property
    def parts(self) -> Map:
        """The groups and the arguments of the aggregate's rows."""
        calls = (named.call for named in self.aggregate.calls)
        arguments = (
            Named(f"argument {i}", call.arguments[0])
            for i, call in enumerate(calls)
            if call.arguments
        )
        keys = (Named(f"group {i}", k.expression) for i, k in enumerate(self.aggregate.keys))
        return Map(self.aggregate.input, (*keys, *arguments))


def _is_simple(aggregate: Aggregate, number: int) -> bool:
    call = aggregate.calls[number].call
    return (
        call.name in ("SUM", "AVG", "COUNT")
        and not call.is_distinct
        and call.filter is None
        and len(call.arguments) < 2
    )


def _linear(node: Relation, below: tuple[bool | None, ...], source: str) -> bool | None:
    """Whether each row of a relation comes of one of a source's; None if of none of them."""
    if isinstance(node, Stream):
        return True if node.declaration.name == source else None
    if all(part is None for part in below):
        return None
    if isinstance(node, Window):
        return bool(below[0]) and not isinstance(node.spec, Rows | Sessions)
    if isinstance(node, View | Alias | Filter | Map | Unnest | Tumble | Hop | Cumulate):
        return below[0]
    if isinstance(node, Product | Join):
        return sorted(map(repr, below)) == ["None", "True"]
    if isinstance(node, SemiJoin | AntiJoin):
        return below == (True, None)
    return False


@dataclass(frozen=True, slots=True)
class _Intervals:
    shape: _Shape
    inputs: Weighed
    at: Instant
    now: Instant
    level: float

    def by_group(self) -> dict[Row, dict[int, Interval]]:
        """The interval of each call, by the group."""
        shape = self.shape
        keys = len(shape.aggregate.keys)
        members: dict[Row, list[tuple[Row, int, int]]] = defaultdict(list)
        for weight in sorted({each.weight for each in self.inputs.summaries[shape.source]}):
            changes = self.inputs.of_weight(shape.source, weight)
            for row, n in _rows(shape.parts, changes, self.at, self.now).items():
                members[row[:keys]].append((row[keys:], n, weight))
        return {group: self._of(rows) for group, rows in members.items()}

    def _of(self, rows: Sequence[tuple[Row, int, int]]) -> dict[int, Interval]:
        calls = [named.call for named in self.shape.aggregate.calls]
        places = [i for i, call in enumerate(calls) if call.arguments]
        found: dict[int, Interval] = {}
        for _, number in self.shape.stated:
            call = calls[number]
            argument = places.index(number) if call.arguments else None
            values = [
                (1.0 if argument is None or call.name == "COUNT" else float(row[argument]), n, k)
                for row, n, k in rows
                if argument is None or row[argument] is not None
            ]
            found[number] = interval(values, call.name == "AVG", self.level)
        return found


def interval(values: Sequence[tuple[float, int, int]], mean: bool, level: float) -> Interval:
    """The interval of a sum, or a mean, by values, how often each is there, and their weights.

    >>> interval([(1.0, 20, 2)], mean=False, level=0.95) is None
    True
    """
    chances = sum(n for _, n, k in values if k > 1)
    if chances < ENOUGH:
        return None
    count = sum(n * k for _, n, k in values)
    centre = math.fsum(n * k * x for x, n, k in values)
    scale = 1
    if mean:
        centre, scale = centre / count, count
    parts = [(x, n * k, k) for x, n, k in values if k > 1]
    if mean:
        # A row is nearer to a mean of which it is a part than to that of the others.
        parts = [((x - centre) / math.sqrt(1 - k / count), m, k) for x, m, k in parts]
    variance = math.fsum(m * (k - 1) * x**2 for x, m, k in parts)
    if not variance:
        return centre, centre
    if not mean and max(k * (k - 1) * x**2 for x, _, k in parts) > MOST * variance:
        return None
    spread = math.sqrt(variance)
    fourth = math.fsum(m * (k - 1) ** 3 * x**4 for x, m, k in parts)
    skew = math.fsum(m * (k - 1) * (k - 2) * x**3 for x, m, k in parts) / spread**3
    bias = math.fsum(m * (k - 1) ** 2 * x**3 for x, m, k in parts) / spread**3
    freedom = max(2.0, min(chances - 1.0, 2 * variance**2 / fourth)) if fourth else chances - 1.0
    p = (1 + level) / 2
    far, plain = quantile(p, freedom), quantile(p, chances - 1.0)
    moved = (3 * bias - skew) * (far**2 - 1) / 6 + bias / 2
    near = max(0.0, plain - abs(moved) * near_part(abs(moved), mean))
    tail = far + abs(moved) + LONGER["mean" if mean else "sum"] * moved**2
    below, above = (near, tail) if moved >= 0 else (tail, near)
    return centre - below * spread / scale, centre + above * spread / scale


def near_part(moved: float, mean: bool) -> float:
    """By which part of the expansion the end moves that is not on the side of the tail.

    A sum is skewed by the number of its rows, too, which is known well; the more it is skewed by
    their values, the less of it is sure.
    """
    return 0.25 if mean else max(0.0, 1 - moved / 2)


def quantile(probability: float, freedom: float) -> float:
    """Student's quantile, above the middle, by Hill's approximation of 1970.

    >>> [round(quantile(0.975, n), 2) for n in (3, 10, 29)]
    [3.18, 2.23, 2.05]
    """
    n, p = freedom, 2 * (1 - probability)
    a = 1 / (n - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * p) ** (2 / n)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(p / 2)
        y = x**2
        if n < 5:
            c += 0.3 * (n - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = a * y**2
        y = math.expm1(y) if y > 0.002 else 0.5 * y**2 + y
    else:
        y = (
            (1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1
        ) * (n + 1) / (n + 2) + 1 / y
    return math.sqrt(n * y)


__all__ = ["ENOUGH", "Estimate", "Interval", "Weighed", "estimates", "interval", "quantile"]
