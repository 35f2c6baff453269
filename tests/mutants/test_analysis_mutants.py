"""Mutants of the analysis: each one is told from the original by a run that it gets wrong.

The runs are small and written down, so that they stay what they are; the random ones are in
``tests/properties``.
"""

import pytest

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import AntiJoin, Join, OuterJoin, UnionAll
from ebbtide.algebra.combination import Outer as Kept
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import And, Arithmetic, Comparison, Expression, Literal, Ref
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Map,
    Named,
    NamedCall,
    Relation,
    Stream,
)
from ebbtide.algebra.window import Tumble
from ebbtide.analysis import analyse, verdict
from ebbtide.analysis import contact as touching
from ebbtide.analysis import keep as keep_module
from ebbtide.analysis.finality import When
from ebbtide.analysis.formula.conditions import Keep, keeping
from ebbtide.analysis.formula.formula import compare
from ebbtide.analysis.formula.streambound import StreamBound
from ebbtide.analysis.temporal import combination, sources
from ebbtide.analysis.temporal.edge import FROM, Edge
from ebbtide.core.change import Change, consolidate, fact
from ebbtide.core.declaration import Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, INTERVAL, TIMESTAMP
from simulation import Simulation
from soundness import forgetting_changes_nothing, frontiers, progress_is_never_ahead
from strategies.arrivals import Step

COLUMNS = Schema((Column("k", BIGINT, False), Column("at", TIMESTAMP, False)))


def stream(name: str) -> Stream:
    return Stream(StreamDeclaration(name, COLUMNS, promises=(Promise("at"),)))


A, B = stream("a"), stream("b")
PRICES = ChangingTable(
    TableDeclaration("p", COLUMNS, key=("k",), time="at", promises=(Promise("at"),))
)


def within(left: Relation, right: Relation, low: int, high: int) -> Expression:
    """right.at BETWEEN left.at + low AND left.at + high."""
    a, b = left.ref("at"), right.ref("at")
    return And(
        Comparison(">=", b, Arithmetic("+", a, Literal(low, INTERVAL))),
        Comparison("<=", b, Arithmetic("+", a, Literal(high, INTERVAL))),
    )


def pair(low: int = 0, high: int = 3) -> tuple[Relation, Relation, Expression]:
    left, right = Alias(A, "a"), Alias(B, "b")
    return left, right, within(left, right, low, high)


def run(*steps: tuple[dict[str, list[int]], dict[str, int]]) -> list[Step]:
    """Steps with the times of the facts that arrive, and the progress of the streams after them."""
    return [
        Step(
            {name: tuple(fact((1, t)) for t in times) for name, times in arrived.items()},
            {(name, "at"): value for name, value in progress.items()},
            max(progress.values()),
        )
        for arrived, progress in steps
    ]


AT_THE_EDGE = run(({"a": [0]}, {"a": 5, "b": 2}), ({"b": [3]}, {"a": 5, "b": 3}))


def test_a_bound_off_by_one_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Join(*pair())

    def early(stored, facts, coming, retain=None):
        return keeping(stored, facts, coming, {atom.bound: -1 for atom in coming.atoms})

    assert forgetting_changes_nothing(plan, AT_THE_EDGE) is None
    monkeypatch.setattr(touching, "keeping", early)
    assert forgetting_changes_nothing(plan, AT_THE_EDGE)


