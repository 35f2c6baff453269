"""Row windows and sessions against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Run, Step, Way, judge

from ebbtide.algebra import window as logical
from ebbtide.core.change import fact
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.windows.row_window import Rows
from ebbtide.kernels.windows.session import Session, Sessions


def _fact(random: Random) -> tuple[Any, ...]:
    at = None if random.random() < 0.05 else 0
    return (random.choice((0, 1, None)), at, random.choice((0, 1, 2, None)), random.choice("ab"))


FACTS = Input(schema(k="BIGINT", at="TIMESTAMP", v="BIGINT", s="STRING"), _fact, time=1)


@given(
    count=st.integers(1, 5),
    slide=st.sampled_from((None, 1, 2, 3, 5)),
    partitioned=st.booleans(),
    way=WAYS,
)
def test_oracle_row_windows(count: int, slide: int | None, partitioned: bool, way: Way) -> None:
    spec = logical.Rows(count, slide, ("k",) if partitioned else ())
    partition = (0,) if partitioned else ()
    kernel = Rows(1, count, slide or 1, partition, key=(3,))
    node = logical.Window(FACTS.node, spec, "at", key=("s",))
    judge(Case(node, kernel, (FACTS,), (partition,)), way)


@given(gap=st.integers(1, 4), partitioned=st.booleans(), way=WAYS)
def test_oracle_sessions(gap: int, partitioned: bool, way: Way) -> None:
    partition = (0,) if partitioned else ()
    node = logical.Session(FACTS.node, "at", gap, ("k",) if partitioned else ())
    judge(Case(node, Session(1, gap, partition), (FACTS,), (partition,)), way)


@given(gap=st.integers(1, 4), partitioned=st.booleans(), way=WAYS)
def test_oracle_session_windows(gap: int, partitioned: bool, way: Way) -> None:
    partition = (0,) if partitioned else ()
    spec = logical.Sessions(gap, ("k",) if partitioned else ())
    node = logical.Window(FACTS.node, spec, "at")
    judge(Case(node, Sessions(1, gap, partition), (FACTS,), (partition,)), way)


def test_session_windows_keep_open_sessions() -> None:
    node = logical.Window(FACTS.node, logical.Sessions(3), "at")
    case = Case(node, Sessions(1, 3), (FACTS,), ((),))
    assert _in_order(case, 60, apart=5) == 0


def _in_order(case: Case, steps: int, apart: int) -> int:
    """The state after facts that come one by one, each of them final at once."""
    run = Run(case, 1)
    for number in range(steps):
        at = number * apart
        run.step(Step(((fact((0, at, 0, "a")),),), at, (at - 1,)))
    last = steps * apart + 100
    run.step(Step(((),), last, (last,)))
    return run.rows


@pytest.mark.parametrize(("count", "slide"), [(3, 1), (4, 3), (2, 5)])
def test_row_windows_keep_a_window_and_two_slides(count: int, slide: int) -> None:
    node = logical.Window(FACTS.node, logical.Rows(count, slide), "at")
    kept = _in_order(Case(node, Rows(1, count, slide), (FACTS,), ((),)), 60, apart=2)
    # What nets out goes with the next merges, so some of it may still be there.
    assert kept <= 4 * (count + 2 * slide)


def test_sessions_are_let_go_after_their_end() -> None:
    node = logical.Session(FACTS.node, "at", 5)
    assert _in_order(Case(node, Session(1, 5), (FACTS,), ((),)), 60, apart=10) == 0


def test_a_row_window_shows_the_last_rows_on_both_sides_of_a_tick() -> None:
    node = logical.Window(FACTS.node, logical.Rows(1), "at")
    run = Run(Case(node, Rows(1, 1), (FACTS,), ((),)), 1)
    first, second, late = (fact((0, at, 0, "a")) for at in (10, 20, 15))
    (shown,) = run.step(Step(((first,),), 10, (NEG_INF,)))
    assert (shown.valid_from, shown.valid_to) == (10, INF)
    shortened = run.step(Step(((second,),), 20, (NEG_INF,)))
    assert {(c.row[1], c.valid_from, c.diff) for c in shortened} == {(10, 20, -1), (20, 20, 1)}
    realigned = run.step(Step(((late,),), 20, (NEG_INF,)))
    assert {(c.row[1], c.valid_from, c.valid_to, c.diff) for c in realigned} == {
        (10, 15, 20, -1),
        (15, 15, 20, 1),
    }
