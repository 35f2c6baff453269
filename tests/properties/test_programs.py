"""The law for programs: several views over shared sources, one step, one manifest.

After every step each view is the reference's answer at every instant up to its own ``now``; what a
view says does not depend on the views beside it; and parts that share no source have each their
own ``now``.
"""

from __future__ import annotations

from random import Random
from tempfile import TemporaryDirectory

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from tests.histories import Oracle, declarations_of, history
from tests.in_process import InProcess

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import analyse
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.dataflow.frontiers import parts
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate
from ebbtide.testing import assert_snapshot_equal
from strategies.arrivals import PROMISED
from strategies.plans import plans

_CASES = {"quick": 5, "ci": 10, "long": 600}[Config.from_environment().profile]
VIEWS = st.lists(plans(PROMISED, depth=2, kind=Kind.SNAPSHOT), min_size=2, max_size=4)


def program(plans: list[Relation]) -> Lowered:
    """Plans as one program, if each of them can run."""
    try:
        return lower({f"v{i}": analyse(prepared(plan).plan) for i, plan in enumerate(plans)})
    except UnsupportedError as error:
        event(f"not built: {error.code}")
        assume(False)
        raise


@settings(max_examples=_CASES, deadline=None)
@given(
    plans=VIEWS,
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 4),
    shards=st.sampled_from((1, 2, 7)),
)
def test_every_view_is_right(plans: list[Relation], seed: int, steps: int, shards: int) -> None:
    declarations = {d.name: d for plan in plans for d in declarations_of(plan)}
    every = history(Random(seed), list(declarations.values()), steps)
    oracle = Oracle.of(list(declarations.values()))
    lowered = program(plans)
    said: dict[str, tuple[Change, ...]] = {f"v{i}": () for i in range(len(plans))}
    with TemporaryDirectory() as root:
        runner = InProcess(lowered, root, shards)
        for fed in every:
            oracle.take(fed)
            try:
                manifest = runner.step(fed)
            except EvaluationError as error:
                event(f"no value: {error.code}")
                return
            for name, plan in zip(said, plans, strict=True):
                now = manifest.record.nows[name]
                said[name] = consolidate((*said[name], *runner.emitted(manifest, name)))
                expected = evaluate(plan, oracle.accepted, now)
                assert_snapshot_equal(said[name], until(expected, now), now)


@settings(max_examples=_CASES, deadline=None)
@given(plans=VIEWS, seed=st.integers(0, 2**32), steps=st.integers(1, 3))
def test_a_view_says_the_same_alone(plans: list[Relation], seed: int, steps: int) -> None:
    declarations = {d.name: d for plan in plans for d in declarations_of(plan)}
    every = history(Random(seed), list(declarations.values()), steps)
    together, alone = program(plans), program(plans[:1])
    (part,) = (part for part in parts(together) if ~0 in part.consumers)
    assume(sum(number < 0 for number in part.consumers) == 1)
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        both = InProcess(together, first, 2), InProcess(alone, second, 2)
        for fed in every:
            try:
                manifests = [runner.step(fed) for runner in both]
            except EvaluationError:
                return
            one, other = (
                consolidate(runner.emitted(manifest, "v0"))
                for runner, manifest in zip(both, manifests, strict=True)
            )
            assert one == other
