"""Keeping a disjunction small, soundly.

Law: every row that satisfies one of the conjunctions satisfies one of those that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.points import order

CAP = 16
"""More conjunctions than this are merged; the work of keeping them apart grows with the square."""


def insert(cases: list[Conjunction], case: Conjunction) -> None:
    """Add a conjunction, unless it implies one that is there, and drop those that imply it."""
    if any(case.implies(other) for other in cases):
        return
    cases[:] = [other for other in cases if not other.implies(case)]
    cases.append(case)


def merge(cases: list[Conjunction], cap: int) -> list[Conjunction]:
    """At most ``cap`` conjunctions, in place of which neighbours are merged where least is lost.

    Neighbours in the order of what is absent, then of the points and bounds, are much alike.  What
    is lost counts for each conjunction that the merged one stands for, so that no single one takes
    in all the others.
    """
    if len(cases) <= cap:
        return cases
    left = [_Group(case, 1) for case in sorted(cases, key=_likeness)]
    merged: dict[tuple[_Group, _Group], _Merge] = {}

    def merge_at(i: int) -> _Merge:
        pair = left[i], left[i + 1]
        if pair not in merged:
            merged[pair] = _merge(*pair, left)
        return merged[pair]

    while len(left) > cap:
        i = min(range(len(left) - 1), key=lambda k: merge_at(k).loss)
        hull = merge_at(i).hull
        idle = [k for k, g in enumerate(left) if k not in (i, i + 1) and g.case.implies(hull)]
        taken = sorted((i, i + 1, *idle))
        left[i] = _Group(hull, sum(left[k].weight for k in taken))
        for k in reversed(taken):
            if k != i:
                del left[k]
    return [group.case for group in left]


@dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """A conjunction, how many of the given ones it stands for, and how much it says."""

    case: Conjunction
    weight: int
    facts: int = field(init=False)
    width: float = field(init=False)

    def __post_init__(self) -> None:
        case = self.case
        width = sum([sum([bound for bound in row if bound < inf]) for row in case.rows])
        object.__setattr__(self, "facts", case.size + len(case.absent) - len(case.optional))
        object.__setattr__(self, "width", width)


@dataclass(frozen=True, slots=True)
class _Merge:
    """What two groups have in common, how many facts that costs, and how much the rest widens."""

    hull: Conjunction
    loss: tuple[int, float]


def _merge(a: _Group, b: _Group, groups: list[_Group]) -> _Merge:
    hull = _Group(a.case.hull(b.case), 0)
    taken = [group for group in groups if group.case.implies(hull.case)]
    facts = sum(group.weight * (group.facts - hull.facts) for group in taken)
    width = sum(group.weight * (hull.width - group.width) for group in taken)
    return _Merge(hull.case, (facts, width))


def _likeness(case: Conjunction) -> tuple[object, ...]:
    return (
        sorted(map(order, case.absent)),
        sorted(map(order, case.optional)),
        [order(point) for point in case.points],
        case.rows,
    )
