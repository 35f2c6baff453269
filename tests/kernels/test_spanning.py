"""Spanning: what is shown of the time after now depends on the relation and on now alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from hypothesis import given
from tests.kernels.harness import WAYS, Case, Input, Run, Step, Way, history

from ebbtide.algebra.relation import Distinct, Values
from ebbtide.core.change import Change, consolidate
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.operators.spanning import Spanning


def _row(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)),)


INPUT = Input(schema(k="BIGINT"), _row)
CASE = Case(Distinct(Values(INPUT.schema, ())), Spanning((0,)), (INPUT,), ((0,),))


def spanning(changes: Iterable[Change], now: Instant) -> tuple[Change, ...]:
    """The rows that have begun, each as long as it goes on: by looking at every instant."""
    whole = consolidate(changes)
    ends = {change.valid_to for change in whole} | {change.valid_from for change in whole}
    points = sorted({now, *(at for at in ends if now < at < INF)})
    shown = [
        Change(c.row, c.valid_from, min(c.valid_to, now + 1), c.diff)
        for c in whole
        if c.valid_from <= now
    ]
    least: Counter[Any] = Counter()
    for place, at in enumerate(points):
        there: Counter[Any] = Counter()
        for change in whole:
            if change.valid_from <= at < change.valid_to:
                there[change.row] += change.diff
        least = there if place == 0 else least & there
        until = points[place + 1] if place + 1 < len(points) else INF
        begin = max(at, now + 1)
        shown += [Change(row, begin, until, n) for row, n in least.items() if begin < until]
    return consolidate(shown)


@given(way=WAYS)
def test_what_is_shown_is_what_spans_now(way: Way) -> None:
    run = Run(CASE, way.shards)
    taken: tuple[Change, ...] = ()
    output: tuple[Change, ...] = ()
    for step in history(Random(way.seed), CASE.inputs, way.steps, way.size):
        emitted = run.step(step)
        assert all(change.valid_from <= step.now for change in emitted)
        taken, output = (*taken, *step.inputs[0]), (*output, *emitted)
        assert consolidate(output) == spanning(taken, step.now)
        if way.restart:
            run.restart()
    last = run.step(Step(((),), INF, (NEG_INF,)))
    assert consolidate((*output, *last)) == consolidate(taken)
    assert run.rows == 0


def test_rows_that_meet_are_one_row_whichever_came_first() -> None:
    early, late = Change((0,), 3, 8), Change((0,), 8, 11)
    for steps in ([(early, late)], [(early,), (late,)], [(late,), (early,)]):
        run = Run(CASE, 1)
        said = [c for each in steps for c in run.step(Step((each,), 5, (NEG_INF,)))]
        assert consolidate(said) == (Change((0,), 3, 11),)


def test_a_row_that_is_taken_back_in_part_waits_for_the_rest() -> None:
    run = Run(CASE, 1)
    row, gap = Change((0,), 3, 20), Change((0,), 6, 9, -1)
    assert consolidate(run.step(Step(((row,),), 4, (NEG_INF,)))) == (row,)
    said = run.step(Step(((gap,),), 5, (NEG_INF,)))
    assert consolidate((row, *said)) == (Change((0,), 3, 6),)
    assert not run.step(Step(((),), 8, (NEG_INF,)))
    assert run.step(Step(((),), 9, (NEG_INF,))) == (Change((0,), 9, 20),)


def test_what_never_ends_is_not_stored() -> None:
    run = Run(CASE, 1)
    rows = tuple(Change((number % 2,), number, INF) for number in range(4))
    run.step(Step((rows,), 5, (NEG_INF,)))
    assert run.rows == 0
