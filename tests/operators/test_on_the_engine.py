"""Every operator on the engine: in three shards, in small steps, each from the directory alone.

At every step the answer is the reference's; at the end so are all snapshots just before and at
every end point.
"""

from __future__ import annotations

import pytest
from tests.histories import accepted, declarations_of
from tests.scenarios import FAR, SHARDED, judged, plan_with, story

from ebbtide.algebra.operators import OPERATORS
from ebbtide.algebra.relation import Relation
from ebbtide.core.change import end_points, snapshot
from ebbtide.reference import evaluate


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_both_sides_of_every_tick_are_right(operator: type[Relation]) -> None:
    plan = plan_with(operator)
    assert plan is not None
    every = story(plan, seed=3, steps=10)
    output = judged(plan, every, SHARDED)
    expected = evaluate(plan, accepted(declarations_of(plan), every), FAR)
    assert output
    for end in end_points(output, expected):
        for at in (end - 1, end):
            if at < FAR:
                assert snapshot(output, at) == snapshot(expected, at)
