"""What the strategies promise: consistent data, bounded disorder, plans that run."""

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide.algebra import Kind, Recurrence, Recursion, Relation, kind
from ebbtide.algebra.operators import OPERATORS
from ebbtide.core.change import is_relation
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.core.tree import find
from ebbtide.reference import evaluate
from strategies import (
    cuts,
    disordered,
    facts,
    plans,
    queries,
    relations,
    rows,
    schemas,
    types,
    values,
)

PRICES = schema(item="INT", price="DOUBLE", since="TIMESTAMP")


@given(st.data())
def test_values_are_of_their_type(data: st.DataObject) -> None:
    columns = data.draw(schemas(max_columns=2))
    assert columns.admits(data.draw(rows(columns, few=False)))
    assert columns.admits(data.draw(rows(columns)))
    type_ = data.draw(types())
    assert data.draw(values(type_, nullable=False)) is not None


@given(relations(PRICES))
def test_every_prefix_of_a_history_is_a_relation(changes) -> None:
    for length in range(len(changes) + 1):
        assert is_relation(changes[:length])


@given(relations(PRICES, key=("item",), time="since"))
def test_a_key_has_one_version_at_a_time(changes) -> None:
    for length in range(len(changes) + 1):
        so_far = changes[:length]
        for t in {c.valid_from for c in so_far}:
            live = Counter()
            for change in so_far:
                if change.valid_from <= t < change.valid_to:
                    live[change.row[0]] += change.diff
            assert all(count <= 1 for count in live.values())
    assert all(c.row[2] == c.valid_from for c in changes if c.diff > 0)


@given(facts(PRICES, negatives=True))
def test_facts_hold_always(changes) -> None:
    assert is_relation(changes)
    assert all(change.valid_from == NEG_INF for change in changes)


@given(st.data())
def test_disorder_is_bounded_by_the_delay(data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(0, 30)))
    arrived = data.draw(disordered(times, lambda t: t, 5))
    assert Counter(arrived) == Counter(times)
    newest = 0
    for t in arrived:
        newest = max(newest, t)
        assert t >= newest - 5


@given(st.data())
def test_steps_are_the_whole_in_order(data: st.DataObject) -> None:
    items = data.draw(st.lists(st.integers()))
    steps = data.draw(cuts(items))
    assert [item for step in steps for item in step] == items


@given(queries())
def test_every_plan_runs_and_keeps_to_its_schema(query) -> None:
    plan, data = query
    kind(plan)
    output = evaluate(plan, data, 40)
    assert is_relation(output)
    assert all(plan.schema.admits(change.row) for change in output)


@given(
    st.sampled_from([Kind.FACT, Kind.SNAPSHOT]).flatmap(
        lambda k: st.tuples(st.just(k), plans(kind=k))
    )
)
def test_a_wanted_kind_is_the_kind(drawn) -> None:
    wanted, plan = drawn
    assert kind(plan) in (wanted, Kind.STATIC)


def test_every_operator_is_generated() -> None:
    seen: Counter[type[Relation]] = Counter()

    @settings(
        max_examples=500,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def collect(plan: Relation) -> None:
        seen.update(type(node) for node in find(plan, Relation))

    collect()
    # What is recursive has an end only at some `now`; tests/recursions.py has those plans.
    wanted = [operator for operator in OPERATORS if operator not in (Recursion, Recurrence)]
    assert [operator.__name__ for operator in wanted if seen[operator] < 5] == []
