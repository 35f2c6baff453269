"""Windows and functions on facts that treat every change by itself, against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge

from ebbtide.algebra import window as logical
from ebbtide.core.change import Change, fact
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.windows.cumulate import Cumulate
from ebbtide.kernels.windows.hop import Hop
from ebbtide.kernels.windows.time import Fixed, Now, Range, Unbounded
from ebbtide.kernels.windows.tumble import Tumble
from ebbtide.state.batch import batch_schema, from_changes, to_changes


def _fact(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)), None if random.random() < 0.1 else 0)


FACTS = Input(schema(k="BIGINT", at="TIMESTAMP"), _fact, time=1)

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


CASES = [
    *(
        Case(logical.Window(FACTS.node, spec, "at"), kernel, (FACTS,), ((0,),))
        for spec, kernel in WINDOWS
    ),
    *(Case(node, kernel, (FACTS,), ((0,),)) for node, kernel in FUNCTIONS),
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
