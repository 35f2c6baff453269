"""The law for random plans whose state is cut into other shards between the steps.

Random plans, under EMIT CHANGES and EMIT FINAL, over random histories; before each step the state
is cut anew, and every stored row is seen to be where its key says.
"""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.final_law import held_to_finality
from tests.histories import declarations_of, history
from tests.law import QUERIES, held_to
from tests.properties.test_final_law import EMITS, is_final, steps_of

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation
from ebbtide.config import Config
from ebbtide.errors import EvaluationError

CASES = {"quick": 3, "ci": 6, "long": 1000}[Config.from_environment().profile]
SHARDS = st.sampled_from((1, 2, 3, 7))


@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plans=st.lists(QUERIES, min_size=2, max_size=2, unique=True),
    seed=st.integers(0, 2**32),
    shards=st.sampled_from((2, 3)),
    cuts=st.lists(SHARDS, min_size=4, max_size=4),
)
def test_answers_do_not_depend_on_it(
    plans: list[Relation], seed: int, shards: int, cuts: list[int]
) -> None:
    declarations = {d.name: d for plan in plans for d in declarations_of(plan)}
    steps = history(Random(seed), list(declarations.values()), 4)
    try:
        held_to(plans, steps, shards, cuts=cuts)
    except EvaluationError as error:
        event(f"no value: {error.code}")


@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plan=QUERIES.filter(is_final),
    emit=st.sampled_from(EMITS),
    seed=st.integers(0, 2**32),
    cuts=st.lists(SHARDS, min_size=4, max_size=4),
)
def test_final_answers_do_not_depend_on_it(
    plan: Relation, emit: Emit, seed: int, cuts: list[int]
) -> None:
    steps = steps_of([plan], seed, 3, fine=False, late=True)
    try:
        held_to_finality([(plan, emit)], steps, 2, cuts=cuts)
    except EvaluationError as error:
        event(f"no value: {error.code}")
