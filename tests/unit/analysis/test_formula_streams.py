"""Progress, pass and keep values, worked by hand on the examples of paper 5, section 5."""

from ebbtide.analysis.formula.conditions import Keep, keeping, passing, released, unbounded_by
from ebbtide.analysis.formula.dnf import NO_ROWS, NOTHING_KNOWN, Dnf
from ebbtide.analysis.formula.formula import between, both, compare
from ebbtide.analysis.formula.progress import (
    ALWAYS,
    NEVER,
    Bound,
    Fastest,
    Progress,
    Slowest,
    bounds_of,
    evaluate,
    fastest,
    shifted,
    slowest,
    substituted,
)
from ebbtide.analysis.formula.streambound import (
    STATIC,
    Bounded,
    StreamBound,
    is_progressing,
    progressing,
    propagated,
)
from ebbtide.analysis.formula.terms import Ceil, Greatest, Var
from ebbtide.core.time import DAY, HOUR, INF, MINUTE, NEG_INF, SECOND

A1, A2, A = Var("", "a1"), Var("", "a2"), Var("", "a")
P1, P2 = Bound("r", "a1"), Bound("s", "a2")
PRODUCT = StreamBound.of(Bounded(A1, P1)).conjoin(StreamBound.of(Bounded(A2, P2)))


class TestProgressing:
    """Definition 7, on the examples that introduce section 3.1."""

    def test_what_is_later_than_a_progressing_attribute_progresses(self) -> None:
        bounds = StreamBound.of(Bounded(A1, P1))
        facts = Dnf.of(compare(A1, "<=", A2))
        assert progressing([A1, A2], facts, bounds) == (A1, A2)
        assert progressing([A1, A2], NOTHING_KNOWN, bounds) == (A1,)

    def test_a_product_progresses_by_both_together(self) -> None:
        assert is_progressing([A1, A2], NOTHING_KNOWN, PRODUCT)
        assert progressing([A1, A2], NOTHING_KNOWN, PRODUCT) == ()
        assert progressing([A1, A2], Dnf.of(compare(A1, "<=", A2)), PRODUCT) == (A2,)

    def test_the_greatest_of_a_progressing_set_progresses(self) -> None:
        facts = NOTHING_KNOWN.define(A, Greatest((A1, A2)))
        assert progressing([A, A1, A2], facts, PRODUCT) == (A,)
        assert str(propagated(A, facts, PRODUCT)) == "min(progress(r.a1), progress(s.a2))"

    def test_a_static_table_waits_for_nothing(self) -> None:
        assert is_progressing([], NOTHING_KNOWN, STATIC)
        assert propagated(A, NOTHING_KNOWN, STATIC) == ALWAYS
        assert str(STATIC) == "static"
        assert STATIC.is_static

    def test_without_rows_nothing_is_waited_for(self) -> None:
        assert propagated(A, NO_ROWS, PRODUCT) == ALWAYS

    def test_an_attribute_that_may_be_null_does_not_progress(self) -> None:
        bounds = StreamBound.of(Bounded(A1, P1))
        outer = Dnf.of(compare(A1, "<=", A2)).either(NOTHING_KNOWN.ignoring([A2]))
        assert progressing([A1, A2], outer, bounds) == (A1,)
        assert propagated(A2, outer, bounds) == NEVER
        maybe = NOTHING_KNOWN.allowing_nulls([A1])
        assert propagated(A1, maybe, bounds) == NEVER


class TestStreamBound:
    """The normal form of stream bound formulas."""

    def test_a_clause_that_follows_from_another_is_dropped(self) -> None:
        one, two = Bounded(A1, P1), Bounded(A2, P2)
        assert StreamBound.of(one).conjoin(StreamBound.of(one, two)) == StreamBound.of(one)
        assert StreamBound.of(two, one) == StreamBound.of(one, two, one)

    def test_it_prints_and_renames(self) -> None:
        two = StreamBound.of(Bounded(A1, P1), Bounded(A2, P2)).conjoin(
            StreamBound.of(Bounded(A, P1))
        )
        assert str(two) == "bounded(a, r.a1) and (bounded(a1, r.a1) or bounded(a2, s.a2))"
        assert two.rename({A: A.under("x")}).variables == {A.under("x"), A1, A2}


