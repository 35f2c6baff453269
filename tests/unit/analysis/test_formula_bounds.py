"""Distances, worked by hand (paper 5, definition 5), and the operations on what is known."""

import pytest

from ebbtide.analysis.formula import dnf, merging
from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.dnf import NO_ROWS, NOTHING_KNOWN, Dnf
from ebbtide.analysis.formula.formula import (
    FALSE,
    Ignore,
    Inequality,
    Not,
    between,
    both,
    compare,
    either,
)
from ebbtide.analysis.formula.terms import ZERO, Ceil, Coalesce, Floor, Greatest, Least, Var
from ebbtide.core.time import INF, MINUTE, NEG_INF, SECOND
from ebbtide.errors import InternalError

A, B, C, X, Y = (Var("", name) for name in "abcxy")


def test_the_distance_is_the_largest_difference_from_its_first_to_its_second() -> None:
    facts = Dnf.of(compare(A, "<=", B + 3))
    assert facts.dist(B, A) == 3
    assert facts.dist(A, B) == INF
    assert facts.dist(A, A) == 0


def test_distances_add_up_along_the_shortest_path() -> None:
    facts = Dnf.of(both(compare(A, "<=", B + 3), compare(B, "<=", C + 4), compare(A, "<=", C + 9)))
    assert facts.dist(C, A) == 7


def test_the_distance_over_several_cases_is_the_largest() -> None:
    facts = Dnf.of(either(compare(A, "<=", B + 3), compare(A, "<=", B + 5)))
    assert facts.dist(B, A) == 5
    facts = Dnf.of(either(compare(A, "<=", B + 3), compare(C, "<=", B)))
    assert facts.dist(B, A) == INF


def test_a_contradiction_has_no_rows_and_no_distance() -> None:
    facts = Dnf.of(both(compare(A, "<", B), compare(B, "<", C), compare(C, "<=", A + 1)))
    assert facts == NO_ROWS
    assert facts.dist(A, B) == NEG_INF
    assert str(facts) == "no rows"
    # One tick later there is room for both.
    assert Dnf.of(both(compare(A, "<", B), compare(B, "<", C), compare(C, "<=", A + 2))).cases


def test_constants_are_compared_through_zero() -> None:
    facts = Dnf.of(both(compare(A, ">=", 10), compare(B, "<=", 25)))
    assert facts.dist(A, B) == 15
    assert facts.dist(ZERO, B) == 25
    assert facts.dist(A, ZERO) == -10
    assert Dnf.of(both(compare(A, ">=", 10), compare(A, "<=", 9))) == NO_ROWS


def test_a_greatest_is_after_each_and_equal_to_one() -> None:
    facts = NOTHING_KNOWN.define(X, Greatest((A, B)))
    assert facts.dist(X, A) == facts.dist(X, B) == 0
    assert facts.dist(A, X) == INF
    assert len(facts.cases) == 2
    assert facts.where(between(B, A, A + 4)).dist(A, X) == 4


def test_a_least_is_before_each() -> None:
    facts = NOTHING_KNOWN.define(X, Least((A, B)) + 2)
    assert facts.dist(A, X) == facts.dist(B, X) == 2
    assert facts.dist(X, A) == INF


@pytest.mark.parametrize(
    ("term", "low", "high"),
    [(Floor(A, 20), -19, 0), (Ceil(A, 20), 0, 19), (Ceil(A + 5, 20), 5, 24)],
)
def test_a_rounding_lies_within_a_grid_cell(term: Floor | Ceil, low: int, high: int) -> None:
    facts = NOTHING_KNOWN.define(X, term)
    assert facts.dist(A, X) == high
    assert facts.dist(X, A) == -low


def test_two_uses_of_one_rounding_are_equal() -> None:
    facts = NOTHING_KNOWN.define(X, Floor(A, MINUTE)).define(Y, Floor(A, MINUTE) + MINUTE)
    kept = facts.project({X, Y})
    assert str(kept) == "y = x + 1 min"
    facts = NOTHING_KNOWN.define(X, Ceil(A, 10)).define(Y, Ceil(A + 30, 10))
    assert facts.dist(X, Y) == -facts.dist(Y, X) == 30


