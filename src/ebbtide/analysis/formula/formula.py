"""Temporal relation formulas: what is known about the times of a row (paper 5, definition 3).

Law: a formula is a condition on the times of one row, with SQL's three truth values; ``holds`` is
that condition.  A comparison with a NULL is unknown, and ``ignore(v)`` says that ``v`` is absent:
NULL, or not of this branch of a union, difference or outer join.

This module has the syntax; ``normal`` has the rules of definition 4, ``dnf`` the analysis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from operator import eq, ge, gt, le, lt, ne
from typing import TypeAlias, cast

from ebbtide.analysis.formula.printing import at_most, joined
from ebbtide.analysis.formula.terms import (
    Const,
    Point,
    Renaming,
    Term,
    Times,
    Var,
    evaluate,
    renamed,
    variables,
)
from ebbtide.core.time import Duration, Instant, format_instant, shift
from ebbtide.core.tree import Node, find, fold, rewrite

Operand: TypeAlias = Term | Instant


class Op(StrEnum):
    """The comparisons."""

    LT = "<"
    LE = "<="
    EQ = "="
    NE = "<>"
    GE = ">="
    GT = ">"

    @property
    def negation(self) -> Op:
        """The comparison that is true where this one is false."""
        return _NEGATIONS[self]


_NEGATIONS = {
    Op.LT: Op.GE,
    Op.LE: Op.GT,
    Op.EQ: Op.NE,
    Op.NE: Op.EQ,
    Op.GE: Op.LT,
    Op.GT: Op.LE,
}
_MEANINGS: dict[Op, Callable[[Instant, Instant], bool]] = {
    Op.LT: lt,
    Op.LE: le,
    Op.EQ: eq,
    Op.NE: ne,
    Op.GE: ge,
    Op.GT: gt,
}


@dataclass(frozen=True, slots=True)
class Formula(Node):
    """A temporal relation formula; the subclasses in this module are all there are."""

    def __str__(self) -> str:
        return fold(self, _text)


Formula.family = Formula


@dataclass(frozen=True, slots=True)
class Truth(Formula):
    """Always true, or never."""

    value: bool


TRUE = Truth(True)
FALSE = Truth(False)


@dataclass(frozen=True, slots=True)
class Compare(Formula):
    """``left op right``."""

    op: Op
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Inequality(Formula):
    """``target <= source + bound``: what comparisons are made of."""

    source: Point
    target: Point
    bound: Duration


@dataclass(frozen=True, slots=True)
class Ignore(Formula):
    """The variable is absent."""

    variable: Var


@dataclass(frozen=True, slots=True)
class And(Formula):
    """All parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """At least one part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """The part does not hold."""

    part: Formula


AnyFormula: TypeAlias = Truth | Compare | Inequality | Ignore | And | Or | Not


def compare(left: Operand, op: str, right: Operand) -> Compare:
    """A comparison; integers are instants.

    >>> a, b = Var("", "a"), Var("", "b")
    >>> str(compare(a, "<", b + 3))
    'a < b + 3 us'
    """
    return Compare(Op(op), _term(left), _term(right))


def between(term: Operand, low: Operand, high: Operand) -> Formula:
    """``low <= term <= high``."""
    return both(compare(low, "<=", term), compare(term, "<=", high))


def both(*parts: Formula) -> Formula:
    """All of the parts, without nesting; ``TRUE`` if there are none."""
    return _combined(And, parts, neutral=TRUE, absorbing=FALSE)


def either(*parts: Formula) -> Formula:
    """At least one of the parts, without nesting; ``FALSE`` if there are none."""
    return _combined(Or, parts, neutral=FALSE, absorbing=TRUE)


def formula_variables(formula: Formula) -> frozenset[Var]:
    """The variables that a formula speaks of."""
    found: set[Var] = {atom.variable for atom in find(formula, Ignore)}
    for comparison in find(formula, Compare):
        found |= variables(comparison.left) | variables(comparison.right)
    for edge in find(formula, Inequality):
        found |= variables(edge.source) | variables(edge.target)
    return frozenset(found)


def renamed_formula(formula: Formula, renaming: Renaming) -> Formula:
    """The formula over other variables; those that the renaming does not name stay."""

    def rename(node: Formula) -> Formula:
        match node:
            case Compare(op, left, right):
                return Compare(op, renamed(left, renaming), renamed(right, renaming))
            case Inequality(source, target, bound):
                ends = renamed(source, renaming), renamed(target, renaming)
                return Inequality(cast(Point, ends[0]), cast(Point, ends[1]), bound)
            case Ignore(variable):
                return Ignore(renaming.get(variable, variable))
            case _:
                return node

    return rewrite(formula, rename)


def holds(formula: Formula, times: Times) -> bool | None:
    """The truth of a formula in a row; None is unknown.

    >>> a, b = Var("", "a"), Var("", "b")
    >>> holds(compare(a, "<=", b), {a: 1, b: 2}), holds(compare(a, "<=", b), {a: 1, b: None})
    (True, None)
    """

    def truth(node: Formula, below: tuple[bool | None, ...]) -> bool | None:
        match cast(AnyFormula, node):
            case Truth(value):
                return value
            case Ignore(variable):
                return times[variable] is None
            case Compare(op, left, right):
                a, b = evaluate(left, times), evaluate(right, times)
                return None if a is None or b is None else _MEANINGS[op](a, b)
            case Inequality(source, target, bound):
                a, b = evaluate(source, times), evaluate(target, times)
                return None if a is None or b is None else b <= shift(a, bound)
            case And():
                return False if False in below else None if None in below else True
            case Or():
                return True if True in below else None if None in below else False
            case Not():
                return None if below[0] is None else not below[0]

    return fold(formula, truth)


def _term(operand: Operand) -> Term:
    return Const(operand) if isinstance(operand, int) else operand


def _combined(
    kind: type[And] | type[Or], parts: tuple[Formula, ...], neutral: Truth, absorbing: Truth
) -> Formula:
    found: dict[Formula, None] = {}
    for part in parts:
        for member in part.parts if isinstance(part, kind) else (part,):
            if member == absorbing:
                return absorbing
            if member != neutral:
                found[member] = None
    return next(iter(found), neutral) if len(found) < 2 else kind(tuple(found))


def _text(node: Formula, below: tuple[str, ...]) -> str:
    match cast(AnyFormula, node):
        case Truth(value):
            return "true" if value else "false"
        case Ignore(variable):
            return f"ignore({variable})"
        case Compare(op, left, right):
            return f"{left} {op} {right}"
        case Inequality(Const(zero), target, bound):
            return f"{target} <= {format_instant(zero + bound)}"
        case Inequality(source, Const(zero), bound):
            return f"{format_instant(zero - bound)} <= {source}"
        case Inequality(source, target, bound):
            return at_most(str(target), str(source), bound)
        case And():
            return joined("and", below, "true")
        case Or():
            return joined("or", below, "false")
        case Not():
            return f"not ({below[0]})"
