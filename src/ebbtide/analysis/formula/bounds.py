"""A conjunction of difference bounds, closed (paper 5, definition 5).

Law, and the direction of every distance here:

    dist(w, v)  is the largest value of  v - w,      so  v <= w + dist(w, v)

It is INF where nothing bounds ``v`` from ``w`` and NEG_INF where ``v`` is absent.  On integer time
distances are exact: rows that satisfy the conjunction come as far apart as they say.

A variable is there unless it is *absent* (``ignore(v)``: NULL, or not of this branch) or *optional*
(NULL or not).  Bounds of an optional variable hold where it is there; they prove nothing about
other variables.  An absent source bounds nothing: the paper's -inf would make it progress.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from operator import gt
from typing import cast

from ebbtide.analysis.formula import describe
from ebbtide.analysis.formula.formula import Inequality
from ebbtide.analysis.formula.matrix import Row, Rows, closed, passed, picked, tightened
from ebbtide.analysis.formula.points import chain, definition, order, root
from ebbtide.analysis.formula.presence import NO_VARIABLES
from ebbtide.analysis.formula.printing import joined
from ebbtide.analysis.formula.terms import (
    Const,
    Floor,
    Point,
    Renaming,
    Times,
    Var,
    evaluate,
    renamed,
)
from ebbtide.core.time import INF, NEG_INF, Duration, shift
from ebbtide.errors import InternalError


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Bounds that hold together; ``points`` are sorted, and each has a bound with another."""

    points: tuple[Point, ...] = ()
    rows: Rows = ()
    absent: frozenset[Var] = NO_VARIABLES
    optional: frozenset[Var] = NO_VARIABLES
    index: Mapping[Point, int] = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        free = sum(row.count(inf) for row in self.rows)
        object.__setattr__(self, "size", len(self.points) ** 2 - free)
        object.__setattr__(self, "index", {point: i for i, point in enumerate(self.points)})

    @property
    def variables(self) -> frozenset[Var]:
        """The variables about which something is known."""
        return frozenset(filter(None, map(root, self.points))) | self.absent | self.optional

    @property
    def edges(self) -> Iterator[Inequality]:
        """Every bound, derived ones included."""
        for source, row in zip(self.points, self.rows, strict=True):
            for target, bound in zip(self.points, row, strict=True):
                if bound < inf and source != target:
                    yield Inequality(source, target, int(bound))

    def dist(self, w: Point, v: Point) -> Duration:
        """The largest ``v - w``; INF if there is none, NEG_INF if only ``v`` is absent."""
        if root(w) in self.absent:
            return INF
        if root(v) in self.absent:
            return NEG_INF
        if w == v:
            return 0
        if w not in self.index or v not in self.index:
            return INF
        bound = self.rows[self.index[w]][self.index[v]]
        return INF if bound == inf else int(bound)

    def is_there(self, variable: Var) -> bool:
        """Whether the variable is neither absent nor optional."""
        return variable not in self.absent and variable not in self.optional

    def extended(self, edges: Iterable[Inequality]) -> Conjunction | None:
        """With more bounds, None if they contradict; bounds of absent variables say nothing."""
        wanted = [edge for edge in edges if not self._is_void(edge)]
        grown = self._over(end for edge in wanted for end in (edge.source, edge.target))
        rows, through = list(grown.rows), grown._through()
        rounded = (p for p in grown.points if isinstance(p, Floor) and p not in self.index)
        for edge in [*(bound for point in rounded for bound in definition(point)), *wanted]:
            u, v = grown.index[edge.source], grown.index[edge.target]
            if not tightened(rows, through, u, v, edge.bound):
                return None
        return replace(grown, rows=tuple(rows))

    def presenting(self, variables: Iterable[Var]) -> Conjunction | None:
        """With variables that are there, None if one of them is absent."""
        wanted = frozenset(variables)
        if wanted & self.absent:
            return None
        promoted = wanted & self.optional
        if not promoted:
            return self
        rest = replace(self, optional=self.optional - promoted)
        rows, through = list(rest.rows), rest._through()
        for k, point in enumerate(rest.points):
            if root(point) in promoted and not passed(rows, through, k):
                return None
        return replace(rest, rows=tuple(rows))

    def ignoring(self, variables: Iterable[Var]) -> Conjunction:
        """With absent variables; what is known about them is dropped."""
        gone = frozenset(variables)
        known = [p for p in self.points if root(p) not in gone]
        return self._on(known, self.absent | gone, self.optional - gone)

    def allowing_nulls(self, variables: Iterable[Var]) -> Conjunction:
        """With optional variables, about which nothing is known yet."""
        fresh = frozenset(variables)
        if fresh & self.variables:
            raise InternalError("late-optional", f"{sorted(map(str, fresh))} have bounds already")
        return replace(self, optional=self.optional | fresh)

    def conjoin(self, other: Conjunction) -> Conjunction | None:
        """Both at once, None if they contradict; each one's absent variables are absent."""
        absent = self.absent | other.absent
        optional = (self.optional | other.optional) - absent
        mine, theirs = self.ignoring(absent), other.ignoring(absent)
        both = mine._over(theirs.points)
        both = replace(both, absent=absent, optional=optional)
        rows = [list(row) for row in both.rows]
        at = [both.index[p] for p in theirs.points]
        for i, row in zip(at, theirs.rows, strict=True):
            for j, bound in zip(at, row, strict=True):
                rows[i][j] = min(rows[i][j], bound)
        merged = [tuple(row) for row in rows]
        if set(mine.points) & set(theirs.points) and not closed(merged, both._through()):
            return None
        return replace(both, rows=tuple(merged))

    def hull(self, other: Conjunction) -> Conjunction:
        """The tightest conjunction that both imply: of each bound the weaker one.

        Where a variable is absent on one side only, it is optional, with the other side's bounds.
        """
        absent = self.absent & other.absent
        optional = (self.absent | other.absent | self.optional | other.optional) - absent
        points = sorted({*self.points, *other.points}, key=order)
        rows: list[Row] = []
        for i, sides in enumerate(zip(self._seen_by(points), other._seen_by(points), strict=True)):
            row = [max(a, b) for a, b in zip(*sides, strict=True)]
            # Two points that are never there together are not bound by each other.
            row = [inf if c == -inf else c for c in row]
            row[i] = 0
            rows.append(tuple(row))
        both = Conjunction(tuple(points), tuple(rows), absent, optional)
        return both._on(points, absent, optional)

    def implies(self, other: Conjunction) -> bool:
        """Whether every row that satisfies this conjunction satisfies the other."""
        if not (
            other.absent <= self.absent
            and self.absent <= other.absent | other.optional
            and self.optional <= other.optional
        ):
            return False
        if self.size < other.size and self.absent == other.absent:
            return False
        if self.points == other.points:
            pairs = zip(self.rows, other.rows, strict=True)
            return all(a is b or not any(map(gt, a, b)) for a, b in pairs)
        if self.absent == other.absent and not all(p in self.index for p in other.points):
            # Every point has a bound, so one that is not known here has one that is not implied.
            return False
        pairs = zip(self._seen_by(other.points), other.rows, strict=True)
        return not any(any(map(gt, a, b)) for a, b in pairs)

    def rename(self, renaming: Renaming) -> Conjunction:
        """Over other variables; two may not become one."""
        before = self.variables
        after = {renaming.get(variable, variable) for variable in before}
        if len(after) != len(before):
            raise InternalError("merging-rename", f"a renaming of {self} makes two variables one")
        points = [cast(Point, renamed(point, renaming)) for point in self.points]
        places = sorted(range(len(points)), key=lambda i: order(points[i]))
        return Conjunction(
            tuple(points[i] for i in places),
            tuple(picked(self.rows, places)),
            frozenset(renaming.get(v, v) for v in self.absent),
            frozenset(renaming.get(v, v) for v in self.optional),
        )

    def project(self, kept: Collection[Var]) -> Conjunction:
        """What is known about some variables: all others are eliminated, exactly."""
        known = [p for p in self.points if isinstance(p, Const) or root(p) in kept]
        there = frozenset(kept)
        return self._on(known, self.absent & there, self.optional & there)

    def holds(self, times: Times) -> bool:
        """Whether a row satisfies all bounds; it has a time or None for every variable."""
        if any(times[v] is not None for v in self.absent):
            return False
        if any(self.is_there(v) and times[v] is None for v in self.variables):
            return False
        values = {point: evaluate(point, times) for point in self.points}
        for edge in self.edges:
            a, b = values[edge.source], values[edge.target]
            if a is not None and b is not None and b > shift(a, edge.bound):
                return False
        return True

    def __str__(self) -> str:
        plain = [p for p in self.points if not isinstance(p, Floor)]
        there = [root(p) not in self.optional for p in plain]
        known = describe.facts(plain, picked(self.rows, [self.index[p] for p in plain]), there)
        nulls = (f"{v} may be NULL" for v in sorted(self.optional, key=order))
        missing = (f"{v} is NULL" for v in sorted(self.absent, key=order))
        return joined("and", [*known, *nulls, *missing], "true")

    def _through(self) -> list[bool]:
        return [root(point) not in self.optional for point in self.points]

    def _is_void(self, edge: Inequality) -> bool:
        return root(edge.source) in self.absent or root(edge.target) in self.absent

    def _over(self, more: Iterable[Point]) -> Conjunction:
        """With room for more points; those without a bound are dropped by ``_on``, not here."""
        fresh = {p for point in more for p in chain(point)} - self.index.keys()
        if not fresh:
            return self
        points = sorted((*self.points, *fresh), key=order)
        return replace(
            self,
            points=tuple(points),
            rows=tuple(picked(self.rows, [self.index.get(p) for p in points])),
        )

    def _on(
        self, points: Iterable[Point], absent: frozenset[Var], optional: frozenset[Var]
    ) -> Conjunction:
        """On some of the points, those that have a bound with another of them."""
        places = [self.index[p] for p in points]
        rows = picked(self.rows, places)
        linked = [
            i
            for i, row in enumerate(rows)
            if sum(c < inf for c in row) > 1 or sum(other[i] < inf for other in rows) > 1
        ]
        found = tuple(self.points[places[i]] for i in linked)
        return Conjunction(found, tuple(picked(rows, linked)), absent, optional)

    def _seen_by(self, points: Sequence[Point]) -> Iterable[Row]:
        """The matrix over any points; bounds of absent ones are below all others."""
        rows = picked(self.rows, [self.index.get(p) for p in points])
        if not self.absent:
            return rows
        gone = [root(p) in self.absent for p in points]
        return [
            tuple([-inf if out or is_gone else c for c, out in zip(row, gone, strict=True)])
            for row, is_gone in zip(rows, gone, strict=True)
        ]
