"""When rows of a node are final, and what that depends on (paper 5, definitions 24 to 27).

Law: a row that passes is not changed by any input that is on time.  Rows of monotonic results pass
at once.  Facts pass when one of their progressing times is at or below its progress; a row of a
snapshot, a segment, when its last instant is at or below the progress of ``from``.

A table that takes deletes and replaces is corrected by operations that are on time, as far back as
RETAIN; its progress counts that much less here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ebbtide.analysis.formula.conditions import After, Frontiers
from ebbtide.analysis.formula.progress import (
    NEVER,
    Bound,
    Value,
    at_most,
    bounds_of,
    evaluate,
    shifted,
)
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import behind
from ebbtide.analysis.monotonicity import Class, Monotonicity
from ebbtide.analysis.temporal.edge import FROM, TO, Edge
from ebbtide.core.change import Change
from ebbtide.core.time import INF, Duration


class When(Enum):
    """When rows are final."""

    AT_ONCE = "at once"
    BY_PROGRESS = "by progress"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Finality:
    """When rows of a node are final: by which attributes, each with how far it has come.

    ``columns`` are the attributes' positions; ``from`` of a snapshot has none.  Where a projection
    has left out the times, rows pass ``depth`` nodes below it, and it only passes them on.
    """

    when: When
    reason: str
    progress: tuple[tuple[Var, Value], ...] = ()
    columns: tuple[tuple[int, Var], ...] = ()
    depth: int = 0

    @property
    def waits(self) -> tuple[After, ...]:
        """What a row that has not passed satisfies."""
        if self.when is not When.BY_PROGRESS:
            return ()
        return tuple(
            After(TO, shifted(value, 1)) if variable == FROM else After(variable, value)
            for variable, value in self.progress
        )

    def passes(self, change: Change, frontiers: Frontiers) -> bool:
        """Whether a row is final."""
        match self.when:
            case When.AT_ONCE:
                return True
            case When.NEVER:
                return False
            case When.BY_PROGRESS:
                places = {variable: place for place, variable in self.columns}
                return any(
                    self._is_below(change, places.get(variable), evaluate(value, frontiers))
                    for variable, value in self.progress
                )

    def _is_below(self, change: Change, place: int | None, progress: int) -> bool:
        if progress == INF:
            return True
        if place is None:
            return change.valid_to - 1 <= progress
        time = change.row[place]
        return time is not None and time <= progress

    def __str__(self) -> str:
        if self.when is not When.BY_PROGRESS:
            return f"{self.when.value}: {self.reason}"
        parts = (
            f"to - 1 us <= {value}" if variable == FROM else f"{variable} <= {value}"
            for variable, value in self.progress
        )
        return f"when {' or '.join(parts)}"


def finality(edge: Edge, monotonicity: Monotonicity, lag: Mapping[Bound, Duration]) -> Finality:
    """When rows on an edge are final."""
    if edge.bounds.is_static:
        return Finality(When.AT_ONCE, "all rows are there from the start")
    if monotonicity.value is Class.MONOTONIC:
        return Finality(When.AT_ONCE, monotonicity.reason)
    attributes = (FROM,) if edge.is_snapshot else tuple(edge.columns.values())
    values = (
        (variable, behind(propagated(variable, edge.facts, edge.bounds), lag))
        for variable in attributes
    )
    progress = _needed([pair for pair in values if pair[1] != NEVER], edge)
    if not progress:
        return Finality(When.NEVER, _why(edge))
    names = ", ".join(sorted({str(b) for _, value in progress for b in bounds_of(value)}))
    return Finality(
        When.BY_PROGRESS, f"by progress of {names}", progress, tuple(edge.columns.items())
    )


def passed_on(own: Finality, below: Finality) -> Finality:
    """When rows are final that an operator makes one by one from those of its input."""
    if own.when is When.NEVER and below.when is When.BY_PROGRESS:
        return replace(below, depth=below.depth + 1)
    return own


def _needed(progress: list[tuple[Var, Value]], edge: Edge) -> tuple[tuple[Var, Value], ...]:
    """Without the attributes that pass only where another one does."""
    left = list(progress)
    for pair in progress:
        variable, value = pair
        others = [other for other in left if other != pair]
        if any(
            (far := edge.facts.dist(variable, other)) < INF
            and at_most(shifted(value, far), its)
            and all(case.is_there(other) for case in edge.facts.cases)
            for other, its in others
        ):
            left = others
    return tuple(left)


def told(clauses: Iterable[Iterable[str]]) -> list[str]:
    """Alternatives in words, each once, and none that another one makes idle.

    >>> told([["a.at"], ["b.at", "a.at"], ["c.at", "d.at"], ["a.at"]])
    ['a.at', 'c.at or d.at']
    """
    found = list(dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in clauses))
    return [" or ".join(c) for c in found if not any({*other} < {*c} for other in found)]


def _why(edge: Edge) -> str:
    if () in edge.bounds.clauses:
        return "an input promises no progress"
    loose = told(
        [str(atom.bound) for atom in clause]
        for clause in edge.bounds.clauses
        if not any(
            edge.facts.dist(variable, atom.variable) < INF
            for atom in clause
            for variable in edge.visible
        )
    )
    times = ", ".join(map(str, edge.columns.values()))
    if loose:
        of = f"which has only {times}" if times else "which has none"
        return f"nothing bounds {', nor '.join(loose)} by a time of the result, {of}"
    waits = dict.fromkeys(str(atom.bound) for atom in edge.bounds.atoms)
    return f"no single time of the result bounds all of {', '.join(waits)}"
