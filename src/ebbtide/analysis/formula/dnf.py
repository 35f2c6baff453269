"""What is known about the times of a row: a short disjunction of closed conjunctions.

Law: a row that satisfies the facts, and in which a condition is true, satisfies
``facts.where(condition)``; one to which a column is added satisfies ``facts.define(column, term)``;
and so on for the other operations.  They are exact but for two things: roundings, which are known
by their bounds alone, and the cap.

Contradictory conjunctions are dropped, and those that imply another.  Past ``CAP`` conjunctions the
most alike are merged into their hull, the weaker of each two bounds: all that is derived from the
result stays true, and may be coarser.

The idea is paper 5's (definitions 4 and 5); the operations are those that its definitions 12 to 18
need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import isqrt
from typing import TypeAlias, cast

from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.formula import (
    And,
    AnyFormula,
    Compare,
    Formula,
    Ignore,
    Inequality,
    Not,
    Op,
    Or,
    Truth,
)
from ebbtide.analysis.formula.merging import CAP, insert, merge
from ebbtide.analysis.formula.normal import negation_normal, split
from ebbtide.analysis.formula.presence import Choice, choices, is_certain, strict
from ebbtide.analysis.formula.printing import joined
from ebbtide.analysis.formula.terms import Point, Renaming, Term, Times, Var
from ebbtide.core.time import NEG_INF, Duration
from ebbtide.core.tree import fold
from ebbtide.errors import InternalError

Cases: TypeAlias = tuple[Conjunction, ...]
Refine: TypeAlias = Callable[[Conjunction], Iterable[Conjunction]]


@dataclass(frozen=True, slots=True)
class Dnf:
    """One of the cases holds; with none, there are no rows."""

    cases: Cases

    @staticmethod
    def of(formula: Formula) -> Dnf:
        """What a formula says, by itself."""
        return NOTHING_KNOWN.where(formula)

    def where(self, formula: Formula) -> Dnf:
        """The rows in which a formula is true, not unknown (definition 12).

        >>> from ebbtide.analysis.formula.formula import between
        >>> a, b = Var("", "a"), Var("", "b")
        >>> str(NOTHING_KNOWN.where(between(b, a - 2, a)))
        'a - 2 us <= b <= a'
        """
        refine = fold(negation_normal(formula), _refinement)
        return _refined(self, refine)

    def define(self, variable: Var, term: Term) -> Dnf:
        """The rows with one more time, which is NULL where its term is (definition 13)."""
        return small(found for case in self.cases for found in _defined(case, variable, term))

    def conjoin(self, other: Dnf) -> Dnf:
        """The pairs of rows, one of each; over disjoint variables this is a product."""
        mine = merge(list(self.cases), _room(len(other.cases)))
        pairs = product(mine, merge(list(other.cases), _room(len(mine))))
        return small(both for a, b in pairs if (both := a.conjoin(b)) is not None)

    def either(self, other: Dnf) -> Dnf:
        """The rows of both."""
        return small((*self.cases, *other.cases))

    def ignoring(self, variables: Iterable[Var]) -> Dnf:
        """The rows with absent variables, about which nothing else is known."""
        gone = frozenset(variables)
        return small(case.ignoring(gone) for case in self.cases)

    def allowing_nulls(self, variables: Iterable[Var]) -> Dnf:
        """The rows with more times, which may be NULL and have no bounds yet."""
        fresh = frozenset(variables)
        return Dnf(tuple(case.allowing_nulls(fresh) for case in self.cases))

    def rename(self, renaming: Renaming) -> Dnf:
        """The rows over other variables; two may not become one."""
        return Dnf(tuple(case.rename(renaming) for case in self.cases))

    def project(self, kept: Collection[Var]) -> Dnf:
        """The rows with some of their times, and all that is known about those (definition 14)."""
        there = frozenset(kept)
        return small(case.project(there) for case in self.cases)

    def dist(self, w: Point, v: Point) -> Duration:
        """The largest ``v - w`` in any case; INF if there is none (definition 5)."""
        return max((case.dist(w, v) for case in self.cases), default=NEG_INF)

    def implies(self, formula: Formula) -> bool:
        """Whether the formula is proved to be false in no row; it may be so without a proof."""
        return not self.where(Not(formula)).cases

    def holds(self, times: Times) -> bool:
        """Whether a row satisfies the facts."""
        return any(case.holds(times) for case in self.cases)

    @property
    def variables(self) -> frozenset[Var]:
        """The variables about which something is known."""
        return frozenset().union(*(case.variables for case in self.cases))

    def __str__(self) -> str:
        return joined("or", map(str, self.cases), "no rows")


NOTHING_KNOWN = Dnf((Conjunction(),))
NO_ROWS = Dnf(())


def small(cases: Iterable[Conjunction]) -> Dnf:
    """The cases without those that imply another one, merged down to the cap."""
    found: list[Conjunction] = []
    for case in cases:
        insert(found, case)
        if len(found) > 2 * CAP:
            found = merge(found, CAP)
    return Dnf(tuple(merge(found, CAP)))


def _room(others: int) -> int:
    """How many cases a product has room for, if the other side has some already."""
    return max(2 * isqrt(CAP), 4 * CAP // max(1, others))


def _refinement(node: Formula, below: tuple[Refine, ...]) -> Refine:
    """How a formula without negation narrows a case down; its parts have done so for theirs."""
    match cast(AnyFormula, node):
        case Truth(value):
            return lambda case: (case,) if value else ()
        case Compare(op, left, right):
            return lambda case: _compared(case, op, left, right)
        case Inequality() as edge:
            return lambda case: _maybe(case.extended((edge,)))
        case Ignore(variable):
            return lambda case: (case.ignoring((variable,)),)
        case Not(Ignore(variable)):
            return lambda case: _maybe(case.presenting((variable,)))
        case Or():
            return lambda case: small(found for part in below for found in part(case)).cases
        case And(parts):
            # Disjunctions come last, so that fewer cases are carried along.
            ranked = sorted(zip(parts, below, strict=True), key=lambda pair: _branching(pair[0]))
            return lambda case: reduce(_refined, [part for _, part in ranked], Dnf((case,))).cases
        case Not():
            raise InternalError("negation-inside", f"{node} is not in negation normal form")


def _refined(facts: Dnf, part: Refine) -> Dnf:
    return small(found for case in facts.cases for found in part(case))


def _branching(formula: Formula) -> int:
    match formula:
        case Ignore() | Not():
            return 0
        case Or():
            return 2
        case _:
            return 1


def _compared(case: Conjunction, op: Op, left: Term, right: Term) -> Iterable[Conjunction]:
    """The cases in which a comparison is true: its sides are there, and so is what they need."""
    sides = (choices(side, case.absent, case.optional) for side in (left, right))
    for a, b in product(*sides):
        if a.term is None or b.term is None:
            continue
        needed = Choice(None, present=strict(a.term) | strict(b.term))
        chosen = _chosen(case, needed.within(a).within(b))
        if chosen is not None:
            yield from _split(chosen, op, a.term, b.term)


def _defined(case: Conjunction, variable: Var, term: Term) -> Iterable[Conjunction]:
    if variable in case.variables:
        raise InternalError("defined-twice", f"{variable} has a meaning already")
    for choice in choices(term, case.absent, case.optional):
        chosen = _chosen(case, choice)
        if chosen is None:
            continue
        if choice.term is None:
            yield chosen.ignoring((variable,))
            continue
        if not is_certain(choice.term, chosen.absent, chosen.optional):
            chosen = chosen.allowing_nulls((variable,))
        yield from _split(chosen, Op.EQ, variable, choice.term)


def _chosen(case: Conjunction, choice: Choice) -> Conjunction | None:
    if not choice.is_possible:
        return None
    there = case.presenting(choice.present)
    return there.ignoring(choice.absent) if there is not None and choice.absent else there


def _split(case: Conjunction, op: Op, left: Term, right: Term) -> Iterable[Conjunction]:
    """The cases of a comparison, with its bounds."""
    for edges in _alternatives(split(op, left, right)):
        found = case.extended(edges)
        if found is not None:
            yield found


def _alternatives(formula: Formula) -> Iterable[tuple[Inequality, ...]]:
    """A formula of edges as a disjunction of conjunctions."""

    def step(
        node: Formula, below: tuple[tuple[tuple[Inequality, ...], ...], ...]
    ) -> tuple[tuple[Inequality, ...], ...]:
        match node:
            case Truth(value):
                return ((),) if value else ()
            case Inequality():
                return ((node,),)
            case Or():
                return tuple(edges for part in below for edges in part)
            case _:
                return tuple(tuple(e for part in parts for e in part) for parts in product(*below))

    return fold(formula, step)


def _maybe(case: Conjunction | None) -> Iterable[Conjunction]:
    return () if case is None else (case,)
