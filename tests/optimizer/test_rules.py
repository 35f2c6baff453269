"""The rules: what each makes of plans, and that a plan means the same before and after.

The fixture of a rule is the file of its name: queries, each with its plan as it is bound and as the
rule leaves it.
"""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, event, find, given, settings
from hypothesis import strategies as st

from analysed import World
from ebbtide.algebra import (
    Aggregate,
    Alias,
    AntiJoin,
    Filter,
    Join,
    Map,
    OuterJoin,
    Product,
    Relation,
    SemiJoin,
)
from ebbtide.core import tree
from ebbtide.core.change import Change
from ebbtide.errors import EvaluationError
from ebbtide.optimizer import RULES, Rule, optimise, written
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference import errors, evaluate
from strategies import queries
from strategies.poison import poisoned

WORLD = World(
    """
    CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM auctions (id BIGINT, seller BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM lots (id BIGINT, opens TIMESTAMP NOT NULL, closes TIMESTAMP,
      PROGRESS FOR opens AS opens);
    """
)
NOW = 40
FIXTURE = re.compile(r"^(.*?);\n\nbefore\n\n(.*?)\n\nafter\n\n(.*?)\n*\Z", re.S)

Case = tuple[Relation, dict[str, tuple[Change, ...]]]

# Filters over joins and what conditions sink through; the others stop them.
sinking = queries(
    depth=4,
    root=Filter,
    operators=(Filter, Join, Product, Alias, Map, OuterJoin, SemiJoin, AntiJoin, Aggregate),
    max_changes=5,
)
cases: st.SearchStrategy[Case] = st.one_of(sinking, queries(depth=3, max_changes=5))
tried = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def fixtures(rule: Rule) -> list[tuple[str, str, str]]:
    """The cases of a rule: a query, its plan before, and after."""
    path = Path(__file__).with_name(f"{rule.__name__}.txt")
    found = [FIXTURE.match(part) for part in re.split(r"^={3,}\n+", path.read_text(), flags=re.M)]
    assert all(found), f"{path.name} has a case that cannot be read"
    return [(m[1], m[2], m[3]) for m in found if m]


@pytest.mark.parametrize(
    ("rule", "sql", "before", "after"),
    [(rule, *case) for rule in RULES for case in fixtures(rule)],
)
def test_a_rule_does_what_its_fixture_says(rule: Rule, sql: str, before: str, after: str) -> None:
    plan = WORLD.bound(sql).plan
    assert plan_tree(plan) == before
    assert plan_tree(rule(plan)) == after


@pytest.mark.parametrize("rule", RULES)
def test_the_fixture_of_a_rule_has_a_plan_that_it_changes_and_one_that_it_leaves(
    rule: Rule,
) -> None:
    assert {before == after for _, before, after in fixtures(rule)} == {True, False}


def means_the_same(rule: Rule, case: Case) -> bool:
    """Whether a rule leaves the answer of a plan as it is, and its columns."""
    plan, inputs = case
    changed = rule(plan)
    same = evaluate(changed, inputs, NOW) == evaluate(plan, inputs, NOW)
    return same and changed.schema == plan.schema


@pytest.mark.parametrize("rule", RULES)
@tried
@given(case=cases)
def test_a_plan_means_the_same_before_and_after(rule: Rule, case: Case) -> None:
    assert means_the_same(rule, case)


@pytest.mark.parametrize("rule", RULES)
@tried
@given(case=cases, data=st.data())
def test_a_plan_fails_on_the_same_rows_before_and_after(
    rule: Rule, case: Case, data: st.DataObject
) -> None:
    plan, inputs = poisoned(data.draw, case[0]), case[1]
    try:
        assert means_the_same(rule, (plan, inputs))
        assert errors(rule(plan), inputs, NOW) == errors(plan, inputs, NOW)
    except EvaluationError as error:
        event(error.code)


@pytest.mark.parametrize("rule", RULES)
@tried
@given(case=cases)
def test_a_rule_is_done_after_one_time(rule: Rule, case: Case) -> None:
    once = rule(case[0])
    assert rule(once) == once


@tried
@given(case=cases)
def test_every_operator_that_is_no_filter_is_found_where_it_was_written(case: Case) -> None:
    plan = case[0]
    optimised = optimise(plan)
    for node in tree.find(optimised, Relation):
        before = written(plan, optimised, node)
        if isinstance(node, Filter):
            assert before is plan
        elif not isinstance(node, Join | Product):
            assert type(before) is type(node)
        else:
            assert isinstance(before, Join | Product)


def into_outer_joins(plan: Relation) -> Relation:
    """A wrong rule: the condition of an outer join removes rows that it should pad."""

    def rule(node: Relation) -> Relation:
        return Join(node.left, node.right, node.predicate) if isinstance(node, OuterJoin) else node

    return tree.rewrite(plan, rule)


def without_filters(plan: Relation) -> Relation:
    """A wrong rule: conditions are lost."""
    return tree.rewrite(plan, lambda node: node.input if isinstance(node, Filter) else node)


@pytest.mark.parametrize("wrong", [into_outer_joins, without_filters])
def test_a_wrong_rule_is_found(wrong: Rule) -> None:
    found = find(
        cases,
        lambda case: not means_the_same(wrong, case),
        settings=settings(
            max_examples=1000, database=None, derandomize=True, phases=[Phase.generate]
        ),
    )
    assert wrong(found[0]) != found[0]
