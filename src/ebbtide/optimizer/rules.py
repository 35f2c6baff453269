"""The rules, in the order in which they are applied, each with the reason for its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ebbtide.algebra.relation import Relation
from ebbtide.optimizer.sink_conditions import sink_conditions

Rule: TypeAlias = Callable[[Relation], Relation]

RULES: tuple[Rule, ...] = (
    # First: the conditions of a join decide what it stores, which later rules may ask about.
    sink_conditions,
)


def optimise(plan: Relation) -> Relation:
    """The plan that runs in place of one that was written."""
    for rule in RULES:
        plan = rule(plan)
    return plan
