"""Pass and keep conditions: when a row is complete, and when a stored row can be dropped.

Law of passing: a row passes once it is complete, ``v <= progress(b)`` for an atom of each clause of
its stream bound formula (paper 5, definitions 24 and 27).

Law of keeping: a row that is still to come does not pass at the horizon, so some clause ``h`` of
its formula has ``p > horizon(p)`` for all its atoms.  If it touches a stored row under a case ``C``
of the facts about both, ``p <= v + dist_C(v, p)``; hence

    v > horizon(p) - dist_C(v, p)      for all p of h and all v of the stored row

A stored row for which that fails, for every ``C`` and ``h``, is touched by nothing to come.

The horizon of a time trails its progress by the retention.  A time that is NULL passes, and keeps:
it proves nothing.  Whether a row is needed for another reason is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.printing import above, at_most, joined
from ebbtide.analysis.formula.progress import (
    ALWAYS,
    NEVER,
    Bound,
    Progress,
    Value,
    evaluate,
    fastest,
)
from ebbtide.analysis.formula.progress import at_most as never_exceeds
from ebbtide.analysis.formula.streambound import Bounded, Clause, StreamBound, propagated
from ebbtide.analysis.formula.terms import Times, Var
from ebbtide.core.time import INF, Duration, Instant

Frontiers: TypeAlias = Mapping[Bound, Instant]


@dataclass(frozen=True, slots=True)
class UpTo:
    """``variable <= value``."""

    variable: Var
    value: Value

    def holds(self, times: Times, progress: Frontiers) -> bool:
        """Whether the time is no later than the value, or NULL."""
        time = times[self.variable]
        return time is None or time <= evaluate(self.value, progress)

    def __str__(self) -> str:
        match self.value:
            case Progress(of, by):
                return at_most(str(self.variable), f"progress({of})", by)
            case value:
                return f"{self.variable} <= {value}"


@dataclass(frozen=True, slots=True)
class After:
    """``variable > value``."""

    variable: Var
    value: Value

    def holds(self, times: Times, progress: Frontiers) -> bool:
        """Whether the time is later than the value, or NULL."""
        time = times[self.variable]
        return time is None or time > evaluate(self.value, progress)

    def implies(self, other: After) -> bool:
        """Whether the structure of the two shows that this one is the stronger."""
        return self.variable == other.variable and never_exceeds(other.value, self.value)

    def __str__(self) -> str:
        match self.value:
            case Progress(of, by):
                return above(str(self.variable), f"progress({of})", by)
            case value:
                return f"{self.variable} > {value}"


@dataclass(frozen=True, slots=True)
class Pass:
    """All of the clauses hold, each by one of its atoms at least."""

    clauses: tuple[tuple[UpTo, ...], ...]

    def holds(self, times: Times, progress: Frontiers) -> bool:
        """Whether a row is complete."""
        return all(any(a.holds(times, progress) for a in clause) for clause in self.clauses)

    def __str__(self) -> str:
        clauses = (joined("or", map(str, clause), "never") for clause in self.clauses)
        return joined("and", clauses, "at once")


@dataclass(frozen=True, slots=True)
class Keep:
    """One of the cases holds, by all of its conditions."""

    cases: tuple[tuple[After, ...], ...]

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing ever lets a row go."""
        return () in self.cases

    def either(self, other: Keep) -> Keep:
        """What one of the two keeps."""
        return _smallest((*self.cases, *other.cases))

    def holds(self, times: Times, progress: Frontiers) -> bool:
        """Whether a row is kept."""
        return any(all(a.holds(times, progress) for a in case) for case in self.cases)

    def __str__(self) -> str:
        cases = (joined("and", map(str, case), "always") for case in self.cases)
        return joined("or", cases, "never")


