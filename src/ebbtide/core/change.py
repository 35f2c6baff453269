"""Changes, and relations as sums of changes.

Law: a change ``(row, valid_from, valid_to, diff)`` adds ``diff`` to the multiplicity of ``row``
at every instant of ``[valid_from, valid_to)``.  A relation is the sum of its changes; its
snapshot at ``t`` is the multiset of the rows with their multiplicities at ``t``.  Two sets of
changes are the same relation iff all their snapshots are equal (snapshot equivalence, paper 4,
section 5.2).

Deliberately naive: this module says what is right, for all others to agree with.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.core.interval import ALWAYS, Interval
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row, row_key

Multiset: TypeAlias = Counter[Row]


@dataclass(frozen=True, slots=True)
class Change:
    """The multiplicity of ``row`` changes by ``diff`` over ``[valid_from, valid_to)``."""

    row: Row
    valid_from: Instant
    valid_to: Instant
    diff: int = 1

    @property
    def interval(self) -> Interval:
        """The instants at which the change counts."""
        return Interval(self.valid_from, self.valid_to)

    def __neg__(self) -> Change:
        return Change(self.row, self.valid_from, self.valid_to, -self.diff)


def fact(row: Row, diff: int = 1) -> Change:
    """A fact: it holds at every instant."""
    return Change(row, ALWAYS.valid_from, ALWAYS.valid_to, diff)


def facts(rows: Iterable[Row]) -> tuple[Change, ...]:
    """A bag of facts."""
    return tuple(fact(row) for row in rows)


def snapshot(changes: Iterable[Change], at: Instant) -> Multiset:
    """The multiset of rows at an instant; rows that net out are absent.

    >>> snapshot([Change((1,), 0, 10), Change((1,), 5, 10, -1)], 7)
    Counter()
    """
    counts: Multiset = Counter()
    for change in changes:
        if change.valid_from <= at < change.valid_to:
            counts[change.row] += change.diff
    return Counter({row: count for row, count in counts.items() if count})


def end_points(*relations: Iterable[Change]) -> list[Instant]:
    """The instants at which some relation may change, ascending, from ``-inf`` on.

    Between two neighbours every snapshot stays the same.
    """
    points = {NEG_INF}
    for changes in relations:
        for change in changes:
            points.add(change.valid_from)
            points.add(change.valid_to)
    points.discard(INF)
    return sorted(points)


def segments(points: list[Instant]) -> Iterator[Interval]:
    """The intervals between neighbouring end points, up to ``inf``."""
    for start, end in zip(points, [*points[1:], INF], strict=True):
        yield Interval(start, end)


def consolidate(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The one canonical form of a relation: net multiplicities over maximal intervals.

    Sorted by (valid_from, valid_to, row), so that equal relations give equal tuples.

    >>> consolidate([Change((1,), 0, 5), Change((1,), 5, 9)])
    (Change(row=(1,), valid_from=0, valid_to=9, diff=1),)
    """
    steps: dict[Row, dict[Instant, int]] = defaultdict(lambda: defaultdict(int))
    for change in changes:
        steps[change.row][change.valid_from] += change.diff
        steps[change.row][change.valid_to] -= change.diff
    result: list[Change] = []
    for row, step in steps.items():
        multiplicity, since = 0, NEG_INF
        for t in sorted(step):
            if step[t] == 0:
                continue
            if multiplicity:
                result.append(Change(row, since, t, multiplicity))
            multiplicity, since = multiplicity + step[t], t
    return in_order(result)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes ordered by (from, to), ties by row and diff (paper 4, section 2.4)."""
    return tuple(sorted(changes, key=lambda c: (c.valid_from, c.valid_to, row_key(c.row), c.diff)))


def restrict(changes: Iterable[Change], to: Interval) -> tuple[Change, ...]:
    """The relation within an interval, nothing outside of it."""
    return tuple(
        Change(change.row, common.valid_from, common.valid_to, change.diff)
        for change in changes
        if (common := change.interval.intersect(to)) is not None
    )


def until(changes: Iterable[Change], now: Instant) -> tuple[Change, ...]:
    """The relation at the instants up to and including ``now``."""
    if now >= INF:
        return tuple(changes)
    return restrict(changes, Interval(NEG_INF, now + 1)) if now > NEG_INF else ()


def snapshot_equal(left: Iterable[Change], right: Iterable[Change], now: Instant = INF) -> bool:
    """Whether all snapshots up to ``now`` are equal."""
    return consolidate(until(left, now)) == consolidate(until(right, now))


def minus(left: Iterable[Change], right: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that lead from ``right`` to ``left``."""
    return consolidate([*left, *(-change for change in right)])


def is_relation(changes: Iterable[Change]) -> bool:
    """Whether no row has a negative multiplicity at any instant."""
    return all(change.diff > 0 for change in consolidate(changes))
