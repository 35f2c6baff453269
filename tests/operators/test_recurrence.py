"""Recurrence: the facts of the recursion around it, of which others follow."""

import pytest
from tests.operators.test_recursion import OWN, ROWS, S, given, later

from ebbtide.algebra import Recursion, UnionAll
from ebbtide.analysis.analysis import examine
from ebbtide.errors import InternalError
from ebbtide.testing import answer


def test_it_has_the_columns_of_its_recursion() -> None:
    assert OWN.schema == ROWS


def test_it_stands_for_the_recursion_wherever_it_is() -> None:
    """Every fact follows twice, 3 and 5 later."""
    plan = Recursion("r", UnionAll(UnionAll(S, later(OWN, 3)), later(OWN, 5)), "at")
    assert answer(plan, {"s": given((7, 1))}, now=6).at(0) == [(7, 1), (7, 4), (7, 6)]
    solution = examine(plan).solution
    assert solution is not None
    assert solution.gain_us == 3


def test_without_a_recursion_around_it_there_is_none() -> None:
    with pytest.raises(InternalError, match='no input for "r"'):
        answer(OWN, {}, now=3)
