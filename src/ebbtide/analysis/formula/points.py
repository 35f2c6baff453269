"""Points: what difference bounds are between.

Law: a point is a variable, ``ZERO``, or a rounding ``Floor(Plus(point, c), d)``, where
``0 <= c < d`` and ``point + c - (d - 1) <= it <= point + c``.  Points have an order, for printing:
``ZERO`` first, then the variables by name, then the roundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ebbtide.analysis.formula.formula import Inequality
from ebbtide.analysis.formula.terms import Const, Floor, Plus, Point, Term, Var


def root(point: Point) -> Var | None:
    """The variable that a point is made from; ``ZERO`` has none."""
    term: Term = point
    while not isinstance(term, Var):
        if not isinstance(term, Floor | Plus):
            return None
        term = term.term
    return term


def chain(point: Point) -> Iterator[Point]:
    """A point and those that it is rounded from."""
    yield point
    while isinstance(point, Floor):
        point = cast(Point, cast(Plus, point.term).term)
        yield point


def definition(rounding: Floor) -> tuple[Inequality, Inequality]:
    """What rounding down means, as an upper and a lower bound."""
    shifted = cast(Plus, rounding.term)
    base = cast(Point, shifted.term)
    return (
        Inequality(base, rounding, shifted.by),
        Inequality(rounding, base, rounding.grid - 1 - shifted.by),
    )


def order(point: Point) -> tuple[int, str, str, str]:
    """The place of a point among others."""
    match point:
        case Const():
            return (0, "", "", "")
        case Var(node, attribute):
            return (1, node, attribute, "")
        case Floor():
            base = root(point)
            return (2, base.node if base else "", base.attribute if base else "", repr(point))