def test_a_keep_that_ignores_a_disjunct(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right, _ = pair()
    union = UnionAll(Map(right, shape(right)), Map(Alias(stream("c"), "c"), shape_of("c")))
    later = Alias(union, "u")
    plan = Join(left, later, within(left, later, 0, 3))
    steps = run(
        ({"a": [0]}, {"a": 9, "b": 9, "c": 1}),
        ({"c": [2]}, {"a": 9, "b": 9, "c": 2}),
    )
    swapped = run(
        ({"a": [0]}, {"a": 9, "b": 1, "c": 9}),
        ({"b": [2]}, {"a": 9, "b": 2, "c": 9}),
    )

    def first_case(stored, facts, coming, retain=None):
        return Keep(keeping(stored, facts, coming, retain).cases[:1])

    assert forgetting_changes_nothing(plan, steps) is None
    assert forgetting_changes_nothing(plan, swapped) is None
    monkeypatch.setattr(touching, "keeping", first_case)
    assert forgetting_changes_nothing(plan, steps) or forgetting_changes_nothing(plan, swapped)


def shape(plan: Relation) -> tuple[Named, ...]:
    return Named("k", plan.ref("k")), Named("at", plan.ref("at"))


def shape_of(name: str) -> tuple[Named, ...]:
    return shape(Alias(stream(name), name))


SECOND_PARTNER = run(({"a": [0], "b": [0]}, {"a": 5, "b": 1}), ({"b": [3]}, {"a": 5, "b": 3}))


@pytest.mark.parametrize(
    "plan", [AntiJoin(*pair()), OuterJoin(*pair(), Kept.LEFT)], ids=["anti", "outer"]
)
def test_keep_without_clause_iii(plan: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forgetting_changes_nothing(plan, SECOND_PARTNER) is None
    monkeypatch.setattr(keep_module, "_partners_of_partners", lambda *_: touching.NOT_TOUCHED)
    assert forgetting_changes_nothing(plan, SECOND_PARTNER)


def test_keep_without_clause_ii(monkeypatch: pytest.MonkeyPatch) -> None:
    tumbled = Tumble(A, "at", 10)
    plan = Aggregate(
        tumbled,
        (Named("start", tumbled.ref("window_start")),),
        (NamedCall("n", AggregateCall("COUNT")),),
    )
    steps = run(({"a": [0, 3]}, {"a": 2}), ({"a": [7]}, {"a": 9}))
    assert final_output(plan, steps) == [(0, 3)]
    monkeypatch.setattr(
        verdict, "held_back", lambda edge, waits: keep_module.held_back(edge, waits[:0])
    )
    monkeypatch.setattr(keep_module, "Keep", lambda cases: Keep(()))
    assert final_output(plan, steps) != [(0, 3)]


def final_output(plan: Relation, steps: list[Step]) -> list[tuple[object, ...]]:
    """What EMIT FINAL shows: a last stage holds what has not passed."""
    analysis = analyse(plan, Emit.FINAL)
    assert analysis.verdict.finality.when is When.BY_PROGRESS
    simulation, held, shown = Simulation(analysis.plan), (), []
    for step in steps:
        held = consolidate([*held, *simulation.step(step.arrived, step.now)])
        progress = frontiers(step)
        shown += [c for c in held if analysis.verdict.finality.passes(c, progress)]
        held = analysis.held[0].rule.kept(held, progress) if analysis.held else ()
    return [change.row for change in consolidate(shown)]


def test_payload_times_taken_as_progressing_on_an_edge_with_negatives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = PRICES
    steps = [
        Step({"p": (Change((1, 0), 0, 20),)}, {("p", "at"): 4}, 4),
        Step({"p": (Change((1, 0), 6, 20, -1),)}, {("p", "at"): 6}, 6),
    ]
    original = sources.table

    def begins_with_its_row(node: ChangingTable) -> Edge:
        edge = original(node)
        begin = edge.columns[node.schema.position("at")]
        return Edge(
            edge.schema, edge.kind, edge.facts.where(compare(begin, "=", FROM)), edge.bounds
        )

    assert progress_is_never_ahead(plan, steps) is None
    monkeypatch.setattr(sources, "table", begins_with_its_row)
    assert progress_is_never_ahead(plan, steps)


def test_a_union_without_ignore(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = UnionAll(A, B)
    grouped = Aggregate(
        plan, (Named("at", Ref(plan.schema[1])),), (NamedCall("n", AggregateCall("COUNT")),)
    )
    assert (
        str(analyse(grouped).verdict.finality) == "when at <= min(progress(a.at), progress(b.at))"
    )
    branch = combination._branch

    class Nothing:
        bounds = StreamBound()

    monkeypatch.setattr(
        combination,
        "_branch",
        lambda mine, other, *rest: branch(mine, Nothing(), *rest),
    )
    assert analyse(grouped).verdict.finality.when is When.NEVER
