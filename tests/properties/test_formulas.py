"""The temporal mathematics against brute force over small integers.

Formulas are evaluated row by row with SQL's truth values; what is derived from them has to hold in
every row that they are true in, and distances have to be reached by one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import permutations, product
from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st

from ebbtide.analysis.formula import dnf
from ebbtide.analysis.formula.bounds import Conjunction
from ebbtide.analysis.formula.conditions import keeping, passing
from ebbtide.analysis.formula.dnf import NOTHING_KNOWN, Dnf
from ebbtide.analysis.formula.formula import (
    TRUE,
    And,
    Compare,
    Formula,
    Ignore,
    Inequality,
    Not,
    Op,
    Or,
    holds,
    renamed_formula,
)
from ebbtide.analysis.formula.normal import normalised
from ebbtide.analysis.formula.presence import choices
from ebbtide.analysis.formula.progress import (
    ALWAYS,
    NEVER,
    Bound,
    Progress,
    Value,
    at_most,
    evaluate,
    fastest,
    shifted,
    slowest,
)
from ebbtide.analysis.formula.streambound import (
    Bounded,
    StreamBound,
    is_progressing,
    propagated,
)
from ebbtide.analysis.formula.terms import (
    ZERO,
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
from ebbtide.analysis.formula.terms import evaluate as value_of
from ebbtide.core.time import INF, NEG_INF, shift

A, B, C, D, X = VARIABLES = tuple(Var("", name) for name in "abcdx")
Row = dict[Var, int | None]

grids = st.integers(1, 4)
shifts = st.integers(-3, 3)


@cache
def terms(*variables: Var) -> st.SearchStrategy[Term]:
    leaves: st.SearchStrategy[Term] = st.sampled_from(variables) | st.integers(-2, 3).map(Const)

    def compound(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.one_of(
            st.builds(Plus, inner, shifts),
            st.builds(Floor, inner, grids),
            st.builds(Ceil, inner, grids),
            st.builds(Least, several),
            st.builds(Greatest, several),
            st.builds(Coalesce, several),
        )

    return st.recursive(leaves, compound, max_leaves=4)


@cache
def formulas(*variables: Var, atoms: int = 4, nulls: bool = False) -> st.SearchStrategy[Formula]:
    leaves: st.SearchStrategy[Formula] = st.builds(
        Compare, st.sampled_from(list(Op)), terms(*variables), terms(*variables)
    )
    if nulls:
        leaves |= st.builds(Ignore, st.sampled_from(variables))

    def compound(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.builds(Not, inner) | st.builds(And, several) | st.builds(Or, several)

    return st.recursive(leaves, compound, max_leaves=atoms)


def edges(*points: Point, most: int = 5) -> st.SearchStrategy[list[Inequality]]:
    pairs = st.sampled_from(list(permutations(points, 2)))
    return st.lists(
        st.builds(lambda ends, bound: Inequality(*ends, bound), pairs, shifts),
        min_size=1,
        max_size=most,
    )


def rows(*variables: Var, low: int = -2, high: int = 3) -> Iterator[Row]:
    for times in product(range(low, high + 1), repeat=len(variables)):
        yield dict(zip(variables, times, strict=True))


def satisfied(given_edges: list[Inequality], row: Row) -> bool:
    """The naive twin of a conjunction: ``ZERO`` is 0, every variable has a time."""
    times = {ZERO: 0, **row}
    return all(times[e.target] <= times[e.source] + e.bound for e in given_edges)  # type: ignore[index, operator]


@contextmanager
def capped(cap: int) -> Iterator[None]:
    with patch.object(dnf, "CAP", cap):
        yield


@given(formulas(A, B))
def test_the_normal_form_is_true_in_the_same_rows(formula: Formula) -> None:
    normal = normalised(formula)
    for row in rows(A, B):
        assert holds(normal, row) == holds(formula, row)


@given(formulas(A, B))
def test_facts_hold_in_just_the_rows_that_they_were_made_from(formula: Formula) -> None:
    with capped(10_000):
        facts = Dnf.of(formula)
    for row in rows(A, B):
        assert facts.holds(row) == holds(formula, row)


@given(terms(A, B, C))
def test_a_term_has_the_value_of_one_of_its_choices(term: Term) -> None:
    found = choices(term, absent=frozenset({C}), optional=frozenset({A}))
    for a, b in product((None, 0, 1, 2), (0, 1, 3)):
        row: Row = {A: a, B: b, C: None}
        values = [
            None if choice.term is None else value_of(choice.term, row)
            for choice in found
            if all(row[v] is not None for v in choice.present)
            and all(row[v] is None for v in choice.absent)
        ]
        assert value_of(term, row) in values


@given(edges(ZERO, A, B))
def test_distances_are_the_tightest(given_edges: list[Inequality]) -> None:
    far = 25
    case = Conjunction().extended(given_edges)
    solutions = [
        {ZERO: 0, **row} for row in rows(A, B, low=-far, high=far) if satisfied(given_edges, row)
    ]
    assert (case is None) == (not solutions)
    for w, v in permutations((ZERO, A, B), 2) if case else ():
        assert case is not None
        largest = max(times[v] - times[w] for times in solutions)  # type: ignore[index, operator]
        if case.dist(w, v) == INF:
            assert largest > far - 10
        else:
            assert case.dist(w, v) == largest


@given(edges(*VARIABLES, ZERO, most=14), st.randoms())
def test_distances_do_not_depend_on_the_order_of_the_bounds(
    given_edges: list[Inequality], random: object
) -> None:
    points = (ZERO, *VARIABLES)
    naive = {(u, v): 0 if u == v else INF for u in points for v in points}
    for edge in given_edges:
        naive[edge.source, edge.target] = min(naive[edge.source, edge.target], edge.bound)
    for k, u, v in product(points, repeat=3):
        if INF not in (naive[u, k], naive[k, v]):
            naive[u, v] = min(naive[u, v], naive[u, k] + naive[k, v])
    shuffled = list(given_edges)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    half = len(shuffled) // 2
    one, two = Conjunction().extended(shuffled[:half]), Conjunction().extended(shuffled[half:])
    together = None if one is None or two is None else one.conjoin(two)
    assert together == Conjunction().extended(given_edges)
    assert (together is None) == any(naive[p, p] < 0 for p in points)
    if together is not None:
        assert all(together.dist(u, v) == naive[u, v] for u, v in naive)


@given(edges(ZERO, A, B, C, most=6))
def test_projection_is_exact(given_edges: list[Inequality]) -> None:
    case = Conjunction().extended(given_edges)
    assume(case is not None)
    assert case is not None
    kept = case.project({A, B})
    for row in rows(A, B, low=-5, high=5):
        there = any(satisfied(given_edges, {**row, C: c}) for c in range(-15, 16))
        assert kept.holds(row) == there


@given(edges(ZERO, A, B), edges(ZERO, A, B))
def test_implication_is_inclusion_and_the_hull_the_least_that_includes(
    first: list[Inequality], second: list[Inequality]
) -> None:
    one, two = Conjunction().extended(first), Conjunction().extended(second)
    assume(one is not None and two is not None)
    assert one is not None
    assert two is not None
    models = [
        [row for row in rows(A, B, low=-20, high=20) if satisfied(of, row)]
        for of in (first, second)
    ]
    assert one.implies(two) == all(satisfied(second, row) for row in models[0])
    hull = one.hull(two)
    assert one.implies(hull)
    assert two.implies(hull)
    for w, v in permutations((ZERO, A, B), 2):
        assert hull.dist(w, v) == max(one.dist(w, v), two.dist(w, v))


@given(edges(A, B, C, most=4))
def test_what_is_printed_says_it_all(given_edges: list[Inequality]) -> None:
    case = Conjunction().extended(given_edges)
    assume(case is not None)
    assert case is not None
    text = str(case).replace(" us", "").replace(" = ", " == ").replace("true", "True")
    for row in rows(A, B, C):
        named = {v.attribute: t for v, t in row.items()}
        assert eval(text, {}, named) == satisfied(given_edges, row)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, Formula, Term]]:
    """Steps of a query over rows (a, b, c), of which c may be NULL."""
    steps = []
    known = [A, B, C]
    for kind in draw(st.lists(st.sampled_from(["where", "define", "left", "union"]), max_size=3)):
        fresh = Var("", f"n{len(steps)}")
        if kind == "left":
            # As little else as possible is compared, so that matches are found.
            bound = st.sampled_from(known)
            low, high = draw(bound), draw(bound)
            formula: Formula = And(
                (Compare(Op.LE, low, fresh + 1), Compare(Op.LE, fresh, high + 1))
            )
        else:
            formula = draw(formulas(*known, atoms=3, nulls=True))
        steps.append((kind, formula, draw(terms(*known))))
        if kind in ("left", "define"):
            known.append(fresh)
    return steps


def follow(facts: Dnf, given_rows: list[Row], history: list[tuple[str, Formula, Term]]) -> None:
    for number, (kind, formula, term) in enumerate(history):
        fresh = Var("", f"n{number}")
        if kind == "where":
            facts = facts.where(formula)
            given_rows = [row for row in given_rows if holds(formula, row)]
        elif kind == "define":
            facts = facts.define(fresh, term)
            given_rows = [{**row, fresh: value_of(term, row)} for row in given_rows]
        elif kind == "union":
            facts = facts.where(formula).either(facts.where(Not(formula)))
            given_rows = [row for row in given_rows if holds(formula, row) is not None]
        else:
            facts = facts.where(formula).either(facts.ignoring([fresh]))
            pairs = [{**row, fresh: t} for row in given_rows[::5] for t in (-1, 0, 2)]
            given_rows = [row for row in pairs if holds(formula, row)] + [
                {**row, fresh: None} for row in given_rows
            ]
        assert len(facts.cases) <= dnf.CAP
        for row in given_rows:
            assert facts.holds(row), (kind, row, str(facts))
    kept = set(list(facts.variables)[::2])
    other = {v: Var("other", v.attribute) for v in facts.variables}
    projected, renamed = facts.project(kept), facts.rename(other)
    for row in given_rows:
        assert projected.holds(row)
        assert renamed.holds({other.get(v, v): t for v, t in row.items()})


@given(histories(), st.sampled_from([1, 2, 3, 100]))
def test_what_is_known_holds_in_every_row_with_and_without_the_cap(
    history: list[tuple[str, Formula, Term]], cap: int
) -> None:
    times = [None, -1, 0, 2]
    given_rows = [{A: a, B: b, C: c} for a, b, c in product((-1, 2), (-1, 0, 2), times)]
    with capped(cap):
        follow(NOTHING_KNOWN.allowing_nulls([C]), given_rows, history)


@given(formulas(A, B, C, atoms=6), st.sampled_from([1, 2]))
def test_past_the_cap_distances_are_never_too_small(formula: Formula, cap: int) -> None:
    with capped(cap):
        coarse = Dnf.of(formula)
    with capped(10_000):
        fine = Dnf.of(formula)
    assert len(coarse.cases) <= cap
    for w, v in permutations((A, B, C), 2):
        assert coarse.dist(w, v) >= fine.dist(w, v)


@given(formulas(A, B), formulas(A, B, atoms=2))
def test_a_proved_implication_holds_in_every_row(given_one: Formula, wanted: Formula) -> None:
    facts = Dnf.of(given_one)
    if facts.implies(wanted):
        assert all(holds(wanted, row) for row in rows(A, B) if holds(given_one, row))


BOUNDS = (Bound("r", "a"), Bound("r", "b"), Bound("s", "c"))
ATOMS = tuple(Bounded(v, b) for v, b in zip((A, B, C), BOUNDS, strict=True))

values = st.recursive(
    st.builds(Progress, st.sampled_from(BOUNDS[:2]), shifts),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(slowest)
        | st.lists(inner, min_size=2, max_size=3).map(fastest)
    ),
    max_leaves=6,
) | st.sampled_from([ALWAYS, NEVER])

stream_bounds = st.sampled_from(
    [
        StreamBound.of(ATOMS[0]),
        StreamBound.of(*ATOMS[:2]),
        StreamBound.of(ATOMS[0]).conjoin(StreamBound.of(ATOMS[2])),
        StreamBound.of(*ATOMS[:2]).conjoin(StreamBound.of(ATOMS[2])),
    ]
)
frontiers = st.tuples(*(st.integers(-3, 3) for _ in BOUNDS)).map(
    lambda values: dict(zip(BOUNDS, values, strict=True))
)
facts_about_streams = st.one_of(
    edges(A, B, C).map(lambda atoms: And(tuple(atoms))), formulas(A, B, C, atoms=3)
)


@given(st.lists(values, max_size=4), st.lists(frontiers, min_size=5, max_size=5), shifts)
def test_values_are_the_slowest_and_the_fastest_of_their_parts(
    parts: list[Value], settings: list[dict[Bound, int]], by: int
) -> None:
    for progress in settings:
        each = [evaluate(part, progress) for part in parts]
        assert evaluate(slowest(parts), progress) == min(each, default=INF)
        assert evaluate(fastest(parts), progress) == max(each, default=NEG_INF)
        assert [evaluate(shifted(part, by), progress) for part in parts] == [
            shift(time, by) for time in each
        ]
    for one, other in permutations(parts, 2):
        if at_most(one, other):
            assert all(evaluate(one, p) <= evaluate(other, p) for p in settings)


@given(facts_about_streams, stream_bounds, frontiers, st.integers(0, 2))
def test_rows_up_to_the_propagated_progress_are_complete(
    formula: Formula, bounds: StreamBound, progress: dict[Bound, int], without: int
) -> None:
    """Also where the time of a clause is absent: it is complete without it."""
    facts = Dnf.of(formula)
    if without == 2:
        facts = facts.either(NOTHING_KNOWN.ignoring([C]))
    value = propagated(A, facts, bounds)
    assert is_progressing([A], facts, bounds) == (value != NEVER)
    reached = evaluate(value, progress)
    complete = passing(bounds)
    for row in rows(A, B, C, low=-2, high=2):
        given_rows = [row] if holds(formula, row) else []
        if without == 2:
            given_rows.append({**row, C: None})
        for one in given_rows:
            time = one[A]
            assert time is None or time > reached or complete.holds(one, progress)


@given(edges(A, B, C, most=2), shifts, shifts, frontiers)
def test_the_propagated_progress_is_the_largest(
    more: list[Inequality], b_after: int, c_after: int, progress: dict[Bound, int]
) -> None:
    given_edges = [Inequality(A, B, b_after), Inequality(A, C, c_after), *more]
    bounds = StreamBound.of(ATOMS[1]).conjoin(StreamBound.of(ATOMS[2]))
    facts = Dnf.of(And(tuple(given_edges)))
    assume(facts.cases)
    value = propagated(A, facts, bounds)
    after = evaluate(value, progress) + 1
    complete = passing(bounds)
    later = (
        {A: after, B: b, C: c}
        for b, c in product(range(after - 15, after + 16), repeat=2)
        if satisfied(given_edges, {A: after, B: b, C: c})
    )
    assert not all(complete.holds(row, progress) for row in later)


@given(facts_about_streams, stream_bounds, frontiers, st.integers(0, 2))
def test_a_row_that_is_let_go_is_touched_by_none_to_come(
    formula: Formula, bounds: StreamBound, progress: dict[Bound, int], retain: int
) -> None:
    """The stored row is (d, x); formulas relate it to the row to come, (a, b, c)."""
    touching = And((formula, Compare(Op.LE, A, D + 1), Compare(Op.LE, X - 1, D)))
    moved = renamed_formula(touching, {C: X})
    coming = bounds.rename({C: B}) if retain else StreamBound.of(ATOMS[0])
    keep = keeping([D, X], Dnf.of(moved), coming, dict.fromkeys(BOUNDS, retain))
    horizon = {bound: time - retain for bound, time in progress.items()}
    passes = passing(coming)
    for row in rows(A, B, D, X, low=-1, high=2):
        if not passes.holds(row, horizon) and holds(moved, row):
            assert keep.holds(row, progress)


@given(edges(A, B), frontiers)
def test_a_kept_row_can_be_touched(
    given_edges: list[Inequality], progress: dict[Bound, int]
) -> None:
    """With one time on either side, what is kept is no more than what has to be."""
    facts = Dnf.of(And(tuple(given_edges)))
    assume(facts.cases)
    keep = keeping([B], facts, StreamBound.of(ATOMS[0]))
    for b in range(-10, 11):
        touched = any(
            satisfied(given_edges, {A: a, B: b}) and a > progress[BOUNDS[0]] for a in range(-30, 31)
        )
        assert keep.holds({B: b}, progress) == touched


def test_nothing_known_is_true_everywhere() -> None:
    assert Dnf.of(TRUE) == NOTHING_KNOWN
    assert all(NOTHING_KNOWN.holds(row) for row in rows(A, B))
