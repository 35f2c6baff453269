"""Dropping what the keep rules drop never changes any later output."""

from hypothesis import given, note

from ebbtide.plan_text.plan_tree import plan_tree
from soundness import cases, forgetting_changes_nothing, thorough


@thorough
@given(cases())
def test_forgetting_changes_nothing(case) -> None:
    plan, steps = case
    note(plan_tree(plan))
    assert forgetting_changes_nothing(plan, steps) is None
