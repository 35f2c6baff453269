"""The law of lineage: what is named is what a row comes from.

For random queries and inputs, with frontiers held fixed: deleting all named inputs together removes
the row, unless the answer has it over nothing; deleting any inputs that are not named does not
change how often it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from ebbtide.algebra import (
    Alias,
    AntiJoin,
    Arithmetic,
    Map,
    Named,
    Recurrence,
    Recursion,
    Relation,
    Stream,
    UnionAll,
)
from ebbtide.algebra.expression import Comparison, Literal
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, facts, snapshot
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Instant
from ebbtide.core.types import BIGINT, INTERVAL, TIMESTAMP
from ebbtide.core.values import Row
from ebbtide.lineage import Lineage, why
from ebbtide.optimizer import unfailing
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference.evaluation import errors, evaluate_at
from strategies.plans import queries
from strategies.poison import poisoned

NOW = 15
CASES = {"quick": 30, "ci": 30, "long": 20_000}[Config.from_environment().profile]
Inputs = Mapping[str, tuple[Change, ...]]


def without(inputs: Inputs, gone: set[tuple[str, Change]]) -> dict[str, tuple[Change, ...]]:
    """Inputs with some of them deleted."""
    return {
        name: tuple(change for change in changes if (name, change) not in gone)
        for name, changes in inputs.items()
    }


def assert_lineage(
    plan: Relation, inputs: Inputs, row: Row, at: Instant, random: Random
) -> Lineage:
    """That the inputs named for a row obey the law; gives them."""
    inputs = {name: consolidate(changes) for name, changes in inputs.items()}
    found = why(unfailing(plan), inputs, row, at, NOW)
    named = {(cause.source, cause.change) for cause in found.causes}
    everything = {(name, change) for name, changes in inputs.items() for change in changes}
    assert named <= everything
    said = f"{row} at {at} of\n{plan_tree(plan)}\nnames {found}"
    count = evaluate_at(plan, inputs, at, NOW)[row]
    assert count > 0
    rest = evaluate_at(plan, without(inputs, named), at, NOW)[row]
    if rest:
        assert evaluate_at(plan, without(inputs, everything), at, NOW)[row], said
        event("there over nothing")
    others = sorted(everything - named, key=str)
    chosen = [set(others), *({one} for one in others)]
    chosen += [{one for one in others if random.random() < 0.5} for _ in range(4)]
    for gone in chosen:
        assert evaluate_at(plan, without(inputs, gone), at, NOW)[row] == count, (said, gone)
    return found


@settings(max_examples=CASES)
@given(queries(depth=3, max_changes=5), st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_named_inputs_are_what_a_row_comes_from(
    query: tuple[Relation, Inputs], at: Instant, random: Random
) -> None:
    plan, inputs = query
    rows = list(evaluate_at(plan, inputs, at, NOW))
    assume(rows)
    found = assert_lineage(plan, inputs, random.choice(rows), at, random)
    for role in {cause.role.value for cause in found.causes}:
        event(role)
    if found.absences:
        event("an absence")


@st.composite
def failing(draw: st.DrawFn) -> tuple[Relation, Inputs]:
    """Queries that fail on some rows."""
    plan, inputs = draw(queries(depth=3, max_changes=5))
    return poisoned(draw, plan), inputs


@settings(max_examples=CASES // 10, suppress_health_check=[HealthCheck.filter_too_much])
@given(failing(), st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_same_holds_beside_rows_on_which_a_query_fails(
    query: tuple[Relation, Inputs], at: Instant, random: Random
) -> None:
    plan, inputs = query
    assume(snapshot(errors(plan, inputs, NOW), at))
    rows = list(evaluate_at(plan, inputs, at, NOW))
    assume(rows)
    assert_lineage(plan, inputs, random.choice(rows), at, random)


ROWS = Schema((Column("k", BIGINT), Column("at", TIMESTAMP, False)))
S = Stream(StreamDeclaration("s", ROWS, (), (Promise("at"),)))
T = Stream(StreamDeclaration("t", ROWS, (), (Promise("at"),)))


def later(own: Relation, by: int) -> Relation:
    moved = Arithmetic("+", own.ref("at"), Literal(by, INTERVAL))
    return Map(own, (Named("k", own.ref("k")), Named("at", moved)))


OWN = Recurrence("r", ROWS)
CHAIN = Recursion("r", UnionAll(S, later(OWN, 3)), "at")
BROKEN = Recursion(
    "r",
    UnionAll(
        S,
        later(
            AntiJoin(
                Alias(OWN, "o"),
                Alias(T, "t"),
                Comparison("=", Alias(OWN, "o").ref("o.at"), Alias(T, "t").ref("t.at")),
            ),
            3,
        ),
    ),
    "at",
)


@settings(max_examples=CASES // 4)
@given(st.sampled_from([CHAIN, BROKEN]), st.randoms(use_true_random=False))
def test_the_inputs_of_a_recursion_are_named(plan: Relation, random: Random) -> None:
    inputs = {
        name: facts([(random.randrange(2), random.randrange(9)) for _ in range(3)])
        for name in ("s", "t")
    }
    rows = list(evaluate_at(plan, inputs, 0, NOW))
    found = assert_lineage(plan, inputs, random.choice(rows), 0, random)
    assert found.causes
