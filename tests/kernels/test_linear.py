"""Operators that treat every change by itself, against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge

from ebbtide.algebra import window as logical
from ebbtide.algebra.expression import Comparison, Literal
from ebbtide.algebra.relation import Filter as LogicalFilter
from ebbtide.algebra.relation import Map as LogicalMap
from ebbtide.algebra.relation import Named
from ebbtide.core.change import Change, consolidate, fact
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.types import BIGINT
from ebbtide.kernels.coalesce import Coalesce
from ebbtide.kernels.cumulate import Cumulate
from ebbtide.kernels.filter import Filter
from ebbtide.kernels.hop import Hop
from ebbtide.kernels.map import Map
from ebbtide.kernels.split import Split
from ebbtide.kernels.tumble import Tumble
from ebbtide.kernels.window import Fixed, Now, Range, Unbounded
from ebbtide.state.batch import batch_schema, from_changes, to_changes


def _fact(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)), None if random.random() < 0.1 else 0)


FACTS = Input(schema(k="BIGINT", at="TIMESTAMP"), _fact, time=1)
RELATION = Input(schema(k="BIGINT", v="BIGINT"), lambda r: (r.randint(0, 2), r.choice((None, 1))))

WINDOWS = [
    (logical.Range(7), Range(1, 7)),
    (logical.Range(7, 3), Range(1, 7, 3)),
    (logical.Range(2, 5), Range(1, 2, 5)),
    (logical.Fixed(4), Fixed(1, 4)),
    (logical.Now(), Now(1)),
    (logical.Unbounded(), Unbounded(1)),
]
FUNCTIONS = [
    (logical.Tumble(FACTS.node, "at", 5), Tumble(1, 5)),
    (logical.Hop(FACTS.node, "at", 2, 5), Hop(1, 2, 5)),
    (logical.Hop(FACTS.node, "at", 5, 2), Hop(1, 5, 2)),
    (logical.Hop(FACTS.node, "at", 3, 6), Hop(1, 3, 6)),
    (logical.Cumulate(FACTS.node, "at", 2, 6), Cumulate(1, 2, 6)),
]


def _is_one(rows: Any) -> Any:
    return pc.equal(rows.column(1), 1)


def _swapped(rows: Any) -> list[Any]:
    return [rows.column(1), rows.column(0)]


UNARY = [
    (
        LogicalFilter(RELATION.node, Comparison("=", RELATION.node.ref("v"), Literal(1, BIGINT))),
        Filter(_is_one),
    ),
    (
        LogicalMap(
            RELATION.node,
            (Named("a", RELATION.node.ref("v")), Named("b", RELATION.node.ref("k"))),
        ),
        Map(_swapped, (pa.int64(), pa.int64())),
    ),
    (logical.Coalesce(RELATION.node), Coalesce()),
    (logical.Coalesce(RELATION.node, 5), Coalesce(5)),
    (logical.Split(RELATION.node, 3), Split(3)),
]


CASES = [
    *(
        Case(logical.Window(FACTS.node, spec, "at"), kernel, (FACTS,), ((0,),))
        for spec, kernel in WINDOWS
    ),
    *(Case(node, kernel, (FACTS,), ((0,),)) for node, kernel in FUNCTIONS),
    *(Case(node, kernel, (RELATION,), ((0,),)) for node, kernel in UNARY),
]


@given(case=st.sampled_from(CASES), way=WAYS)
def test_oracle(case: Case, way: Way) -> None:
    judge(case, way)


def _run(kernel: Any, *changes: Change) -> tuple[Change, ...]:
    batch = from_changes(changes, batch_schema([pa.int64()]))
    return to_changes(kernel.changes(batch))


def test_a_slide_may_show_a_fact_never() -> None:
    #  ts=1, d=2, s=5:  CEIL(1 TO 5) = 5 = CEIL(3 TO 5)
    assert _run(Range(0, 2, 5), fact((1,))) == ()
    assert _run(Range(0, 2, 5), fact((4,))) == (Change((4,), 5, 10),)


def test_windows_stay_on_the_line() -> None:
    assert _run(Range(0, 10), fact((INF - 3,))) == (Change((INF - 3,), INF - 3, INF),)
    assert _run(Range(0, 10, 7), fact((NEG_INF + 1,)))[0].valid_from > NEG_INF


def test_split_cuts_on_the_grid_and_leaves_the_endless_whole() -> None:
    pieces = _run(Split(5), Change((1,), 3, 11), Change((2,), 3, INF))
    assert pieces == (
        Change((1,), 3, 5),
        Change((1,), 5, 10),
        Change((1,), 10, 11),
        Change((2,), 3, INF),
    )


def test_coalesce_merges_up_to_its_limit() -> None:
    parts = [Change((1,), 0, 3), Change((1,), 3, 5), Change((1,), 5, 9), Change((1,), 9, INF)]
    assert _run(Coalesce(), *parts) == (Change((1,), 0, INF),)
    limited = _run(Coalesce(6), *parts)
    assert [(c.valid_from, c.valid_to) for c in limited] == [(0, 5), (5, 9), (9, INF)]
    assert consolidate(limited) == consolidate(parts)
