"""RA, RM and DIRECT say the same, for every operator that the engine runs.

Random plans with each operator at their top, over archived sources; rows, deletes and replacements
far behind the horizon of the operators, several at once.  Under REPLAY ALL, MINIMAL, DIRECT and
what the engine chooses, the answer after every step is the reference's on all that the naive
admission accepts; so the four are the same.  Steps are killed at some operation on a file, also in
the middle of a replay, and run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.crashes import Killed, killed_before
from tests.histories import Fed, Oracle, declarations_of, history, is_static
from tests.in_process import InProcess
from tests.law import analysed, assert_answer, assert_errors, assert_live, is_wanted
from tests.properties.test_minimal_replay import replayed_by

from ebbtide.algebra.operators import OPERATORS
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    ChangingTable,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.relation import View as NamedView
from ebbtide.algebra.window import Fixed, Now, Range, Window
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.config import Config
from ebbtide.core.admission import Arrival
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Declaration, Way
from ebbtide.core.output_name import errors_name
from ebbtide.core.tree import rewrite
from ebbtide.core.types import TimestampType
from ebbtide.errors import EvaluationError
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference import evaluate
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import View
from strategies.arrivals import BIDS_LATE, CLICKS_KEYED, REPORTS
from strategies.plans import BUILDERS, plans
from strategies.sources import SHOPS, Source

_CASES = {"quick": 1, "ci": 1, "long": 300}[Config.from_environment().profile]
WAYS = (None, Way.ALL, Way.MINIMAL, Way.DIRECT)
APART = 4
"""Times lie so far apart, so that the windows of most old rows are over."""


def archived(source: Stream, archive_us: int) -> Stream:
    return Stream(replace(source.declaration, archive_us=archive_us))


ARCHIVED: tuple[Source, ...] = (
    archived(BIDS_LATE, 60),
    archived(CLICKS_KEYED, 50),
    archived(REPORTS, 50),
    SHOPS,
)


def old_and_new(
    random: Random, declarations: Sequence[Declaration], steps: int
) -> list[dict[str, Fed]]:
    """A history whose times lie apart, and in which a third of the later rows is far behind."""
    result = []
    for number, fed in enumerate(history(random, declarations, steps)):
        moved = {}
        for declaration in declarations:
            what = fed.get(declaration.name, Fed())
            times = [
                i for i, c in enumerate(declaration.schema) if isinstance(c.type, TimestampType)
            ]
            back = number > 2 and not is_static(declaration)
            arrivals = tuple(_moved(random, each, times, back) for each in what.arrivals)
            advance = None if what.advance is None else APART * what.advance
            moved[declaration.name] = Fed(arrivals, advance)
        result.append(moved)
    return result


def _moved(random: Random, arrival: Arrival, times: Sequence[int], back: bool) -> Arrival:
    behind = random.randint(8, 45) if back and random.random() < 0.35 else 0
    row = list(arrival.row)
    for place in times:
        if row[place] is not None:
            row[place] = max(0, APART * row[place] - behind)
    return replace(arrival, row=tuple(row))


@dataclass
class Run:
    """A plan under one way of replay, and all that it has said."""

    way: Way | None
    program: Lowered
    root: str
    shards: int
    kills: Random | None
    said: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    runner: InProcess = field(init=False)

    def __post_init__(self) -> None:
        self.runner = InProcess(self.program, self.root, self.shards)

    def step(self, fed: Mapping[str, Fed]) -> Manifest:
        """A step, which may be killed at an operation on a file, and is then run again."""
        runner = self.runner
        if self.kills is not None and self.kills.random() < 0.5:
            try:
                with killed_before(self.kills.randint(1, 60)):
                    runner.step(fed)
            except Killed:
                self.runner = InProcess(
                    self.program, self.root, self.shards, version=runner.version
                )
            else:
                runner.version -= 1
        manifest = self.runner.step(fed)
        for name in manifest.record.output:
            emitted = self.runner.emitted(manifest, name)
            self.said[name] = consolidate((*self.said.get(name, ()), *emitted))
        return manifest


def all_ways(
    plan: Relation, steps: Sequence[Mapping[str, Fed]], shards: int, kills: int | None
) -> Counter[str]:
    """Which ways of replay there were, with every answer of every way held to the law."""
    found: Counter[str] = Counter()
    with TemporaryDirectory() as root:
        runs = []
        for number, way in enumerate(WAYS):
            program = lower({"q": analysed(replayed_by(plan, way))})
            chance = None if kills is None else Random(kills + number)
            runs.append(Run(way, program, f"{root}/{number}", shards, chance))
        oracle = Oracle.of(declarations_of(plan), runs[0].program.replayed)
        for fed in steps:
            oracle.take(fed)
            manifests = [run.step(fed) for run in runs]
            (now,) = {manifest.record.nows["q"] for manifest in manifests}
            expected = evaluate(plan, oracle.accepted, now)
            for run, manifest in zip(runs, manifests, strict=True):
                found.update(counts.way for counts in manifest.record.replays.values())
                try:
                    assert_answer(plan, run.said["q"], expected, now)
                    assert_live(View(run.root, "q", plan.schema), run.said["q"], now)
                    if errors_name("q") in run.said:
                        assert_errors(plan, run.said[errors_name("q")], oracle, now)
                except AssertionError as error:
                    step = manifest.record.version
                    error.add_note(f"in step {step} under {run.way} of\n{plan_tree(plan)}")
                    raise
    return found


def with_ends(plan: Relation) -> Relation:
    """The plan with windows of bounded time alone, so that parts of its answers can be replayed."""

    def ended(node: Relation) -> Relation:
        if isinstance(node, Window) and not isinstance(node.spec, Range | Fixed | Now):
            return replace(node, spec=Range(3))
        return node

    return rewrite(plan, ended)


LEAVES = (Stream, StaticTable, ChangingTable, Values, NamedView, Recurrence, Recursion)
"""What the strategy has no operator for; recursions are not replayed."""


def test_every_operator_is_at_the_top_of_some_plan() -> None:
    assert set(OPERATORS) - set(BUILDERS) <= set(LEAVES)


@pytest.mark.parametrize("root", BUILDERS, ids=lambda root: root.__name__)
def test_all_ways_of_replay_say_the_same(root: type[Relation]) -> None:
    @settings(
        max_examples=_CASES,
        deadline=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        plan=st.one_of(
            plans(ARCHIVED, depth=2, root=root).map(with_ends), plans(ARCHIVED, depth=3, root=root)
        ).filter(is_wanted),
        seed=st.integers(0, 2**32),
        steps=st.integers(5, 8),
        shards=st.sampled_from((1, 2, 5)),
        crashes=st.booleans(),
    )
    def judge(plan: Relation, seed: int, steps: int, shards: int, crashes: bool) -> None:
        random = Random(seed)
        fed = old_and_new(random, declarations_of(plan), steps)
        try:
            for way in all_ways(plan, fed, shards, seed if crashes else None):
                event(way)
        except EvaluationError as error:
            event(error.code)

    judge()
