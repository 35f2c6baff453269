"""The law where expressions fail: random plans with something bad in them.

After every step the answers are the reference's, and so is what was left out, with collection of
state and without, however the history is cut and in however many shards.
"""

from __future__ import annotations

from random import Random

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import declarations_of, history
from tests.law import QUERIES, held_to

from ebbtide.algebra.relation import Relation
from ebbtide.config import Config
from ebbtide.errors import EvaluationError, UnsupportedError
from strategies.poison import poisoned

_CASES = {"quick": 10, "ci": 40, "long": 3000}[Config.from_environment().profile]


@st.composite
def failing(draw: st.DrawFn) -> Relation:
    """Plans that fail on some rows."""
    return poisoned(draw, draw(QUERIES))


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=failing(),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 4),
    shards=st.sampled_from((1, 2)),
)
def test_answers_and_errors_are_those_of_the_reference(
    plan: Relation, seed: int, steps: int, shards: int
) -> None:
    try:
        held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)
    except UnsupportedError as error:
        event(f"not built: {error.code}")
    except EvaluationError as error:
        event(f"not quarantined: {error.message}")
