"""The law for random plans through the whole engine but Spark: lowering, stages, state, manifests.

Random plans over every kind of source, random operations out of order, late and in the past, cut
into random steps, in 1, 2 or 7 shards, with and without collection; after every step the output
is the reference's at every instant up to ``now``, and nothing of it begins later.  All of the
output, also that which ends after ``now``, is the same however the history is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import (
    Fed,
    History,
    Oracle,
    declarations_of,
    history,
    in_two_cuts,
)
from tests.in_process import InProcess
from tests.law import grows_after

from ebbtide.algebra.combination import AntiJoin, Join, Product, UnionAll
from ebbtide.algebra.expression import Comparison
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Aggregate, Alias, Map, Named, Relation, Values
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Fixed,
    Hop,
    Range,
    Rows,
    Session,
    Tumble,
    Window,
)
from ebbtide.analysis import analyse
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.schema import schema
from ebbtide.core.time import INF
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate
from ebbtide.testing import assert_snapshot_equal
from strategies.arrivals import PROMISED
from strategies.plans import plans

_CASES = {"quick": 20, "ci": 100, "long": 3000}[Config.from_environment().profile]


def lowered(plan: Relation) -> Lowered:
    """The plan as the engine runs it; what it refuses by name is no case."""
    return lower({"q": analyse(prepared(plan).plan)})


def judge(plan: Relation, seed: int, steps: int, shards: int, collects: bool) -> None:
    """Holds the law for one plan and one history."""
    declarations = declarations_of(plan)
    judged(plan, history(Random(seed), declarations, steps), shards, collects)


def judged(plan: Relation, history: History, shards: int, collects: bool) -> tuple[Change, ...]:
    """All that a plan emits over a history, held to the law at every step."""
    oracle = Oracle.of(declarations_of(plan))
    output: tuple[Change, ...] = ()
    with TemporaryDirectory() as root:
        runner = InProcess(lowered(plan), root, shards, collects)
        for fed in history:
            oracle.take(fed)
            manifest = runner.step(fed)
            now = manifest.record.now
            emitted = runner.emitted(manifest)
            assert all(change.valid_from <= now for change in emitted)
            output = consolidate((*output, *emitted))
            assert not grows_after(output, now)
            expected = evaluate(plan, oracle.accepted, now)
            assert_snapshot_equal(output, until(expected, now), now)
    return output


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=plans(PROMISED, depth=3, kind=Kind.SNAPSHOT),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    shards=st.sampled_from((1, 2, 7)),
    collects=st.booleans(),
)
def test_random_plans(plan: Relation, seed: int, steps: int, shards: int, collects: bool) -> None:
    try:
        judge(plan, seed, steps, shards, collects)
    except UnsupportedError as error:
        event(f"not built: {error.code}")
    except EvaluationError as error:
        event(f"no value: {error.code}")


@settings(max_examples=_CASES // 2, deadline=None)
@given(
    plan=plans(PROMISED, depth=3, kind=Kind.SNAPSHOT),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    ends=st.sets(st.integers(1, 4)),
    shards=st.permutations((1, 2, 7)),
)
def test_neither_cuts_nor_shards_nor_collection_change_the_output(
    plan: Relation, seed: int, steps: int, ends: set[int], shards: list[int]
) -> None:
    declarations = declarations_of(plan)
    every, fewer = in_two_cuts(history(Random(seed), declarations, steps), ends, declarations)
    try:
        one = judged(plan, every, shards[0], collects=True)
        assert judged(plan, fewer, shards[1], collects=True) == one
        assert judged(plan, fewer, shards[2], collects=False) == one
    except (UnsupportedError, EvaluationError) as error:
        event(error.code)


def test_equal_rows_that_end_one_after_the_other() -> None:
    sides = [
        Map(window, (Named("c0", window.ref("auction")),))
        for window in (Window(PROMISED[0], spec, "at") for spec in (Range(2), Fixed(1)))
    ]
    judge(UnionAll(*sides), seed=0, steps=1, shards=2, collects=True)
    assert not grows_after([Change((1,), 5, 6, 2), Change((1,), 6, 7)], now=5)
    assert grows_after([Change((1,), 5, 6), Change((1,), 6, 7, 2)], now=5)


def test_a_window_on_what_is_all_there_from_the_start() -> None:
    constants = Values(schema(x="BIGINT", at="TIMESTAMP"), ((0, 1), (1, 3), (2, 50), (3, None)))
    there = Alias(Window(constants, Fixed(2), "at"), "r")
    bids = Alias(Window(PROMISED[0], Range(4), "at"), "l")
    same = Comparison("=", bids.ref("auction"), there.ref("x"))
    for plan in (there, Join(bids, there, same), AntiJoin(bids, there, same)):
        judge(plan, seed=1, steps=4, shards=2, collects=True)


def test_a_window_on_computed_facts_goes_by_the_times_that_they_are_grouped_by() -> None:
    clicks = PROMISED[1]
    groups = Aggregate(
        clicks, (Named("k", clicks.ref("auction")), Named("t", clicks.ref("at"))), ()
    )
    last = Alias(Window(groups, Rows(1), "t"), "r")
    bids = Alias(Window(PROMISED[0], Range(6), "at"), "l")
    came = Fed.of(
        [("insert", (1, "a", 2, 6)), ("insert", (0, "b", 7, 6)), ("delete", (0, "b", 7, 6))]
    )
    some = Fed.of(("insert", (i % 3, 2, i)) for i in range(6))
    output = judged(last, [{"clicks": came}], shards=2, collects=True)
    assert output == (Change((1, 2), 2, INF),)
    for plan in (
        Product(bids, last),
        Join(bids, last, Comparison("=", bids.ref("at"), last.ref("t"))),
    ):
        judged(plan, [{"bids": some}, {"clicks": came}], shards=2, collects=True)


def test_a_window_stands_on_a_time_that_is_carried_along_if_that_progresses() -> None:
    gone = Dstream(Window(PROMISED[0], Range(5), "at"))
    for seed in range(8):
        judge(Window(gone, Range(3), "at"), seed, steps=5, shards=2, collects=True)
    pairs = Join(
        Alias(PROMISED[0], "l"),
        Alias(PROMISED[1], "r"),
        Comparison(
            "=", Alias(PROMISED[0], "l").ref("auction"), Alias(PROMISED[1], "r").ref("auction")
        ),
    )
    named = Map(pairs, (Named("at", pairs.ref("l.at")),))
    with pytest.raises(UnsupportedError, match="computed-time"):
        lowered(Window(named, Range(3), "at"))


@pytest.mark.parametrize("partition", [(), ("auction",)])
def test_windows_stand_on_the_ends_of_sessions(partition: tuple[str, ...]) -> None:
    for source in PROMISED[:3]:
        for seed in range(4):
            plan = Window(Session(source, "at", 2, partition), Range(3), "window_end")
            judge(plan, seed, steps=5, shards=2, collects=seed % 2 == 0)


@pytest.mark.parametrize("on", ["at", "window_end"])
@pytest.mark.parametrize(
    "windows",
    [lambda s: Tumble(s, "at", 4), lambda s: Hop(s, "at", 2, 5), lambda s: Cumulate(s, "at", 2, 6)],
)
def test_facts_in_windows_are_facts_again(windows: Callable[[Relation], Relation], on: str) -> None:
    for source in PROMISED[:3]:
        for seed in range(4):
            plan = Window(windows(source), Range(3), on)
            judge(plan, seed, steps=5, shards=2, collects=True)


def test_a_window_may_stand_on_the_start_of_another() -> None:
    plan = Window(Tumble(PROMISED[0], "at", 4), Range(3), "window_start")
    for seed in range(8):
        judge(plan, seed, steps=5, shards=2, collects=True)
