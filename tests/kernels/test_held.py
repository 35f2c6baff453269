"""Held: nothing that begins after now gets out, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
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


def test_equal_rows_that_begin_at_different_times_wait_each_for_its_own() -> None:
    run = Run(CASE, 1)
    rows = [Change((0, "a"), start, 30) for start in (15, 20)]
    # What lies far away keeps the first row out of the segment in which the others meet.
    far = Change((1, "b"), 1000, 1001)
    for number, each in enumerate([(rows[0], far), (rows[1],), (replace(rows[0], diff=-1),)]):
        assert not run.step(Step((each,), number, (NEG_INF,)))
    assert not run.step(Step(((),), 17, (NEG_INF,)))
    assert run.step(Step(((),), 20, (NEG_INF,))) == (rows[1],)
