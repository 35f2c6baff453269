"""The keep rules against the kernels: what is proved is what runs.

Random plans, all about time or of every operator, snapshots and facts, over random histories, cut
down to one row a step.  After every step

- the answer is the reference's, with collection and without;
- what a step writes to a store is what the store's rule keeps, judged row by row by the rule that
  the analysis gives;
- every segment has a row that is kept: what is released goes, up to one segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import Fed, History, Oracle, declarations_of, history, without_refused
from tests.in_process import InProcess

from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Session
from ebbtide.analysis import analyse
from ebbtide.analysis.formula.progress import Bound, evaluate
from ebbtide.compile.lowering import lower
from ebbtide.compile.physical import Operator, StoreRule
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.time import Instant
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.optimizer import optimise
from ebbtide.reference import evaluate as answer
from ebbtide.state.batch import to_changes
from ebbtide.state.segment import ENDS, Segment
from ebbtide.state.store import File
from ebbtide.store.frontiers import restored
from ebbtide.store.manifest import Manifest
from ebbtide.testing import assert_snapshot_equal
from strategies.arrivals import PROMISED
from strategies.plans import plans
from strategies.timed import timed_plans

_CASES = {"quick": 10, "ci": 60, "long": 5000}[Config.from_environment().profile]


def row_by_row(history: History) -> list[dict[str, Fed]]:
    """The same history with one row in a step; what is promised comes after the last."""
    steps: list[dict[str, Fed]] = []
    for fed in history:
        for name, what in fed.items():
            steps += [{name: Fed((arrival,))} for arrival in what.arrivals]
        promised = {name: Fed((), w.advance) for name, w in fed.items() if w.advance is not None}
        steps += [promised] if promised else []
    return steps


def held_to(plan: Relation, history: History, shards: int, collects: bool) -> tuple[Change, ...]:
    """All that a plan emits over a history, held to the law and to its rules at every step."""
    oracle = Oracle.of(declarations_of(plan))
    facts = kind(plan) is Kind.FACT
    output: tuple[Change, ...] = ()
    with TemporaryDirectory() as root:
        runner = InProcess(lower({"q": analyse(optimise(plan))}), root, shards, collects)
        for fed in history:
            oracle.take(fed)
            manifest = runner.step(fed)
            now = manifest.record.now
            output = consolidate((*output, *runner.emitted(manifest)))
            expected = answer(plan, oracle.accepted, now)
            if facts:
                assert output == consolidate(expected)
            else:
                assert_snapshot_equal(output, until(expected, now), now)
            if collects:
                assert kept_by_its_rules(runner, manifest) is None
    return output


def kept_by_its_rules(runner: InProcess, manifest: Manifest) -> str | None:
    """The first store that holds what its rule does not keep, or None."""
    frontiers = restored(manifest, runner.lowered.declarations)
    progress = {
        Bound(declaration.name, line.attribute): line.progress
        for declaration, frontier in zip(runner.lowered.declarations, frontiers, strict=True)
        for line in frontier.lines
    }
    for operator in runner.lowered.physical.operators:
        shards = manifest.areas[operator.name]
        for index, rule in enumerate((*operator.rules, operator.emitted)):
            if index >= len(shards[0]) or not isinstance(rule, StoreRule):
                continue
            for shard in shards:
                for described in shard[index]:
                    segment = Segment.restore(described)
                    wrong = _misplaced(runner, manifest, operator, rule, segment, progress)
                    if wrong is not None:
                        return f"{operator.name}, area {index}: {wrong}"
    return None


def _misplaced(
    runner: InProcess,
    manifest: Manifest,
    operator: Operator,
    rule: StoreRule,
    segment: Segment,
    progress: Mapping[Bound, Instant],
) -> str | None:
    store = _store(runner)
    file = File(segment.name, segment.checksum, segment.bytes)
    batch = store.read(file)
    changes = to_changes(batch.select(range(batch.num_columns - 1)))
    now = manifest.record.now
    kept = [keeps(rule, change, progress, now) for change in changes]
    if not any(kept):
        return f"nothing of {changes} is kept"
    written = int(segment.name.rsplit("-", 2)[1]) == manifest.version
    if written and not all(kept):
        return f"{changes} was written"
    return None


def _store(runner: InProcess):
    from ebbtide.dataflow.shard import StatePlace

    return StatePlace(runner.root, runner.version).store()


def keeps(rule: StoreRule, change: Change, progress: Mapping[Bound, Instant], now: Instant) -> bool:
    """Whether a rule keeps a change, one time at a time."""
    if rule.turning is not None and change.valid_to > now + rule.turning:
        return True
    for case in rule.cases:
        times = [(change.valid_to if c == ENDS else change.row[c], v) for c, v in case]
        if all(t is None or t > evaluate(value, progress) for t, value in times):
            return True
    return False


def tried(plan: Relation, steps: Sequence[Mapping[str, Fed]], shards: int, collects: bool) -> None:
    """Holds a plan to the law, unless it is refused by name or has no value."""
    try:
        held_to(plan, steps, shards, collects)
        event("held")
    except UnsupportedError as error:
        event(f"not built: {error.code}")
    except EvaluationError as error:
        event(f"no value: {error.code}")


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=st.one_of(timed_plans(PROMISED), plans(PROMISED, depth=3)),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    shards=st.sampled_from((1, 2)),
    collects=st.sampled_from((True, True, False)),
    fine=st.booleans(),
)
def test_what_is_proved_is_what_runs(
    plan: Relation, seed: int, steps: int, shards: int, collects: bool, fine: bool
) -> None:
    declarations = declarations_of(plan)
    every = without_refused(history(Random(seed), declarations, steps), declarations)
    tried(plan, row_by_row(every) if fine else every, shards, collects)


@pytest.mark.parametrize("partition", [("auction",), ()])
def test_sessions_of_facts(partition: tuple[str, ...]) -> None:
    for seed, source in enumerate(PROMISED[:3]):
        plan = Session(source, "at", 2, partition)
        declarations = declarations_of(plan)
        every = without_refused(history(Random(seed), declarations, 4), declarations)
        held_to(plan, row_by_row(every), shards=2, collects=True)
        held_to(plan, every, shards=1, collects=True)
