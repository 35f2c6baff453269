"""Temporal terms: what a query may say about a time (paper 5, definition 2).

Law: a term is a function of the times of a row; ``evaluate`` is that function.  NULLs are those of
SQL: ``LEAST`` and ``GREATEST`` skip them, ``COALESCE`` takes the first that is none, and the other
terms are NULL where their argument is.

A *variable* is one time of a row: the attribute of a node of the plan.  After a projection, a
variable that is no column any more stands for the time that was projected away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from ebbtide.analysis.formula.printing import duration_text, plus
from ebbtide.core.time import Duration, Instant, ceil_to, floor_to, format_instant, shift
from ebbtide.core.tree import Node, find, fold, rewrite

Times: TypeAlias = "Mapping[Var, Instant | None]"
Renaming: TypeAlias = "Mapping[Var, Var]"


@dataclass(frozen=True, slots=True)
class Term(Node):
    """A temporal term; the subclasses in this module are all there are."""

    def __add__(self, by: Duration) -> Term:
        return Plus(self, by)

    def __sub__(self, by: Duration) -> Term:
        return Plus(self, -by)

    def __str__(self) -> str:
        return fold(self, _text)


Term.family = Term


@dataclass(frozen=True, slots=True)
class Var(Term):
    """The time that ``attribute`` has at a node of the plan."""

    node: str
    attribute: str

    def under(self, node: str) -> Var:
        """The attribute of the same name at another node."""
        return Var(node, self.attribute)

    def __str__(self) -> str:
        return f"{self.node}.{self.attribute}" if self.node else self.attribute


@dataclass(frozen=True, slots=True)
class Const(Term):
    """A fixed instant."""

    instant: Instant


ZERO = Const(0)
"""The epoch: constants are compared through it, as ``v <= ZERO + c``."""


@dataclass(frozen=True, slots=True)
class Plus(Term):
    """``term + by``."""

    term: Term
    by: Duration


@dataclass(frozen=True, slots=True)
class Least(Term):
    """The smallest of the terms that are not NULL."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Greatest(Term):
    """The largest of the terms that are not NULL."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Coalesce(Term):
    """The first of the terms that is not NULL."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Floor(Term):
    """The last multiple of ``grid`` at or before the term."""

    term: Term
    grid: Duration


@dataclass(frozen=True, slots=True)
class Ceil(Term):
    """The first multiple of ``grid`` at or after the term."""

    term: Term
    grid: Duration


AnyTerm: TypeAlias = Var | Const | Plus | Least | Greatest | Coalesce | Floor | Ceil
Point: TypeAlias = Var | Const | Floor
"""What difference bounds are between: a variable, ``ZERO``, or a rounded ``Floor(point + c)``."""


def variables(term: Term) -> frozenset[Var]:
    """The variables of a term."""
    return frozenset(find(term, Var))


def renamed(term: Term, renaming: Renaming) -> Term:
    """The term over other variables; those that the renaming does not name stay."""
    return rewrite(term, lambda node: renaming.get(node, node) if isinstance(node, Var) else node)


def evaluate(term: Term, times: Times) -> Instant | None:
    """The value of a term in a row; None is NULL.

    >>> at = Var("bids", "at")
    >>> evaluate(Greatest((Floor(at, 10), at - 2)), {at: 17})
    15
    """

    def value(node: Term, below: tuple[Instant | None, ...]) -> Instant | None:
        known = [t for t in below if t is not None]
        match cast(AnyTerm, node):
            case Var() as variable:
                return times[variable]
            case Const(instant):
                return instant
            case Coalesce():
                return known[0] if known else None
            case Least():
                return min(known, default=None)
            case Greatest():
                return max(known, default=None)
            case Plus(_, by):
                return shift(known[0], by) if known else None
            case Floor(_, grid):
                return floor_to(known[0], grid) if known else None
            case Ceil(_, grid):
                return ceil_to(known[0], grid) if known else None

    return fold(term, value)


def _text(node: Term, below: tuple[str, ...]) -> str:
    match cast(AnyTerm, node):
        case Var() as variable:
            return str(variable)
        case Const(instant):
            return format_instant(instant)
        case Plus(_, by):
            return plus(below[0], by)
        case Floor(_, grid):
            return f"FLOOR({below[0]} TO {duration_text(grid)})"
        case Ceil(_, grid):
            return f"CEIL({below[0]} TO {duration_text(grid)})"
        case Least():
            return f"LEAST({', '.join(below)})"
        case Greatest():
            return f"GREATEST({', '.join(below)})"
        case Coalesce():
            return f"COALESCE({', '.join(below)})"
