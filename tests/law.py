"""Programs in this process, held to the law and to their keep rules after every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from tests.histories import Fed, Oracle, declarations_of
from tests.in_process import InProcess
from tests.stores import Program, Version, assert_kept

from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.quarantine import ERRORS
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Dstream, Istream, Rstream
from ebbtide.analysis import Analysis, analyse
from ebbtide.compile.lowering import lower
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.output_name import errors_name
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.tree import find
from ebbtide.core.values import row_key
from ebbtide.errors import EvaluationError, TemporalError, UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference import errors, evaluate
from ebbtide.state.batch import to_changes
from ebbtide.store.readers import View
from ebbtide.testing import assert_snapshot_equal
from strategies.arrivals import PROMISED
from strategies.plans import plans
from strategies.timed import timed_plans


def grows_after(output: Sequence[Change], now: Instant) -> bool:
    """Whether some row is there more often at an instant after ``now`` than right before it."""
    gains: Counter[tuple[object, Instant]] = Counter()
    for change in output:
        gains[row_key(change.row), change.valid_from] += change.diff
        gains[row_key(change.row), change.valid_to] -= change.diff
    return any(gain > 0 and at > now for (_, at), gain in gains.items())


def assert_answers(plan: Relation, output: Sequence[Change], oracle: Oracle, now: Instant) -> None:
    """That all that a plan has emitted is the reference's answer."""
    assert_answer(plan, output, evaluate(plan, oracle.accepted, now), now)


def assert_answer(
    plan: Relation, output: Sequence[Change], expected: Sequence[Change], now: Instant
) -> None:
    """That all that a plan has emitted is an answer."""
    if kind(plan) is Kind.FACT:
        assert consolidate(output) == consolidate(expected)
    else:
        assert_snapshot_equal(output, until(expected, now), now)


def assert_errors(plan: Relation, output: Sequence[Change], oracle: Oracle, now: Instant) -> None:
    """That all that a plan has left out is what the reference leaves out.

    Below ISTREAM and the like it is left out of snapshots, of which nothing is known after now.
    """
    expected = errors(plan, oracle.accepted, now)
    streams = (Istream, Dstream, Rstream)
    if kind(plan) is Kind.FACT and not any(True for kind_ in streams for _ in find(plan, kind_)):
        assert consolidate(output) == consolidate(expected)
    else:
        assert_snapshot_equal(output, until(expected, now), now)


def assert_live(view: View, said: Sequence[Change], now: Instant) -> None:
    """That the answer that is kept is what was said, now and later."""
    for at in (now, now + 1, now + 5):
        if NEG_INF < at < INF:
            live = view.live(at)
            assert live is not None
            assert _counted(to_changes(live), at) == _counted(said, at)


def _counted(changes: Iterable[Change], at: Instant) -> dict[Any, int]:
    counts: Counter[Any] = Counter()
    for change in changes:
        if change.valid_from <= at < change.valid_to:
            counts[row_key(change.row)] += change.diff
    return {row: count for row, count in counts.items() if count}


def held_to(
    plans: Sequence[Relation],
    steps: Sequence[Mapping[str, Fed]],
    shards: int,
    clocks: Sequence[Instant] | None = None,
    cuts: Sequence[int] = (),
) -> dict[str, tuple[Change, ...]]:
    """All that the views of a program emit, with every answer and every store judged.

    ``clocks`` are the readings of the steps, for sources that need them; ``cuts`` are other numbers
    of shards, into which the state is cut before the first steps.
    """
    named = {f"v{i}": plan for i, plan in enumerate(plans)}
    declarations = {d.name: d for plan in plans for d in declarations_of(plan)}
    oracle = Oracle.of(list(declarations.values()))
    program = Program.of({name: analysed(plan) for name, plan in named.items()})
    said: dict[str, tuple[Change, ...]] = dict.fromkeys(named, ())
    left_out: dict[str, tuple[Change, ...]] = dict.fromkeys(named, ())
    with TemporaryDirectory() as root:
        one = InProcess(program.lowered, f"{root}/collecting", shards)
        other = InProcess(program.lowered, f"{root}/hoarding", shards, collects=False)
        for number, fed in enumerate(steps):
            if number < len(cuts):
                one.rescale(cuts[number])
                other.rescale(cuts[number])
            clock = None if clocks is None else clocks[number]
            oracle.take(fed, clock)
            manifest, hoarded = one.step(fed, clock), other.step(fed, clock)
            for name, plan in named.items():
                emitted = consolidate(one.emitted(manifest, name))
                assert consolidate(other.emitted(hoarded, name)) == emitted
                said[name] = consolidate((*said[name], *emitted))
                now = manifest.record.nows[name]
                assert_answers(plan, said[name], oracle, now)
                assert_live(View(one.root, name, plan.schema), said[name], now)
                left = errors_name(name)
                if left not in manifest.record.output:
                    continue
                emitted = consolidate(one.emitted(manifest, left))
                assert consolidate(other.emitted(hoarded, left)) == emitted
                left_out[name] = consolidate((*left_out[name], *emitted))
                assert_errors(plan, left_out[name], oracle, now)
                assert_live(View(one.root, left, ERRORS), left_out[name], now)
            versions = Version(one.root, manifest), Version(other.root, hoarded)
            assert_kept(program, *versions, oracle)
    return said


@lru_cache(64)
def analysed(plan: Relation) -> Analysis:
    """What is proved of a plan as it runs."""
    runs = prepared(plan)
    return analyse(runs.plan, watched=runs.watched)


def by_itself(plans: Sequence[Relation], steps: Sequence[Mapping[str, Fed]], shards: int) -> str:
    """Which of the plans fails without the others, for whoever reads of a failure."""
    for plan in plans:
        try:
            held_to([plan], steps, shards)
        except AssertionError as error:
            return f"by itself fails, with {error}\n{plan_tree(plan)}\n{steps}"
        except EvaluationError:
            continue
    return "none of the plans fails by itself"


def is_wanted(plan: Relation) -> bool:
    """Whether the engine runs a plan, and with a kernel or more."""
    try:
        return bool(lower({"q": analysed(plan)}).nodes)
    except (UnsupportedError, TemporalError):
        return False


QUERIES = st.one_of(timed_plans(PROMISED), plans(PROMISED, depth=3)).filter(is_wanted)
