"""EMIT FINAL and CHANGES WITH FINALITY for random plans, through the whole engine but Spark.

Random plans, facts and snapshots, over random histories with deletions and replacements, with and
without late rows, down to one row in a step, in 1 or 2 shards, every step from what lies on disk.
After every step, with collection and without,

- what has left is that part of the reference's answer whose pass condition holds, to the step;
- nothing that is final is taken back, unless by a late row, and that is marked;
- the rows that wait are those that the rule of EXPLAIN keeps, up to one segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, assume, event, given, settings
from hypothesis import strategies as st
from tests.final_law import ended, held_to_finality, without_late
from tests.histories import Fed, cut, declarations_of, history, row_by_row, without_refused
from tests.law import analysed, is_wanted
from tests.properties.test_corpus_runs import SCRIPTS, is_read_at_times, queries, story

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import When
from ebbtide.config import Config
from ebbtide.errors import EvaluationError
from ebbtide.optimizer import optimise, prepared
from ebbtide.plan_text.plan_tree import plan_tree
from strategies.arrivals import PROMISED
from strategies.plans import plans
from strategies.poison import poisoned
from strategies.timed import timed_plans

VIEWS = 5
CASES = {"quick": 4, "ci": 100, "long": 1000}[Config.from_environment().profile]
EMITS = (Emit.FINAL, Emit.FINAL, Emit.CHANGES_WITH_FINALITY)


def is_final(plan: Relation) -> bool:
    """Whether the engine runs a plan, and its rows are final at some time."""
    return is_wanted(plan) and analysed(plan).verdict.finality.when is not When.NEVER


QUERIES = st.one_of(timed_plans(PROMISED), plans(PROMISED, depth=3)).filter(is_final)
SEVERAL = st.lists(QUERIES, min_size=VIEWS, max_size=VIEWS, unique=True)


def steps_of(
    plans: Sequence[Relation], seed: int, steps: int, fine: bool, late: bool
) -> list[dict[str, Fed]]:
    """A history of one row in a step, or the same in fewer steps, in which all rows count.

    At its end the sources promise, one after the other, that no more comes of all that came.
    """
    random = Random(seed)
    declarations = list({d.name: d for plan in plans for d in declarations_of(plan)}.values())
    rows = row_by_row(history(random, declarations, steps, counts=(0, 1, 2, 3)), declarations)
    kept = without_refused(rows, declarations) if late else without_late(rows, declarations)
    if not fine:
        kept = cut(kept, [i for i in range(1, len(kept)) if random.random() < 0.3])
    random.shuffle(declarations)
    return [*kept, *ended(declarations, random.choice((8, 20, 100)))]


# Shrinking a program takes longer than reading which of its plans fails.
@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plans=SEVERAL,
    emits=st.lists(st.sampled_from(EMITS), min_size=VIEWS, max_size=VIEWS),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 4),
    fine=st.booleans(),
    late=st.booleans(),
    shards=st.sampled_from((1, 1, 2)),
)
def test_what_is_final_leaves_once_and_in_its_step(
    plans: list[Relation],
    emits: list[Emit],
    seed: int,
    steps: int,
    fine: bool,
    late: bool,
    shards: int,
) -> None:
    every = steps_of(plans, seed, steps, fine, late)
    queries = list(zip(plans, emits, strict=True))
    try:
        left = held_to_finality(queries, every, shards)
    except EvaluationError as error:
        event(f"no value: {error.code}")
    except AssertionError as error:
        error.add_note(by_itself(queries, every, shards))
        raise
    else:
        event("rows have left" if left else "nothing has left")


@st.composite
def failing(draw: st.DrawFn) -> Relation:
    """Plans whose rows are final at some time, and that fail on some of them."""
    plan = poisoned(draw, draw(QUERIES))
    assume(is_final(plan) and prepared(plan).plan != optimise(plan))
    return plan


@settings(max_examples=CASES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    plan=failing(),
    emit=st.sampled_from(EMITS),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 4),
    late=st.booleans(),
    shards=st.sampled_from((1, 2)),
)
def test_what_is_final_where_expressions_fail(
    plan: Relation, emit: Emit, seed: int, steps: int, late: bool, shards: int
) -> None:
    every = steps_of([plan], seed, steps, fine=False, late=late)
    try:
        left = held_to_finality([(plan, emit)], every, shards)
    except EvaluationError as error:
        event(f"not quarantined: {error.message}")
    else:
        event("rows have left" if left else "nothing has left")


def by_itself(
    queries: Sequence[tuple[Relation, Emit]], steps: Sequence[dict[str, Fed]], shards: int
) -> str:
    """Which of the queries fails without the others, for whoever reads of a failure."""
    for plan, emit in queries:
        try:
            held_to_finality([(plan, emit)], steps, shards)
        except AssertionError as error:
            return f"by itself fails, with {error}\n{emit}\n{plan_tree(plan)}\n{steps}"
        except EvaluationError:
            continue
    return "none of the queries fails by itself"


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
@pytest.mark.parametrize("name", ["papers", "nexmark"])
def test_queries_of_the_corpus(name: str, emit: Emit) -> None:
    plans = [plan for plan in dict.fromkeys(queries(SCRIPTS[name])) if is_final(plan)]
    plans = [plan for plan in plans if not is_read_at_times(plan)]
    assert len(plans) >= 5
    steps = story(Random(1), plans)
    asked = [(plan, emit) for plan in plans]
    try:
        assert held_to_finality(asked, steps, shards=1) > 0
    except AssertionError as error:
        error.add_note(by_itself(asked, steps, shards=1))
        raise