class TestProgressValues:
    """The expressions that propagation gives."""

    def test_idle_parts_are_left_out(self) -> None:
        r, s = Progress(P1), Progress(P2)
        assert slowest([r, Progress(P1, -2), ALWAYS]) == Progress(P1, -2)
        assert fastest([r, Progress(P1, -2), NEVER]) == r
        assert slowest([r, fastest([r, s])]) == r
        assert slowest([fastest([r, s]), r]) == r
        assert slowest([r, NEVER]) == NEVER
        assert fastest([s, ALWAYS]) == ALWAYS
        assert fastest([Progress(P1, 1), slowest([Progress(P1, 2), s])]) == Fastest(
            (Progress(P1, 1), Slowest((Progress(P1, 2), s)))
        )
        assert slowest([]) == ALWAYS
        assert fastest([]) == NEVER

    def test_they_are_evaluated_on_progress(self) -> None:
        value = slowest([Progress(P1, -2), fastest([Progress(P2), Progress(P1, -9)])])
        assert evaluate(value, {P1: 10, P2: 3}) == 3
        assert evaluate(value, {P1: 10, P2: NEG_INF}) == 1
        assert evaluate(value, {P1: NEG_INF, P2: INF}) == NEG_INF
        assert bounds_of(value) == {P1, P2}

    def test_a_view_is_seen_through(self) -> None:
        view = Bound("view", "at")
        inner = slowest([Progress(P1), Progress(P2, -5)])
        value = substituted(Progress(view, 3), lambda progress: shifted(inner, progress.by))
        assert str(value) == "min(progress(r.a1) + 3 us, progress(s.a2) - 2 us)"


class TestPaperExamples:
    """Section 5, worked by hand."""

    def test_static_join(self) -> None:
        time = Var("t", "time")
        raw = StreamBound.of(Bounded(time, Bound("TRaw", "time")))
        both_sides = raw.conjoin(STATIC)
        assert str(propagated(time, NOTHING_KNOWN, both_sides)) == "progress(TRaw.time)"
        location_never_changes = keeping([time], NOTHING_KNOWN, STATIC)
        assert str(location_never_changes) == "never"

    def test_tumbling_windows_of_20_seconds(self) -> None:
        time, end = Var("", "time"), Var("", "time20sec")
        raw = Bound("AFRaw", "time")
        facts = NOTHING_KNOWN.define(end, Ceil(time, 20 * SECOND))
        bounds = StreamBound.of(Bounded(time, raw))
        assert str(propagated(end, facts, bounds)) == "progress(AFRaw.time)"
        # A later row of the same window, by its own time: the group's end is what both share.
        later = time.under("later")
        both_rows = facts.conjoin(facts.rename({time: later, end: end.under("later")}))
        same = both_rows.where(compare(end, "=", end.under("later")))
        keep = keeping([end, time], same, bounds.rename({time: later}))
        assert str(keep) == "time20sec > progress(AFRaw.time)"
        assert str(keeping([time], same, bounds.rename({time: later}))) == (
            "time > progress(AFRaw.time) - 20 s + 1 us"
        )

    def test_lazily_aligned_sliding_windows(self) -> None:
        smoke, start, end = Var("s", "time"), Var("w", "start"), Var("w", "end")
        facts = Dnf.of(both(compare(start, "=", end - 10 * SECOND), between(smoke, start, end)))
        windows = StreamBound.of(
            Bounded(start, Bound("Windows", "start")), Bounded(end, Bound("Windows", "end"))
        )
        smokes = StreamBound.of(Bounded(smoke, Bound("Smoke", "time")))
        assert str(propagated(end, facts, smokes.conjoin(windows))) == (
            "min(progress(Smoke.time), max(progress(Windows.end), progress(Windows.start) + 10 s))"
        )
        assert str(keeping([smoke], facts, windows)) == (
            "s.time > max(progress(Windows.end) - 10 s, progress(Windows.start))"
        )
        assert str(keeping([end, start], facts, smokes)) == "w.end > progress(Smoke.time)"

    def test_frames_are_final_and_need_unbounded_state(self) -> None:
        begin, smoke, end = Var("fs", "time"), Var("s", "time"), Var("fe", "time")
        facts = Dnf.of(both(between(smoke, begin, end), compare(end, ">=", begin + MINUTE)))
        streams = {
            v: StreamBound.of(Bounded(v, Bound(name, "time")))
            for v, name in ((begin, "FireStart"), (smoke, "Smoke"), (end, "FireEnd"))
        }
        bounds = streams[begin].conjoin(streams[smoke]).conjoin(streams[end])
        assert str(propagated(end, facts, bounds)) == (
            "min(progress(FireEnd.time), progress(FireStart.time) + 1 min, progress(Smoke.time))"
        )
        keep = keeping([begin, smoke], facts, streams[end])
        assert keep.is_unbounded
        assert str(keep) == "always"
        assert unbounded_by([begin, smoke], facts, streams[end]) == streams[end].clauses
        assert unbounded_by([end], facts, streams[smoke]) == ()

    def test_absence_within_30_seconds(self) -> None:
        """A message that no other follows; the result's time is 10 s after it."""
        sent, following, time = Var("m", "time"), Var("n", "time"), Var("", "time")
        message = Bound("Temp", "time")
        matched = Dnf.of(
            both(compare(sent, "<", following), compare(following, "<=", sent + 30 * SECOND))
        )
        facts = matched.either(NOTHING_KNOWN.ignoring([following])).define(time, sent + 10 * SECOND)
        bounds = StreamBound.of(Bounded(sent, message)).conjoin(
            StreamBound.of(Bounded(following, message))
        )
        assert str(propagated(time, facts, bounds)) == "progress(Temp.time) - 20 s"
        next_one = StreamBound.of(Bounded(following, message))
        assert str(keeping([sent], matched, next_one)) == "m.time > progress(Temp.time) - 30 s"
        first_one = StreamBound.of(Bounded(sent, message))
        assert str(keeping([following], matched, first_one)) == (
            "n.time > progress(Temp.time) + 1 us"
        )

    def test_absence_within_2_minutes_on_two_time_lines(self) -> None:
        """The report is awaited by the time of its reception, not by its own."""
        fire, received, written = Var("f", "time"), Var("r", "received"), Var("r", "time")
        matched = Dnf.of(between(received, fire, fire + 2 * MINUTE))
        facts = matched.either(NOTHING_KNOWN.ignoring([received, written]))
        fires = StreamBound.of(Bounded(fire, Bound("Fire", "time")))
        reports = StreamBound.of(
            Bounded(written, Bound("Report", "time")),
            Bounded(received, Bound("Report", "received")),
        )
        assert str(propagated(fire, facts, fires.conjoin(reports))) == (
            "min(progress(Fire.time), progress(Report.received) - 2 min)"
        )
        assert str(keeping([fire], matched, reports)) == (
            "f.time > progress(Report.received) - 2 min"
        )


