"""Stream bound formulas: which times, once passed, make the rows up to them complete.

Law: a stream bound formula is in conjunctive normal form, a clause for each input stream of a node.
``bounded(v, b)`` says that ``v`` is a time of that stream's row which ``b`` bounds: rows with
``v <= progress(b)`` are all there.  A row of the node is complete once each clause has such a
``v``.  Without clauses the node is static: all its rows are there from the start.

The propagated progress of an attribute ``a`` is the largest value for which every row with ``a`` up
to it is complete.  By ``v <= a + dist(a, v)`` it is ``progress(b) - dist(a, v)``: the largest in a
clause, the smallest over all clauses and all cases of the facts.

Paper 5, definitions 6 to 8 and 25.  A product conjoins the formulas of its inputs, and a time that
may be NULL does not progress: there may be rows without it at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.points import order
from ebbtide.analysis.formula.printing import joined
from ebbtide.analysis.formula.progress import (
    ALWAYS,
    NEVER,
    Bound,
    Progress,
    Value,
    fastest,
    slowest,
)
from ebbtide.analysis.formula.terms import Renaming, Var
from ebbtide.core.time import INF


@dataclass(frozen=True, slots=True)
class Bounded:
    """``v <= progress(b)`` once the row is complete, as far as this stream goes."""

    variable: Var
    bound: Bound

    def __str__(self) -> str:
        return f"bounded({self.variable}, {self.bound})"


Clause: TypeAlias = tuple[Bounded, ...]


@dataclass(frozen=True, slots=True)
class StreamBound:
    """A conjunction of clauses, each a disjunction of atoms; sorted, and without repeats."""

    clauses: tuple[Clause, ...] = ()

    @staticmethod
    def of(*atoms: Bounded) -> StreamBound:
        """The formula of a stream with some progressing attributes: each of them is enough."""
        return _simplified([atoms])

    @property
    def is_static(self) -> bool:
        """Whether all rows are there from the start."""
        return not self.clauses

    @property
    def atoms(self) -> Clause:
        """All atoms, each once."""
        return _sorted({atom for clause in self.clauses for atom in clause})

    @property
    def variables(self) -> frozenset[Var]:
        """The variables of the atoms."""
        return frozenset(atom.variable for atom in self.atoms)

    def conjoin(self, other: StreamBound) -> StreamBound:
        """The formula of rows that are made from rows of both."""
        return _simplified([*self.clauses, *other.clauses])

    def rename(self, renaming: Renaming) -> StreamBound:
        """The formula over other variables."""
        return _simplified(
            [
                [Bounded(renaming.get(a.variable, a.variable), a.bound) for a in clause]
                for clause in self.clauses
            ]
        )

    def __str__(self) -> str:
        clauses = (joined("or", map(str, clause), "false") for clause in self.clauses)
        return joined("and", clauses, "static")


STATIC = StreamBound()


def is_progressing(attributes: Iterable[Var], facts: Dnf, bounds: StreamBound) -> bool:
    """Whether upper bounds of the attributes give a finite prefix (definition 7).

    One attribute that does is a progressing attribute.
    """
    given = tuple(attributes)
    return all(
        any(_is_bounded(atom.variable, given, case) for atom in clause)
        for case in facts.cases
        for clause in bounds.clauses
    )


def progressing(attributes: Iterable[Var], facts: Dnf, bounds: StreamBound) -> tuple[Var, ...]:
    """Those of the attributes that are progressing by themselves."""
    return tuple(a for a in attributes if is_progressing((a,), facts, bounds))


def propagated(attribute: Var, facts: Dnf, bounds: StreamBound) -> Value:
    """How far the attribute has come (definition 25); ``NEVER`` if it does not progress.

    >>> from ebbtide.analysis.formula.formula import between
    >>> a, b = Var("a", "at"), Var("b", "at")
    >>> both = StreamBound.of(Bounded(a, Bound("asks", "at"))).conjoin(
    ...     StreamBound.of(Bounded(b, Bound("bids", "at"))))
    >>> str(propagated(a, Dnf.of(between(b, a, a + 120_000_000)), both))
    'min(progress(asks.at), progress(bids.at) - 2 min)'
    """
    return slowest(
        fastest(_reach(attribute, atom, case) for atom in clause)
        for case in facts.cases
        for clause in bounds.clauses
    )


def _reach(attribute: Var, atom: Bounded, case: Conjunction) -> Value:
    if atom.variable in case.absent:
        return ALWAYS
    if not case.is_there(attribute):
        return NEVER
    distance = case.dist(attribute, atom.variable)
    return NEVER if distance == INF else Progress(atom.bound, -distance)


def _is_bounded(variable: Var, given: tuple[Var, ...], case: Conjunction) -> bool:
    return variable in case.absent or any(
        case.is_there(a) and case.dist(a, variable) != INF for a in given
    )


def _simplified(clauses: Iterable[Iterable[Bounded]]) -> StreamBound:
    """Without the clauses that follow from another one, which has fewer atoms."""
    sets = {frozenset(clause) for clause in clauses}
    needed = (clause for clause in sets if not any(other < clause for other in sets))
    return StreamBound(tuple(sorted(map(_sorted, needed), key=lambda c: list(map(_place, c)))))


def _sorted(atoms: Iterable[Bounded]) -> Clause:
    return tuple(sorted(atoms, key=_place))


def _place(atom: Bounded) -> tuple[object, ...]:
    return (order(atom.variable), atom.bound)
