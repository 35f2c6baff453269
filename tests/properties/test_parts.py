"""A step in parts says what it says in one: random plans under the law, a row or two to a part."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.histories import cut, declarations_of, history, row_by_row, without_refused
from tests.law import QUERIES, held_to

from ebbtide.algebra.relation import Relation
from ebbtide.config import Config
from ebbtide.dataflow import parts
from ebbtide.errors import EvaluationError

CASES = {"quick": 10, "ci": 40, "long": 2000}[Config.from_environment().profile]


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    whole = parts.LARGE
    parts.LARGE = 1
    yield
    parts.LARGE = whole


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=QUERIES, seed=st.integers(0, 2**32), shards=st.sampled_from((1, 2)))
def test_a_step_in_parts_is_a_step(plan: Relation, seed: int, shards: int) -> None:
    random = Random(seed)
    declarations = list(declarations_of(plan))
    rows = row_by_row(history(random, declarations, 4, counts=(0, 1, 2, 3)), declarations)
    rows = without_refused(rows, declarations)
    steps = cut(rows, [i for i in range(1, len(rows)) if random.random() < 0.25])
    try:
        held_to([plan], steps, shards)
    except EvaluationError as error:
        event(f"no value: {error.code}")
