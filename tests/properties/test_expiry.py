"""The law under every expiry strategy.

Random plans over every kind of source, random operations out of order, late and in the past, cut
into random steps, in several shards, with and without collection: under `negative` and
`piggyback`, with join messages and without, the output is the reference's at every instant up to
``now`` after every step, as it is under `interval`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import Phase, event, given, settings
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

from ebbtide.algebra import Aggregate, AggregateCall, Alias, Comparison, Join, Named, NamedCall
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Range, Window
from ebbtide.analysis import analyse
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.expiry import check_expiry, sees_expiry
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.declaration import Declaration
from ebbtide.core.expiry import BY_INTERVAL, Expiry, Strategy
from ebbtide.core.time import INF, Instant
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate
from ebbtide.reference.evaluation import apply
from ebbtide.store.record import OperatorCounts
from ebbtide.testing import assert_snapshot_equal
from strategies.arrivals import PROMISED
from strategies.plans import plans
from strategies.timed import timed_plans

_CASES = {"quick": 10, "ci": 20, "long": 3000}[Config.from_environment().profile]

SNAPSHOTS = st.one_of(
    plans(PROMISED, depth=3, kind=Kind.SNAPSHOT),
    timed_plans(PROMISED).filter(lambda plan: kind(plan) is Kind.SNAPSHOT),
)
CALL = AggregateCall("COUNT")
# Shrinking a history takes longer than reading it.
PHASES = (Phase.explicit, Phase.generate)

SENDING = [
    Expiry(strategy, messages)
    for strategy in (Strategy.NEGATIVE, Strategy.PIGGYBACK)
    for messages in (False, True)
]
SENDING += [Expiry(compression=False), Expiry(Strategy.NEGATIVE, compression=False)]


def lowered(plan: Relation, expiry: Expiry) -> Lowered:
    """The plan as the engine runs it under a strategy."""
    runs = prepared(plan)
    analysis = analyse(runs.plan, watched=runs.watched, expiry=expiry)
    for root in (analysis.root, *analysis.watched):
        check_expiry(root, expiry, Emit.CHANGES, allow_unbounded=True)
    return lower({"q": analysis})


def with_pauses(seed: int, declarations: Sequence[Declaration], steps: int) -> History:
    """A history in which, behind each step, time passes and nothing or little comes."""
    random, found = Random(seed), []
    for number, fed in enumerate(history(random, declarations, steps, counts=(0, 1, 2))):
        found.append(fed)
        passed = 2 * number + random.randint(0, 6)
        some = [d.name for d in declarations if d.promises and random.random() < 0.7]
        found.append({name: Fed((), passed) for name in some})
    return found


def judged(
    plan: Relation,
    expiry: Expiry,
    history: History,
    shards: int,
    collects: bool = True,
    cuts: tuple[int, ...] = (),
) -> tuple[Change, ...]:
    """All that a plan emits over a history, held to the law at every step.

    Each step is run by a program that finds its state in its directory, as after a restart;
    ``cuts`` are other numbers of shards, before the first steps.
    """
    oracle = Oracle.of(declarations_of(plan))
    output: tuple[Change, ...] = ()
    with TemporaryDirectory() as root:
        runner = InProcess(lowered(plan, expiry), root, shards, collects)
        for number, fed in enumerate(history):
            if number < len(cuts):
                runner.rescale(cuts[number])
            oracle.take(fed)
            manifest = runner.step(fed)
            now = manifest.record.now
            output = consolidate((*output, *runner.emitted(manifest, "q")))
            expected = evaluate(plan, oracle.accepted, now)
            assert_snapshot_equal(output, until(expected, now), now)
    return output


@settings(max_examples=_CASES, deadline=None, phases=PHASES)
@given(
    plan=SNAPSHOTS,
    expiry=st.sampled_from(SENDING),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    shards=st.sampled_from((1, 2, 7)),
    collects=st.booleans(),
    cuts=st.lists(st.sampled_from((1, 2, 3)), max_size=4).map(tuple),
)
def test_expiries_that_travel_as_rows_change_no_answer(
    plan: Relation,
    expiry: Expiry,
    seed: int,
    steps: int,
    shards: int,
    collects: bool,
    cuts: tuple[int, ...],
) -> None:
    every = with_pauses(seed, declarations_of(plan), steps)
    try:
        judged(plan, expiry, every, shards, collects, cuts)
    except (UnsupportedError, EvaluationError) as error:
        event(error.code)


@settings(max_examples=_CASES // 2, deadline=None, phases=PHASES)
@given(
    plan=SNAPSHOTS,
    expiry=st.sampled_from(SENDING),
    seed=st.integers(0, 2**32),
    ends=st.sets(st.integers(1, 4)),
    shards=st.permutations((1, 2, 7)),
)
def test_snapshots_are_those_of_the_default_however_the_history_is_cut(
    plan: Relation, expiry: Expiry, seed: int, ends: set[int], shards: list[int]
) -> None:
    declarations = declarations_of(plan)
    every, fewer = in_two_cuts(with_pauses(seed, declarations, 3), ends, declarations)
    try:
        one = judged(plan, BY_INTERVAL, every, shards[0])
        other = judged(plan, expiry, fewer, shards[1])
        now = max((c.valid_from for c in (*one, *other)), default=0)
        assert_snapshot_equal(other, until(one, now), now)
    except (UnsupportedError, EvaluationError) as error:
        event(error.code)


def test_negatives_come_for_rows_whose_times_have_long_passed() -> None:
    """Groups and pairs by time are done with when it has passed, but for the end of their rows."""
    bids, clicks = (
        Alias(Window(source, Range(6), "at"), name)
        for source, name in zip(PROMISED[:2], "lr", strict=True)
    )
    groups = Aggregate(bids, (Named("t", bids.ref("at")),), (NamedCall("n", CALL),))
    pairs = Join(bids, clicks, Comparison("=", bids.ref("l.at"), clicks.ref("r.at")))
    for plan in (groups, pairs, Aggregate(pairs, (), (NamedCall("n", CALL),))):
        for expiry in SENDING:
            for seed in range(3):
                judged(plan, expiry, with_pauses(seed, declarations_of(plan), 5), 2)


# --- input: the law at the last step that brought something ----------------------------------


@dataclass
class Delayed:
    """What a plan shows under `input` in one shard, operator by operator and naively.

    An operator that sees rows expire says anew what it says when it gets input, and until then what
    it said then, without an end.
    """

    root: Node
    shown: dict[str, tuple[Change, ...]] = field(default_factory=dict)

    def step(
        self,
        accepted: Mapping[str, Iterable[Change]],
        now: Instant,
        got: Mapping[str, OperatorCounts],
    ) -> tuple[Change, ...]:
        """What is shown after a step in which operators got input, or did not."""
        return self._of(self.root, accepted, now, got)

    def _of(
        self,
        node: Node,
        accepted: Mapping[str, Iterable[Change]],
        now: Instant,
        got: Mapping[str, OperatorCounts],
    ) -> tuple[Change, ...]:
        below = tuple(self._of(each, accepted, now, got) for each in node.inputs)
        relation = operator(node.relation)
        if isinstance(relation, Source):
            return evaluate(relation, accepted, now)
        if not sees_expiry(node):
            return apply(relation, below, now)
        if node.id not in self.shown or got[f"q.{node.id}"].rows_in:
            self.shown[node.id] = tuple(
                replace(change, valid_to=INF) if change.valid_to > now else change
                for change in apply(relation, below, now)
                if change.valid_from <= now
            )
        return self.shown[node.id]


INPUT = Expiry(Strategy.INPUT)


@settings(max_examples=_CASES, deadline=None, phases=PHASES)
@given(
    plan=SNAPSHOTS,
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 6),
    collects=st.booleans(),
)
def test_under_input_answers_are_late_by_as_much_as_input_is(
    plan: Relation, seed: int, steps: int, collects: bool
) -> None:
    runs = prepared(plan, OnError.FAIL).plan
    every = with_pauses(seed, declarations_of(plan), steps)
    analysis = analyse(runs, expiry=INPUT)
    expected, oracle = Delayed(analysis.root), Oracle.of(declarations_of(plan))
    output: tuple[Change, ...] = ()
    try:
        check_expiry(analysis.root, INPUT, Emit.CHANGES, allow_unbounded=True)
        with TemporaryDirectory() as root:
            runner = InProcess(lower({"q": analysis}), root, 1, collects)
            for fed in every:
                oracle.take(fed)
                manifest = runner.step(fed)
                counts = manifest.record.operators
                now = manifest.record.now
                output = consolidate((*output, *runner.emitted(manifest, "q")))
                shown = expected.step(oracle.accepted, now, counts)
                assert_snapshot_equal(output, until(shown, now), now)
    except (UnsupportedError, EvaluationError) as error:
        event(error.code)
