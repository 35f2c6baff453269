"""What is claimed about progress and finality holds in every run."""

from hypothesis import given, note

from ebbtide.plan_text.plan_tree import plan_tree
from soundness import (
    cases,
    final_loses_nothing,
    progress_is_never_ahead,
    thorough,
    what_has_passed_stays,
)


@thorough
@given(cases())
def test_progress_is_never_ahead_of_later_output(case) -> None:
    plan, steps = case
    note(plan_tree(plan))
    assert progress_is_never_ahead(plan, steps) is None


@thorough
@given(cases(late=False))
def test_what_has_passed_never_changes(case) -> None:
    plan, steps = case
    note(plan_tree(plan))
    assert what_has_passed_stays(plan, steps) is None
    assert final_loses_nothing(plan, steps) is None
