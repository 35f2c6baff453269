"""The law where expressions fail: random plans with something bad in them.

After every step the answers are the reference's, and so is what was left out, with collection of
state and without, however the history is cut and in however many shards.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from tests.failing_queries import (
    INSTANTS,
    OWN,
    PARTNERS,
    RECURSIONS,
    SUBQUERIES,
    own_aggregates,
)
from tests.histories import Oracle, declarations_of, history
from tests.law import QUERIES, held_to
from tests.recursions import QUERIES as READERS
from tests.recursions import RULES, recursion_of, recursive
from tests.scenarios import plan_of

from ebbtide.algebra.combination import AntiJoin, SemiJoin
from ebbtide.algebra.relation import Relation
from ebbtide.config import Config
from ebbtide.core.tree import find
from ebbtide.errors import EvaluationError, TemporalError, UnsupportedError
from ebbtide.reference import evaluate
from ebbtide.testing import assert_snapshot_equal
from strategies.poison import poisoned

_CASES = {"quick": 10, "ci": 10, "long": 3000}[Config.from_environment().profile]
_FEW = {"quick": 2, "ci": 4, "long": 300}[Config.from_environment().profile]
_FAR = 1000
_PLACES = [*SUBQUERIES.items(), *INSTANTS.items()]


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


@pytest.mark.parametrize(("place", "query"), _PLACES, ids=[place for place, _ in _PLACES])
@settings(max_examples=_FEW, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from((1, 2)))
@example(1, 6, 2)
@example(5, 8, 1)
def test_nothing_that_fails_in_a_place_stops_the_query(
    place: str, query: str, seed: int, steps: int, shards: int
) -> None:
    plan = plan_of(query)
    held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)


@pytest.mark.parametrize("word", ["", "NOT "])
@pytest.mark.parametrize("condition", PARTNERS)
@settings(max_examples=10 * _FEW, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8))
@example(1, 6)
def test_whether_there_is_a_partner_is_the_same_alone_and_beside_a_term_that_is_false(
    condition: str, word: str, seed: int, steps: int
) -> None:
    query = "SELECT a.k, a.v FROM a [RANGE 5 MICROSECONDS] WHERE "
    alone = plan_of(f"{query}{word}{condition}")
    beside = plan_of(f"{query}a.v = 99 OR {word}{condition}")
    partnered = AntiJoin if word else SemiJoin
    assert any(find(alone, partnered))
    assert not any(find(beside, partnered))
    oracle = Oracle.of(declarations_of(alone))
    for fed in history(Random(seed), declarations_of(alone), steps):
        oracle.take(fed, None)
    answers = (evaluate(plan, oracle.accepted, _FAR) for plan in (alone, beside))
    assert_snapshot_equal(*answers, _FAR)


@pytest.mark.parametrize("place", OWN)
@settings(max_examples=_FEW, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from((1, 2)))
@example(1, 6, 2)
@example(5, 8, 1)
def test_an_aggregate_of_the_users_that_raises_leaves_out_the_group(
    place: str, seed: int, steps: int, shards: int
) -> None:
    with own_aggregates():
        plan = plan_of.__wrapped__(OWN[place])
        held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)


@st.composite
def failing_recursions(draw: st.DrawFn) -> Relation:
    """Recursions that fail on some rows."""
    return poisoned(draw, recursive(draw(st.sampled_from(sorted(RULES))), draw(_READERS)))


_READERS = st.sampled_from(READERS)


@settings(max_examples=10 * _FEW, deadline=None)
@given(failing_recursions(), st.integers(0, 2**32), st.integers(2, 9), st.sampled_from((1, 2, 7)))
def test_recursions_leave_out_what_fails(
    plan: Relation, seed: int, steps: int, shards: int
) -> None:
    try:
        held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)
    except (UnsupportedError, TemporalError) as error:
        event(f"not built: {error.code}")


@pytest.mark.parametrize("place", RECURSIONS)
@settings(max_examples=_FEW, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 9), st.sampled_from((1, 2)))
def test_a_condition_that_fails_inside_of_a_recursion_stops_nothing(
    place: str, seed: int, steps: int, shards: int
) -> None:
    plan = recursion_of(RECURSIONS[place], READERS[0])
    held_to([plan], history(Random(seed), declarations_of(plan), steps), shards)
