"""The scenarios hold for the engine as it is; what they notice is in the tests of its mutants."""

from __future__ import annotations

import pytest
from tests.histories import accepted, declarations_of
from tests.scenarios import SCENARIOS, plan_of, run, story

from ebbtide.reference import evaluate


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_engine_passes(name: str) -> None:
    run(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_shows_something(name: str) -> None:
    scenario = SCENARIOS[name]
    plan = plan_of(scenario.query)
    every = accepted(declarations_of(plan), story(plan, scenario.seed, scenario.steps))
    assert len(evaluate(plan, every, 100)) > 3