def test_different_cells_of_a_grid_are_in_order() -> None:
    assert Dnf.of(compare(Floor(A, 10), "<", Floor(B, 10))).dist(B, A) == -1
    assert Dnf.of(compare(Floor(A, 10), "=", Floor(B, 10))).dist(B, A) == 9


def test_a_projection_keeps_what_led_through_the_others() -> None:
    facts = Dnf.of(both(compare(A, "<=", B), compare(B, "<=", C - 1)))
    kept = facts.project({A, C})
    assert kept.variables == {A, C}
    assert str(kept) == "a < c"


def test_a_renaming_keeps_the_bounds_and_never_merges() -> None:
    facts = Dnf.of(both(compare(Floor(A, 10), "<=", B), compare(B, "<=", 7)))
    there = facts.rename({A: X, B: A})
    assert there.dist(A, X) == facts.dist(B, A) == 9
    assert there.dist(ZERO, A) == 7
    with pytest.raises(InternalError, match="two variables one"):
        facts.rename({A: B})


def test_a_conjunction_of_facts_is_that_of_their_formulas() -> None:
    one, two = compare(A, "<=", B), compare(B, "<=", C + 2)
    assert Dnf.of(one).conjoin(Dnf.of(two)) == Dnf.of(both(one, two))
    assert Dnf.of(one).conjoin(Dnf.of(compare(B, "<", A))) == NO_ROWS
    assert Dnf.of(one).conjoin(NOTHING_KNOWN) == Dnf.of(one)


def test_cases_that_imply_another_are_dropped() -> None:
    facts = Dnf.of(either(compare(A, "<=", B), compare(A, "<=", B + 5), compare(A, "=", B - 1)))
    assert facts == Dnf.of(compare(A, "<=", B + 5))
    assert Dnf.of(either(compare(A, "<=", B), FALSE)) == Dnf.of(compare(A, "<=", B))


def test_implication_is_proved_by_contradiction() -> None:
    facts = Dnf.of(both(compare(A, "<=", B), compare(B, "<", C)))
    assert facts.implies(compare(A, "<", C))
    assert facts.implies(compare(A, "<>", C))
    assert not facts.implies(compare(A, "<", B))


def test_past_the_cap_the_most_alike_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dnf, "CAP", 2)
    wide = between(B, A + 100, A + 200)
    facts = Dnf.of(either(between(B, A, A + 2), between(B, A + 5, A + 6), wide))
    assert facts == Dnf.of(either(between(B, A, A + 6), wide))


def test_the_cap_holds_for_large_products() -> None:
    several = [Var("", f"v{i}") for i in range(12)]
    apart = both(*(compare(a, "<>", b) for a in several[:4] for b in several[4:8]))
    assert len(Dnf.of(apart).cases) <= merging.CAP