class TestConditions:
    """Passing and keeping, evaluated."""

    def test_a_row_passes_by_one_atom_of_each_clause(self) -> None:
        condition = passing(PRODUCT)
        assert str(condition) == "a1 <= progress(r.a1) and a2 <= progress(s.a2)"
        assert condition.holds({A1: 4, A2: 7}, {P1: 4, P2: 7})
        assert not condition.holds({A1: 4, A2: 7}, {P1: 4, P2: 6})
        assert condition.holds({A1: 4, A2: None}, {P1: 4, P2: NEG_INF})
        either_one = passing(StreamBound.of(Bounded(A1, P1), Bounded(A2, P2)))
        assert either_one.holds({A1: 4, A2: 7}, {P1: 3, P2: 7})
        assert str(passing(STATIC)) == "at once"

    def test_a_node_releases_rows_by_its_progressing_attributes(self) -> None:
        facts = Dnf.of(between(A2, A1, A1 + 5))
        condition = released([A1, A2, A], facts, PRODUCT)
        assert str(condition) == (
            "a1 <= min(progress(r.a1), progress(s.a2) - 5 us)"
            " or a2 <= min(progress(r.a1), progress(s.a2))"
        )
        assert condition.holds({A1: 4, A2: 7, A: None}, {P1: 4, P2: 9})
        assert not condition.holds({A1: 5, A2: 7, A: None}, {P1: 4, P2: 9})
        assert str(released([A], facts, PRODUCT)) == "never"
        assert str(released([A], facts, STATIC)) == "at once"

    def test_a_row_is_kept_up_to_its_last_tick(self) -> None:
        facts = Dnf.of(between(A2, A1, A1 + 5))
        keep = keeping([A1], facts, StreamBound.of(Bounded(A2, P2)))
        assert keep.holds({A1: 10}, {P2: 14})
        assert not keep.holds({A1: 10}, {P2: 15})
        assert keep.holds({A1: None}, {P2: 15})

    def test_retention_moves_the_horizon(self) -> None:
        facts = Dnf.of(between(A2, A1, A1 + HOUR))
        keep = keeping([A1], facts, StreamBound.of(Bounded(A2, P2)), {P2: DAY})
        assert str(keep) == "a1 > progress(s.a2) - 25 h"

    def test_each_case_keeps_for_itself_unless_another_covers_it(self) -> None:
        coming = StreamBound.of(Bounded(A2, P2))
        near, far = Dnf.of(compare(A2, "<=", A1 + 5)), Dnf.of(compare(A2, "<=", A1 + 9))
        assert keeping([A1], near, coming).either(keeping([A1], far, coming)) == keeping(
            [A1], far, coming
        )
        apart = near.either(Dnf.of(compare(A2, "<=", A)))
        assert str(keeping([A1, A], apart, coming)) == (
            "a1 > progress(s.a2) - 5 us or a > progress(s.a2)"
        )

    def test_a_case_in_which_the_coming_row_is_absent_keeps_nothing(self) -> None:
        facts = NOTHING_KNOWN.ignoring([A2])
        assert keeping([A1], facts, StreamBound.of(Bounded(A2, P2))) == Keep(())

    def test_a_time_may_decide_through_another(self) -> None:
        facts = Dnf.of(both(compare(A2, "<=", A + 5), compare(A, "<=", A1 + 1)))
        coming = StreamBound.of(Bounded(A2, P2))
        assert str(keeping([A1, A], facts, coming)) == "a > progress(s.a2) - 5 us"
        assert str(keeping([A1], facts, coming)) == "a1 > progress(s.a2) - 6 us"
