"""Soundness is not bought by keeping everything: rules keep what can be needed, and no more.

What can be needed is found by trying every row that may still come.
"""

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import AntiJoin, Join
from ebbtide.algebra.expression import And, Arithmetic, Comparison, Expression, Literal
from ebbtide.algebra.relation import Aggregate, Alias, NamedCall, Relation, Stream
from ebbtide.algebra.window import Fixed, Range, Window, WindowSpec
from ebbtide.analysis.analysis import examine
from ebbtide.analysis.formula.progress import Bound
from ebbtide.core.change import Change, fact
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import INTERVAL, TIMESTAMP
from ebbtide.reference.scalar import evaluate
from ebbtide.reference.windows import shown_over

AHEAD = 60


def stream(name: str, retain_us: int = 0) -> Stream:
    schema = Schema((Column("at", TIMESTAMP, False),))
    return Stream(StreamDeclaration(name, schema, promises=(Promise("at"),), retain_us=retain_us))


LEFT, RIGHT = Alias(stream("a", 3), "a"), Alias(stream("b"), "b")
SCHEMA = LEFT.schema + RIGHT.schema


@st.composite
def bands(draw: st.DrawFn) -> Expression:
    """Conjunctions of comparisons of the two times, with intervals."""
    terms = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["<", "<=", "=", ">=", ">"]), st.integers(-9, 9), st.booleans()
            ),
            min_size=1,
            max_size=3,
        )
    )
    found: Expression | None = None
    for op, by, turned in terms:
        a, b = (RIGHT, LEFT) if turned else (LEFT, RIGHT)
        moved = Arithmetic("+", a.ref("at"), Literal(by, INTERVAL))
        term = Comparison(op, b.ref("at"), moved)
        found = term if found is None else And(found, term)
    assert found is not None
    return found


@given(bands(), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_a_band_join_keeps_exactly_what_can_find_a_partner(
    predicate: Expression, at: int, progress_a: int, progress_b: int
) -> None:
    left, right = examine(Join(LEFT, RIGHT, predicate)).kept
    progress = {Bound("a", "at"): progress_a, Bound("b", "at"): progress_b}
    horizon_a = progress_a - 3

    def meets(x: int, y: int) -> bool:
        return evaluate(predicate, SCHEMA, (x, y)) is True

    needed_left = any(meets(at, y) for y in range(progress_b + 1, progress_b + AHEAD))
    needed_right = any(meets(x, at) for x in range(horizon_a + 1, horizon_a + AHEAD))
    assert left.rule.keeps(fact((at,)), progress) == needed_left
    assert right.rule.keeps(fact((at,)), progress) == needed_right


@given(bands(), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_an_anti_join_keeps_exactly_the_partners_of_what_can_change(
    predicate: Expression, at: int, progress_a: int, progress_b: int
) -> None:
    _, right = examine(AntiJoin(LEFT, RIGHT, predicate)).kept
    progress = {Bound("a", "at"): progress_a, Bound("b", "at"): progress_b}

    def meets(x: int, y: int) -> bool:
        return evaluate(predicate, SCHEMA, (x, y)) is True

    partners = [x for x in range(-AHEAD, AHEAD) if meets(x, at)]
    later = range(progress_b + 1, progress_b + AHEAD)
    needed = any(x > progress_a - 3 for x in partners) or any(
        meets(x, y) for x in partners for y in later
    )
    assert right.rule.keeps(fact((at,)), progress) == needed


@given(
    st.one_of(
        st.builds(Range, st.integers(1, 9)),
        st.builds(Range, st.integers(1, 9), st.integers(1, 5)),
        st.builds(Fixed, st.integers(1, 9)),
    ),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_a_windowed_aggregate_keeps_a_row_for_a_step_of_the_grid_at_most_too_long(
    spec: WindowSpec, at: int, progress: int
) -> None:
    window = Window(stream("b"), spec, "at")
    plan: Relation = Aggregate(window, (), (NamedCall("n", AggregateCall("COUNT")),))
    (kept,) = examine(plan).kept
    shown = shown_over(spec, at)
    if shown is None:
        return
    change = Change((at,), shown.valid_from, shown.valid_to)
    later = (shown_over(spec, y) for y in range(progress + 1, progress + AHEAD))
    needed = any(other is not None and other.overlaps(shown) for other in later)
    keeps = kept.rule.keeps(change, {Bound("b", "at"): progress})
    assert keeps or not needed
    slide = (spec.slide_us or 1) if isinstance(spec, Range) else 1
    if keeps and not needed:
        assert slide > 1
        assert shown.valid_to - 1 <= progress + slide