class TestAbsence:
    """What ``ignore`` and NULLs do."""

    def test_an_absent_variable_is_bounded_by_all_and_bounds_none(self) -> None:
        (case,) = Dnf.of(both(compare(A, "<=", B), Ignore(C))).cases
        assert case.dist(A, C) == NEG_INF
        assert case.dist(C, A) == INF
        assert case.dist(C, C) == INF

    def test_a_comparison_with_an_absent_variable_is_not_true(self) -> None:
        outer = Dnf.of(compare(A, "<=", B)).either(NOTHING_KNOWN.ignoring([B]))
        assert outer.where(compare(B, "<=", A + 5)) == Dnf.of(between(B, A, A + 5))
        assert outer.where(Ignore(B)) == NOTHING_KNOWN.ignoring([B])
        assert outer.where(Not(Ignore(B))) == Dnf.of(compare(A, "<=", B))

    def test_greatest_skips_what_is_absent(self) -> None:
        facts = NOTHING_KNOWN.ignoring([B]).define(X, Greatest((A, B)))
        assert str(facts) == "x = a and b is NULL"

    def test_a_term_of_an_absent_variable_is_absent(self) -> None:
        facts = NOTHING_KNOWN.ignoring([B]).define(X, B + 5)
        assert facts == NOTHING_KNOWN.ignoring([B, X])

    def test_coalesce_tells_the_cases_apart(self) -> None:
        nullable = NOTHING_KNOWN.allowing_nulls([B]).where(either(compare(A, "<=", B), Ignore(B)))
        facts = nullable.define(X, Coalesce((B, A)))
        assert facts.dist(X, A) == 0
        assert str(facts) == "(x = b and a <= b) or (x = a and b is NULL)"

    def test_an_optional_variable_proves_nothing_about_others(self) -> None:
        facts = NOTHING_KNOWN.allowing_nulls([B])
        facts = facts.define(X, Greatest((A, B))).define(Y, Least((C, B)))
        assert facts.dist(A, C) == INF
        assert facts.holds({A: 1, B: None, C: 5, X: 1, Y: 5})

    def test_an_optional_variable_that_is_compared_is_there(self) -> None:
        facts = NOTHING_KNOWN.allowing_nulls([B]).where(between(B, A, C))
        assert facts == Dnf.of(between(B, A, C))
        assert facts.dist(C, A) == 0

    def test_once_it_is_there_its_bounds_lead_on(self) -> None:
        (there,) = Dnf.of(between(B, A, C)).cases
        hull = there.hull(Conjunction().ignoring([B]))
        assert hull.dist(C, A) == INF
        assert hull.presenting([B]) == there
        assert hull.presenting([X]) == hull
        assert hull.ignoring([B]).presenting([B]) is None

    def test_rows_that_may_have_nulls_include_those_that_have_none(self) -> None:
        nullable = NOTHING_KNOWN.allowing_nulls([B])
        assert nullable.either(NOTHING_KNOWN) == nullable
        assert NOTHING_KNOWN.either(nullable) == nullable
        assert nullable.either(NOTHING_KNOWN.ignoring([B])) == nullable

    def test_optional_has_to_be_said_first(self) -> None:
        with pytest.raises(InternalError, match="bounds already"):
            Dnf.of(compare(A, "<=", B)).allowing_nulls([B])

    def test_a_name_has_one_definition(self) -> None:
        with pytest.raises(InternalError, match="meaning already"):
            Dnf.of(compare(A, "<=", B)).define(A, B + 1)

    def test_the_hull_keeps_the_bounds_of_the_side_that_has_the_variable(self) -> None:
        (there,) = Dnf.of(between(B, A, A + 5)).cases
        hull = there.hull(Conjunction().ignoring([B]))
        assert hull.optional == {B}
        assert hull.dist(A, B) == 5
        assert there.implies(hull)
        assert Conjunction().ignoring([B]).implies(hull)


class TestPrinting:
    """The facts that EXPLAIN shows."""

    def test_bounds_read_like_their_predicates(self) -> None:
        at, begin, end = Var("", "at"), Var("", "from"), Var("", "to")
        facts = Dnf.of(both(compare(begin, "<=", at), compare(end, "=", begin + 15 * MINUTE)))
        assert str(facts) == "to = from + 15 min and from <= at"
        facts = Dnf.of(both(compare(at, "<=", begin), compare(begin, "<", end)))
        assert str(facts) == "at <= from and from < to"

    def test_opposite_bounds_are_a_range(self) -> None:
        at, paid = Var("", "at"), Var("p", "at")
        assert str(Dnf.of(between(paid, at - 2 * MINUTE, at))) == "at - 2 min <= p.at <= at"
        facts = NOTHING_KNOWN.define(X, Floor(at, 20 * SECOND)).project({X, at})
        assert str(facts) == "at - 20 s < x <= at"

    def test_constants_print_as_instants(self) -> None:
        assert str(Dnf.of(between(A, 0, SECOND))) == (
            "1970-01-01 00:00:00 <= a <= 1970-01-01 00:00:01"
        )
        assert str(Dnf.of(compare(A, "=", SECOND))) == "a = 1970-01-01 00:00:01"

    def test_nothing_follows_through_what_may_be_null(self) -> None:
        case = Conjunction().allowing_nulls([B])
        case = (
            case.extended([Inequality(B, A, 0), Inequality(C, B, 0), Inequality(C, A, 0)]) or case
        )
        assert str(case) == "a <= b and a <= c and b <= c and b may be NULL"

    def test_cases_are_told_apart(self) -> None:
        facts = Dnf.of(between(B, A, A + 5)).either(NOTHING_KNOWN.ignoring([B]))
        assert str(facts) == "a <= b <= a + 5 us or b is NULL"
        assert str(NOTHING_KNOWN.allowing_nulls([B])) == "b may be NULL"
        assert str(NOTHING_KNOWN) == "true"
