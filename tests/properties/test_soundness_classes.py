"""Classes of monotonicity and candidate keys are what they are claimed to be."""

from hypothesis import given, note

from ebbtide.analysis.keys import keys
from ebbtide.core.change import end_points, snapshot
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference import evaluate
from soundness import cases, classes_keep_their_definitions, thorough
from strategies import queries
from strategies.arrivals import PROMISED


@thorough
@given(cases())
def test_a_class_keeps_its_definition(case) -> None:
    plan, steps = case
    note(plan_tree(plan))
    assert classes_keep_their_definitions(plan, steps) is None


@thorough
@given(queries(PROMISED, depth=3))
def test_a_claimed_key_is_unique_in_every_snapshot(case) -> None:
    plan, data = case
    note(plan_tree(plan))
    claimed = keys(plan).candidates
    output = evaluate(plan, data, 40)
    for t in end_points(output) if claimed else ():
        rows = list(snapshot(output, t).elements())
        for key in claimed:
            values = [tuple(row[i] for i in sorted(key)) for row in rows]
            assert len(set(values)) == len(values), (t, key, rows)
