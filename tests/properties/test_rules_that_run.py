"""The keep rules against the kernels: what is proved is what runs.

Random programs of several views, all about time or of every operator, snapshots and facts, over
random histories with deletions and replacements, each cut down to one row in a step.  After every
step

- the answers are the reference's, with collection and without;
- the rows in every store are those that the rule of EXPLAIN keeps, up to one segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.histories import (
    Fed,
    cut,
    declarations_of,
    history,
    row_by_row,
    without_refused,
)
from tests.law import QUERIES, by_itself, held_to

from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Session
from ebbtide.config import Config
from ebbtide.errors import EvaluationError
from strategies.arrivals import PROMISED

VIEWS = 10
STEPS = {"quick": 2, "ci": 2, "long": 4}[Config.from_environment().profile]
CASES = {"quick": 2, "ci": 20, "long": 500}[Config.from_environment().profile]
SEVERAL = st.lists(QUERIES, min_size=VIEWS, max_size=VIEWS, unique=True)


def steps_of(plans: Sequence[Relation], seed: int, steps: int, fine: bool) -> list[dict[str, Fed]]:
    """A history of one row in a step, all of them accepted, or the same in fewer steps."""
    random = Random(seed)
    declarations = list({d.name: d for plan in plans for d in declarations_of(plan)}.values())
    every = history(random, declarations, steps, counts=(0, 1, 1, 2))
    rows = without_refused(row_by_row(every, declarations), declarations)
    return rows if fine else cut(rows, [i for i in range(1, len(rows)) if random.random() < 0.3])


# Shrinking a program takes longer than reading which of its plans fails.
@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plans=SEVERAL,
    seed=st.integers(0, 2**32),
    steps=st.integers(1, STEPS),
    fine=st.booleans(),
    shards=st.sampled_from((1, 1, 2)),
)
def test_what_is_proved_is_what_runs(
    plans: list[Relation], seed: int, steps: int, fine: bool, shards: int
) -> None:
    every = steps_of(plans, seed, steps, fine)
    try:
        held_to(plans, every, shards)
    except EvaluationError as error:
        event(f"no value: {error.code}")
    except AssertionError as error:
        error.add_note(by_itself(plans, every, shards))
        raise


@pytest.mark.parametrize("partition", [("auction",), ()])
def test_sessions_of_facts(partition: tuple[str, ...]) -> None:
    for seed, source in enumerate(PROMISED[:3]):
        plan = Session(source, "at", 2, partition)
        outputs = [held_to([plan], steps_of([plan], seed, 4, fine), 2) for fine in (True, False)]
        assert outputs[0] == outputs[1]