def passing(bounds: StreamBound) -> Pass:
    """The pass formula of a stream bound formula (definition 24)."""
    return Pass(
        tuple(
            tuple(UpTo(atom.variable, Progress(atom.bound)) for atom in clause)
            for clause in bounds.clauses
        )
    )


def released(attributes: Iterable[Var], facts: Dnf, bounds: StreamBound) -> Pass:
    """The pass condition of a node's rows, by its own attributes (definition 27).

    One attribute that has come far enough is enough; with none that progresses nothing passes.
    """
    found = [UpTo(a, propagated(a, facts, bounds)) for a in attributes]
    if any(condition.value == ALWAYS for condition in found):
        return Pass(())
    return Pass((tuple(condition for condition in found if condition.value != NEVER),))


def keeping(
    stored: Sequence[Var],
    facts: Dnf,
    coming: StreamBound,
    retain: Mapping[Bound, Duration] | None = None,
) -> Keep:
    """When a row with the times ``stored`` can still be touched by one to come.

    ``facts`` are those of both rows and of their touching, ``coming`` bounds the row to come.

    >>> from ebbtide.analysis.formula.formula import between
    >>> a, b = Var("a", "at"), Var("b", "at")
    >>> print(keeping([a], Dnf.of(between(b, a, a + 120_000_000)),
    ...               StreamBound.of(Bounded(b, Bound("bids", "at")))))
    a.at > progress(bids.at) - 2 min
    """
    return _smallest(
        _conditions(stored, case, clause, retain or {})
        for case in facts.cases
        for clause in coming.clauses
        if not any(atom.variable in case.absent for atom in clause)
    )


def unbounded_by(stored: Sequence[Var], facts: Dnf, coming: StreamBound) -> tuple[Clause, ...]:
    """The clauses that no time of the stored row bounds in some case: what a verdict explains."""
    return tuple(
        clause
        for clause in coming.clauses
        if any(
            not _conditions(stored, case, clause, {})
            for case in facts.cases
            if not any(atom.variable in case.absent for atom in clause)
        )
    )


def _conditions(
    stored: Sequence[Var], case: Conjunction, clause: Clause, retain: Mapping[Bound, Duration]
) -> tuple[After, ...]:
    found: dict[Var, list[Value]] = {}
    for atom in clause:
        for variable in _deciding(stored, case, atom):
            distance = case.dist(variable, atom.variable)
            behind = distance + retain.get(atom.bound, 0)
            found.setdefault(variable, []).append(Progress(atom.bound, -behind))
    return tuple(
        After(variable, fastest(found[variable])) for variable in stored if variable in found
    )


def _deciding(stored: Sequence[Var], case: Conjunction, atom: Bounded) -> list[Var]:
    """The stored times that bound an atom, without those that do so only through another one.

    To leave a condition out keeps more, never less, so this needs no proof about the stored row.
    """
    target = atom.variable

    def leads_through(v: Var, inner: Var) -> bool:
        return (
            case.is_there(inner)
            and case.dist(v, inner) != INF
            and case.dist(v, inner) + case.dist(inner, target) <= case.dist(v, target)
        )

    near = [v for v in stored if case.dist(v, target) != INF]
    kept: list[Var] = []
    for i, v in enumerate(near):
        # Of two that lead through each other, the first stays.
        through = any(leads_through(v, u) for u in kept)
        if not through and not any(
            leads_through(v, u) and not leads_through(u, v) for u in near[i + 1 :]
        ):
            kept.append(v)
    return kept


def _smallest(cases: Iterable[tuple[After, ...]]) -> Keep:
    """Without the cases that keep no more than another one."""
    kept: list[tuple[After, ...]] = []
    for case in cases:
        if not any(_covers(other, case) for other in kept):
            kept = [other for other in kept if not _covers(case, other)]
            kept.append(case)
    return Keep(tuple(kept))


def _covers(weak: tuple[After, ...], strong: tuple[After, ...]) -> bool:
    return all(any(given.implies(wanted) for given in strong) for wanted in weak)
