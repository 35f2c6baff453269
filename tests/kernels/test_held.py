"""Held: nothing that begins after now gets out, and nothing is lost."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from tests.kernels.harness import WAYS, Case, Input, Run, Step, Way, history

from ebbtide.algebra.relation import Distinct, Values
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.operators.held import Held


def _row(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)), random.choice("ab"))


INPUT = Input(schema(k="BIGINT", s="STRING"), _row)
CASE = Case(Distinct(Values(INPUT.schema, ())), Held(), (INPUT,), ((0, 1),))


@given(way=WAYS)
def test_what_has_begun_is_shown_and_nothing_else(way: Way) -> None:
    run = Run(CASE, way.shards)
    taken: tuple[Change, ...] = ()
    output: tuple[Change, ...] = ()
    for step in history(Random(way.seed), CASE.inputs, way.steps, way.size):
        emitted = run.step(step)
        assert all(change.valid_from <= step.now for change in emitted)
        taken, output = (*taken, *step.inputs[0]), (*output, *emitted)
        assert consolidate(until(output, step.now)) == consolidate(until(taken, step.now))
        if way.restart:
            run.restart()
    last = run.step(Step(((),), INF, (NEG_INF,)))
    assert consolidate((*output, *last)) == consolidate(taken)
    assert run.rows == 0


@given(way=WAYS)
def test_where_all_rows_have_begun_only_ends_lie_ahead(way: Way) -> None:
    case = Case(CASE.node, Held(begun=True), CASE.inputs, CASE.exchange)
    run = Run(case, way.shards)
    taken: tuple[Change, ...] = ()
    output: tuple[Change, ...] = ()
    for step in history(Random(way.seed), case.inputs, way.steps, way.size):
        emitted = run.step(step)
        assert all(change.valid_from <= step.now for change in emitted)
        taken, output = (*taken, *step.inputs[0]), (*output, *emitted)
        assert consolidate(output) == consolidate(taken)
        assert run.rows == 0
