"""The law for rows that operators have forgotten: they are replayed, or they do not count.

Random plans over archived sources, late rows, deletes and replacements far behind the horizon of
the operators, several at once; after every step the output is the reference's on all that the
naive admission accepts, and the state goes on from there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import Fed, History, Oracle, declarations_of, history
from tests.in_process import InProcess
from tests.law import analysed, assert_answers, assert_errors, assert_live, is_wanted

from ebbtide.algebra.relation import Relation, Stream
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.admission import Admission, Arrival, Step, admit
from ebbtide.core.admission.refusal import refusal, times_of
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Declaration
from ebbtide.core.output_name import errors_name
from ebbtide.core.time import INF
from ebbtide.core.types import TimestampType
from ebbtide.errors import EvaluationError
from ebbtide.store.readers import View
from strategies.arrivals import BIDS_LATE, CLICKS_KEYED, PRICES_PROMISED, REPORTS
from strategies.plans import plans
from strategies.sources import SHOPS, Source
from strategies.timed import timed_plans

_CASES = {"quick": 20, "ci": 30, "long": 3000}[Config.from_environment().profile]


def archived(source: Stream, archive_us: int) -> Stream:
    return Stream(replace(source.declaration, archive_us=archive_us))


ARCHIVED: tuple[Source, ...] = (
    archived(BIDS_LATE, 9),
    archived(CLICKS_KEYED, 7),
    archived(REPORTS, 6),
    SHOPS,
)
SOME: tuple[Source, ...] = (*ARCHIVED[:2], REPORTS, PRICES_PROMISED, SHOPS)
"""Some sources have no archive: rows that may meet theirs are not replayed."""


def with_old_rows(random: Random, steps: History, declarations: Sequence[Declaration]) -> History:
    """The history with rows of earlier times among those of later steps."""
    moved = []
    for fed in steps:
        moved.append({})
        for declaration in declarations:
            what = fed.get(declaration.name, Fed())
            times = [
                i for i, c in enumerate(declaration.schema) if isinstance(c.type, TimestampType)
            ]
            arrivals = tuple(_earlier(random, arrival, times) for arrival in what.arrivals)
            moved[-1][declaration.name] = replace(what, arrivals=arrivals)
    return moved


def _earlier(random: Random, arrival: Arrival, times: Sequence[int]) -> Arrival:
    if random.random() < 0.6:
        return arrival
    back = random.randint(1, 9)
    row: list[Any] = list(arrival.row)
    for place in times:
        row[place] = None if row[place] is None else max(0, row[place] - back)
    return replace(arrival, row=tuple(row))


@dataclass
class Deferring:
    """What each source has accepted, with rows that wait for the step that revises their source."""

    oracle: Oracle
    replayed: Collection[str]
    waiting: dict[str, tuple[Arrival, ...]] = field(default_factory=dict)

    def take(self, fed: Mapping[str, Fed], asked: bool) -> None:
        for name, state in self.oracle.inputs.items():
            what = fed.get(name, Fed())
            every = getattr(state.declaration, "revise_us", None)
            old: tuple[Arrival, ...] = ()
            if name in self.replayed and every is not None:
                old = tuple(a for a in what.arrivals if is_old(state, a))
            fresh = tuple(a for a in what.arrivals if a not in old)
            after = admit(state, Step(fresh, what.advance))
            waits = (*self.waiting.get(name, ()), *old)
            if asked or (every is not None and comes_to_next(state, after, every)):
                after = admit(state, Step((*waits, *fresh), what.advance))
                waits = ()
            self.oracle.inputs[name], self.waiting[name] = after, waits


def is_old(state: Admission, arrival: Arrival) -> bool:
    if refusal(state.declaration, state.frontier, arrival) is not None:
        return False
    times = times_of(state.declaration, state.frontier, arrival)
    pairs = zip(state.frontier.lines, times, strict=True)
    return any(line.settles and t is not None and t <= line.forgotten for line, t in pairs)


def comes_to_next(before: Admission, after: Admission, every: int) -> bool:
    time = before.declaration.time
    assert time is not None
    was, now = (state.frontier[time].progress for state in (before, after))
    return every < INF and was // every < now // every


def judged(
    plan: Relation,
    steps: History,
    shards: int,
    collects: bool = True,
    restarts: bool = False,
    asked: Sequence[bool] = (),
) -> tuple[Change, ...]:
    """All that a plan emits over a history, held to the law at every step."""
    program = lower({"q": analysed(plan)})
    oracle = Oracle.of(declarations_of(plan), program.replayed)
    deferring = Deferring(oracle, program.replayed)
    output: tuple[Change, ...] = ()
    left_out: tuple[Change, ...] = ()
    with TemporaryDirectory() as root:
        runner = InProcess(program, root, shards, collects)
        for fed in steps:
            if restarts:
                runner = InProcess(program, root, shards, collects, runner.version)
            now_asked = any(asked[runner.version : runner.version + 1])
            deferring.take(fed, now_asked)
            manifest = runner.step(fed, revise=sum(asked[: runner.version + 1]))
            now = manifest.record.nows["q"]
            output = consolidate((*output, *runner.emitted(manifest, "q")))
            assert_answers(plan, output, oracle, now)
            assert_live(View(root, "q", plan.schema), output, now)
            if errors_name("q") in manifest.record.output:
                left_out = consolidate((*left_out, *runner.emitted(manifest, errors_name("q"))))
                assert_errors(plan, left_out, oracle, now)
    return output


DEFERRED: tuple[Source, ...] = (
    Stream(replace(ARCHIVED[0].declaration, revise_us=4)),
    Stream(replace(ARCHIVED[1].declaration, revise_us=INF)),
    ARCHIVED[2],
    SHOPS,
)
"""Old rows of the first wait for the next multiple of 4 us, those of the second to be asked for."""

LATER = st.one_of(timed_plans(DEFERRED), plans(DEFERRED, depth=3)).filter(is_wanted)
QUERIES = st.one_of(timed_plans(ARCHIVED), plans(ARCHIVED, depth=3)).filter(is_wanted)
MIXED = st.one_of(timed_plans(SOME), plans(SOME, depth=3)).filter(is_wanted)


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=st.one_of(QUERIES, QUERIES, MIXED),
    seed=st.integers(0, 2**32),
    steps=st.integers(2, 9),
    shards=st.sampled_from((1, 2, 7)),
    collects=st.booleans(),
    restarts=st.booleans(),
)
def test_old_rows_count_as_if_they_had_come_in_time(
    plan: Relation, seed: int, steps: int, shards: int, collects: bool, restarts: bool
) -> None:
    declarations, random = declarations_of(plan), Random(seed)
    every = with_old_rows(random, history(random, declarations, steps), declarations)
    try:
        judged(plan, every, shards, collects, restarts)
    except EvaluationError as error:
        event(error.code)


@settings(max_examples=_CASES // 2, deadline=None)
@given(
    plan=LATER,
    seed=st.integers(0, 2**32),
    asked=st.lists(st.booleans(), min_size=3, max_size=9),
    shards=st.sampled_from((1, 2, 7)),
    restarts=st.booleans(),
)
def test_rows_that_wait_count_from_the_step_that_revises_their_source(
    plan: Relation, seed: int, asked: list[bool], shards: int, restarts: bool
) -> None:
    declarations, random = declarations_of(plan), Random(seed)
    every = with_old_rows(random, history(random, declarations, len(asked)), declarations)
    try:
        judged(plan, every, shards, restarts=restarts, asked=asked)
    except EvaluationError as error:
        event(error.code)
