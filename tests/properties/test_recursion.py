"""The law for recursions: random histories, cuts, shards, with collection and without, and FINAL.

After every step the facts of a recursion up to ``now`` are the reference's, built in order of time;
what follows from a late row, or from one that is taken back, is corrected in the same step.
"""

from __future__ import annotations

from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.final_law import held_to_finality
from tests.histories import Oracle, declarations_of, history
from tests.in_process import InProcess
from tests.law import analysed, held_to
from tests.recursions import QUERIES, RULES, recursive

from ebbtide.algebra.emission import Emit
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import consolidate
from ebbtide.core.frontier import now
from ebbtide.core.time import NEG_INF
from ebbtide.dataflow import cycle
from ebbtide.reference import evaluate

_CASES = {"quick": 1, "ci": 2, "long": 100}[Config.from_environment().profile]


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=_CASES, deadline=None)
@given(
    st.sampled_from(QUERIES), st.integers(0, 10**6), st.integers(2, 9), st.sampled_from((1, 2, 7))
)
@example(QUERIES[0], 1, 8, 2)
def test_a_recursion_is_what_the_reference_says(
    name: str, query: str, seed: int, steps: int, shards: int
) -> None:
    plan = recursive(name, query)
    held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)


@pytest.mark.parametrize("name", ["until something ends it", "fragments", "unless there was one"])
@settings(max_examples=_CASES, deadline=None)
@given(
    st.sampled_from(QUERIES[:2]),
    st.sampled_from((Emit.FINAL, Emit.CHANGES_WITH_FINALITY)),
    st.integers(0, 10**6),
    st.sampled_from((1, 3)),
)
@example(QUERIES[0], Emit.FINAL, 1, 2)
def test_its_rows_leave_when_they_are_final(
    name: str, query: str, emit: Emit, seed: int, shards: int
) -> None:
    plan = recursive(name, query)
    steps = history(Random(seed), declarations_of(plan), 7)
    held_to_finality([(plan, emit)], steps, shards)


def test_several_recursions_run_in_one_program() -> None:
    plans = [recursive(name, QUERIES[0]) for name in ("a chain", "fragments")]
    steps = history(Random(5), declarations_of(plans[1]), 8)
    assert all(held_to(plans, steps, 2).values())


@pytest.mark.parametrize("name", ["a chain", "fragments", "facts in the future", "with a partner"])
@settings(max_examples=_CASES, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from((1, 2)), st.booleans())
@example(1, 1, 2, True)
def test_rounds_that_are_too_many_go_on_in_later_steps(
    name: str, seed: int, most: int, shards: int, collects: bool
) -> None:
    plan = recursive(name, QUERIES[0])
    every = history(Random(seed), declarations_of(plan), 6)
    oracle, said = Oracle.of(declarations_of(plan)), ()
    reached, wanted, steps = [NEG_INF], NEG_INF, 0
    with TemporaryDirectory() as root, patch.object(cycle, "ROUNDS", most):
        runner = InProcess(lower({"q": analysed(plan)}), root, shards, collects)
        while steps < len(every) or reached[-1] < wanted:
            fed = every[steps] if steps < len(every) else {}
            oracle.take(fed)
            manifest = runner.step(fed)
            said = consolidate((*said, *runner.emitted(manifest)))
            assert said == consolidate(evaluate(plan, oracle.accepted, manifest.record.now))
            lines = [line for state in oracle.inputs.values() for line in state.frontier.lines]
            reached, wanted = [*reached, manifest.record.now], now(lines)
            assert reached[-2] <= reached[-1] <= wanted
            steps += 1
            assert steps < 400
