"""The normal form of a formula (paper 5, definition 4).

Law: the normal form is true in the same rows, as long as no time is NULL or an end of the line.
Its atoms are ``p <= q + c`` between points, and negation stands at most before ``ignore(v)``.

Where the paper's print slips, this is what holds: the negation of ``<`` is ``>=`` and that of ``=``
is ``<>``; ``t + c <= u`` is ``t <= u - c``; and ``t < u`` is ``t <= u - 1``, for time is integer.

Roundings are not replaced by the bounds that they imply, as in the paper, but stay as points of
their own: ``Floor(p + c TO d)``, of which ``points`` knows ``p + c - (d - 1) <= it <= p + c``.  So
two uses of one rounding stay equal, and ``FLOOR(a TO d) < FLOOR(b TO d)`` gives ``a < b``.
A comparison with an end of the line gives no bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import gcd
from typing import TypeAlias, cast

from ebbtide.analysis.formula.formula import (
    FALSE,
    TRUE,
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
    both,
    either,
)
from ebbtide.analysis.formula.presence import choices
from ebbtide.analysis.formula.terms import (
    ZERO,
    AnyTerm,
    Ceil,
    Coalesce,
    Const,
    Floor,
    Greatest,
    Least,
    Plus,
    Point,
    Term,
    Var,
)
from ebbtide.core.time import Duration, floor_to, is_finite, shift
from ebbtide.core.tree import fold, rewrite
from ebbtide.errors import InternalError

Signed: TypeAlias = tuple[Formula, Formula]


def normalised(formula: Formula) -> Formula:
    """The normal form, where every variable is present.

    >>> from ebbtide.analysis.formula.formula import compare
    >>> a, b, c = Var("", "a"), Var("", "b"), Var("", "c")
    >>> str(normalised(Not(compare(a + 5, "<", Greatest((b, c))))))
    'b <= a + 5 us and c <= a + 5 us'
    """

    def atom(node: Formula) -> Formula:
        match node:
            case Compare(op, left, right):
                sides = product(choices(left), choices(right))
                terms = ((a.term, b.term) for a, b in sides)
                return either(
                    *(split(op, a, b) for a, b in terms if a is not None and b is not None)
                )
            case And(parts):
                return both(*parts)
            case Or(parts):
                return either(*parts)
            case _:
                return node

    return rewrite(negation_normal(formula), atom)


def negation_normal(formula: Formula) -> Formula:
    """The formula with negation at most before ``ignore(v)``."""

    def signed(node: Formula, below: tuple[Signed, ...]) -> Signed:
        match cast(AnyFormula, node):
            case Truth(value):
                return (TRUE, FALSE) if value else (FALSE, TRUE)
            case Compare(op, left, right):
                return node, Compare(op.negation, left, right)
            case Inequality(source, target, bound):
                return node, Inequality(target, source, -bound - 1)
            case Ignore():
                return node, Not(node)
            case And():
                return both(*(yes for yes, _ in below)), either(*(no for _, no in below))
            case Or():
                return either(*(yes for yes, _ in below)), both(*(no for _, no in below))
            case Not():
                return below[0][1], below[0][0]

    return fold(formula, signed)[0]


def split(op: Op, left: Term, right: Term) -> Formula:
    """A comparison of terms without ``COALESCE`` as edges between points."""
    a, b = lattice(left), lattice(right)
    match op:
        case Op.LE:
            return _at_most(a, b)
        case Op.LT:
            return _at_most(a, _moved(b, -1))
        case Op.GE:
            return _at_most(b, a)
        case Op.GT:
            return _at_most(b, _moved(a, -1))
        case Op.EQ:
            return both(_at_most(a, b), _at_most(b, a))
        case Op.NE:
            return either(_at_most(a, _moved(b, -1)), _at_most(b, _moved(a, -1)))


def lattice(term: Term) -> Term:
    """The term as ``LEAST`` and ``GREATEST`` of shifted points, ``Plus(point, c)``.

    Shifts and roundings are monotone, so they move inwards; multiples of the grid move out again.
    """

    def step(node: Term, below: tuple[Term, ...]) -> Term:
        match cast(AnyTerm, node):
            case Var():
                return Plus(node, 0)
            case Const(instant):
                return Plus(ZERO, instant)
            case Plus(_, by):
                return _moved(below[0], by)
            case Floor(_, grid):
                return _rounded(below[0], grid)
            case Ceil(_, grid):
                return _rounded(_moved(below[0], grid - 1), grid)
            case Least():
                return below[0] if len(below) == 1 else Least(below)
            case Greatest():
                return below[0] if len(below) == 1 else Greatest(below)
            case Coalesce():
                raise InternalError("unresolved-coalesce", f"{node} has no case chosen")

    return fold(term, step)


def _moved(term: Term, by: Duration) -> Term:
    def move(point: Point, offset: Duration) -> Term:
        return Plus(point, shift(offset, by) if point == ZERO else offset + by)

    return _mapped(term, move)


def _rounded(term: Term, grid: Duration) -> Term:
    def round_down(point: Point, offset: Duration) -> Term:
        if point == ZERO:
            return Plus(ZERO, floor_to(offset, grid))
        out, within = offset // grid * grid, offset % grid
        if within == 0 and isinstance(point, Floor) and point.grid % grid == 0:
            return Plus(point, out)
        return Plus(Floor(Plus(point, within), grid), out)

    return _mapped(term, round_down)


def _mapped(term: Term, leaf: Callable[[Point, Duration], Term]) -> Term:
    match term:
        case Least(terms):
            return Least(tuple(_mapped(t, leaf) for t in terms))
        case Greatest(terms):
            return Greatest(tuple(_mapped(t, leaf) for t in terms))
        case Plus(point, offset):
            return leaf(cast(Point, point), offset)
        case _:
            raise InternalError("no-lattice", f"{term} is no lattice of shifted points")


def _at_most(a: Term, b: Term) -> Formula:
    # Conjunctions are split off first: they keep the disjunctions behind them small.
    match a, b:
        case Greatest(terms), _:
            return both(*(_at_most(t, b) for t in terms))
        case _, Least(terms):
            return both(*(_at_most(a, t) for t in terms))
        case Least(terms), _:
            return either(*(_at_most(t, b) for t in terms))
        case _, Greatest(terms):
            return either(*(_at_most(a, t) for t in terms))
        case Plus(target, before), Plus(source, after):
            return _edge(cast(Point, target), before, cast(Point, source), after)
        case _:
            raise InternalError("no-lattice", f"{a}, {b} are no lattices of shifted points")


def _edge(target: Point, before: Duration, source: Point, after: Duration) -> Formula:
    if target == source:
        return Truth(before <= after)
    if (target == ZERO and not is_finite(before)) or (source == ZERO and not is_finite(after)):
        return TRUE
    # Both ends are multiples of the common grid, so their difference is one too.
    common = gcd(_grid(target), _grid(source))
    return Inequality(source, target, floor_to(after - before, common))


def _grid(point: Point) -> Duration:
    match point:
        case Floor(_, grid):
            return grid
        case Const():
            return 0
        case Var():
            return 1
