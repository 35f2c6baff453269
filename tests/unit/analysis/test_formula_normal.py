"""The rules of paper 5's definition 4, one by one, with its printed slips put right."""

import pytest

from ebbtide.analysis.formula.formula import (
    FALSE,
    TRUE,
    And,
    Formula,
    Ignore,
    Inequality,
    Not,
    Or,
    both,
    compare,
    either,
    formula_variables,
    renamed_formula,
)
from ebbtide.analysis.formula.normal import lattice, normalised
from ebbtide.analysis.formula.terms import (
    ZERO,
    Ceil,
    Coalesce,
    Const,
    Floor,
    Greatest,
    Least,
    Plus,
    Term,
    Var,
)
from ebbtide.core.time import INF, MINUTE, NEG_INF, SECOND

A, B, C, D = (Var("", name) for name in "abcd")


def edge(target: Term, source: Term, bound: int) -> Formula:
    """``target <= source + bound``."""
    return Inequality(source, target, bound)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("formula", "normal"),
    [
        pytest.param(compare(A, "<=", B), edge(A, B, 0), id="zero"),
        pytest.param(compare(A, ">=", B + 2), edge(B, A, -2), id="geq"),
        pytest.param(compare(A, "<", B + 2), edge(A, B, 1), id="less is one tick earlier"),
        pytest.param(compare(A, ">", B + 2), edge(B, A, -3), id="gr"),
        pytest.param(compare(A, "=", B + 2), both(edge(A, B, 2), edge(B, A, -2)), id="eq"),
        pytest.param(compare(A, "<>", B + 2), either(edge(A, B, 1), edge(B, A, -3)), id="neq"),
        pytest.param(compare(A + 3, "<=", B), edge(A, B, -3), id="arith1 turns the sign"),
        pytest.param(compare(A, "<=", (B + 3) + 4), edge(A, B, 7), id="arith2"),
        pytest.param(Not(compare(A, "<", B)), edge(B, A, 0), id="not less is not greater"),
        pytest.param(Not(compare(A, "<=", B)), edge(B, A, -1), id="not at most"),
        pytest.param(
            Not(compare(A, "=", B)), either(edge(A, B, -1), edge(B, A, -1)), id="not equal"
        ),
        pytest.param(
            Not(compare(A, "<>", B)), both(edge(A, B, 0), edge(B, A, 0)), id="not unequal"
        ),
        pytest.param(Not(Not(compare(A, "<=", B))), edge(A, B, 0), id="neg3"),
        pytest.param(
            Not(And((compare(A, "<=", B), Ignore(C)))),
            either(edge(B, A, -1), Not(Ignore(C))),
            id="neg1",
        ),
        pytest.param(
            Not(Or((compare(A, "<=", B), compare(A, "<=", C)))),
            both(edge(B, A, -1), edge(C, A, -1)),
            id="neg2",
        ),
        pytest.param(Not(TRUE), FALSE, id="neg5"),
        pytest.param(And((compare(A, "<=", B), TRUE)), edge(A, B, 0), id="top"),
        pytest.param(And((compare(A, "<=", B), FALSE)), FALSE, id="bot"),
        pytest.param(
            compare(A, "<=", Least((B, C)) + 1), both(edge(A, B, 1), edge(A, C, 1)), id="min1"
        ),
        pytest.param(
            compare(Least((B, C)), "<=", A + 1), either(edge(B, A, 1), edge(C, A, 1)), id="min2"
        ),
        pytest.param(
            compare(A, "<=", Greatest((B, C)) + 1), either(edge(A, B, 1), edge(A, C, 1)), id="max1"
        ),
        pytest.param(
            compare(Greatest((B, C)), "<=", A + 1), both(edge(B, A, 1), edge(C, A, 1)), id="max2"
        ),
        pytest.param(compare(A, "<=", 7), edge(A, ZERO, 7), id="a constant, through zero"),
        pytest.param(compare(7, "<=", A), edge(ZERO, A, -7), id="a constant below"),
        pytest.param(compare(3, "<=", 7), TRUE, id="two constants"),
        pytest.param(compare(A + 1, "<=", A), FALSE, id="the same on both sides"),
        pytest.param(compare(A, "<=", INF), TRUE, id="the end of the line bounds nothing"),
        pytest.param(compare(NEG_INF, "<=", A), TRUE, id="nor does its beginning"),
    ],
)
def test_rule(formula: Formula, normal: Formula) -> None:
    assert normalised(formula) == normal


def test_shifts_and_roundings_move_inwards_and_multiples_of_the_grid_out() -> None:
    def floor(c: int) -> Term:
        return Floor(Plus(A, c), 10)

    assert lattice(Floor(A + 27, 10)) == Plus(floor(7), 20)
    assert lattice(Ceil(A, 10)) == Plus(floor(9), 0)
    assert lattice(Ceil(A + 30, 10)) == Plus(floor(9), 30)
    assert lattice(Floor(Floor(A, 10), 5)) == Plus(floor(0), 0)
    assert lattice(Floor(Const(27), 10)) == Plus(ZERO, 20)
    assert lattice(Floor(Least((A, B)) + 3, 10)) == Least(
        (Plus(Floor(Plus(A, 3), 10), 0), Plus(Floor(Plus(B, 3), 10), 0))
    )


def test_a_difference_of_roundings_is_a_multiple_of_their_common_grid() -> None:
    f, g = Floor(Plus(A, 0), 10), Floor(Plus(B, 0), 4)
    assert normalised(compare(Floor(A, 10), "<", Floor(B, 4))) == edge(f, g, -2)
    assert normalised(compare(Floor(A, 10), "<=", 27)) == edge(f, ZERO, 20)
    assert normalised(compare(Floor(A, 10), "<=", B)) == edge(f, B, 0)


def test_a_coalesce_is_its_first_term_where_all_are_there() -> None:
    assert normalised(compare(Coalesce((A, B)), "<=", C)) == edge(A, C, 0)


def test_renaming_reaches_every_atom() -> None:
    formula = both(compare(A + 1, "<=", Floor(B, 5)), Not(Ignore(A)), edge(B, C, 2))
    there = renamed_formula(formula, {A: D})
    assert formula_variables(there) == {B, C, D}
    assert there == both(compare(D + 1, "<=", Floor(B, 5)), Not(Ignore(D)), edge(B, C, 2))


def test_formulas_print_as_they_are_meant() -> None:
    formula = both(
        compare(A - 2 * MINUTE, "<=", B),
        either(compare(A, "=", Floor(B, 20 * SECOND)), Not(Ignore(C))),
        compare(Greatest((A, B)), "<", 0),
    )
    assert str(formula) == (
        "a - 2 min <= b and (a = FLOOR(b TO 20 s) or not (ignore(c)))"
        " and GREATEST(a, b) < 1970-01-01 00:00:00"
    )
    assert str(normalised(compare(A, "<", B + MINUTE))) == "a < b + 1 min"
    assert str(normalised(compare(A, ">=", SECOND))) == "1970-01-01 00:00:01 <= a"
    assert str(Least((Coalesce((A, B)), Ceil(Var("bids", "at"), MINUTE)))) == (
        "LEAST(COALESCE(a, b), CEIL(bids.at TO 1 min))"
    )
