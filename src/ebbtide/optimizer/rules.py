"""The rules, in the order in which they are applied, each with the reason for its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Filter, Relation
from ebbtide.optimizer.carry_errors import carry_errors
from ebbtide.optimizer.filter_irrelevant import added, filter_irrelevant
from ebbtide.optimizer.guarding import Guarded, guarded
from ebbtide.optimizer.sink_conditions import sink_conditions

Rule: TypeAlias = Callable[..., Relation]
"""Takes a plan, and what becomes of rows on which expressions fail: that says what may move."""

RULES: tuple[Rule, ...] = (
    # First: the conditions of a join decide what it stores, which later rules may ask about.
    sink_conditions,
    # Then: what stands on the inputs of a join by now says more about their partners.
    filter_irrelevant,
)


def optimise(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Relation:
    """The plan after all rules; it means the same.

    Before them all, what can fail in a subquery is brought to where it is read, so that the rules
    know what can fail there.
    """
    plan = carry_errors(plan, on_error)
    for rule in RULES:
        plan = rule(plan, on_error)
    return plan


def skipped(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> tuple[Filter, ...]:
    """The filters that keep rows that can have no partner out of a plan's joins."""
    return tuple(added(sink_conditions(carry_errors(plan, on_error), on_error), on_error))


def prepared(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Guarded:
    """The plan that runs in place of one that was written: its rules applied, and guarded."""
    return guarded(optimise(plan, on_error), on_error)


def unfailing(plan: Relation) -> Relation:
    """The plan as it was written, but without the rows on which it fails.

    Where nothing fails it has the same rows, so it stands for a plan under ON ERROR FAIL, too.
    """
    return guarded(carry_errors(plan)).plan
