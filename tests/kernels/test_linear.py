"""Windows and functions on facts that treat every change by itself, against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge
from tests.kernels.windows import InWindows, Windowed

from ebbtide.algebra import window as logical
from ebbtide.core.change import Change, fact
from ebbtide.core.schema import schema
from ebbtide.kernels.windows.cumulate import Cumulate
from ebbtide.kernels.windows.hop import Hop
from ebbtide.state.batch import batch_schema, from_changes, to_changes


def _fact(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)), None if random.random() < 0.1 else 0)


FACTS = Input(schema(k="BIGINT", at="TIMESTAMP"), _fact, time=1)

WINDOWS = [
    logical.Range(7),
    logical.Range(7, 3),
    logical.Range(2, 5),
    logical.Fixed(4),
    logical.Now(),
    logical.Unbounded(),
    logical.Always(),
]
PIPED = [
    logical.Tumble(FACTS.node, "at", 5, 2),
    logical.Tumble(FACTS.node, "at", 5),
    logical.Hop(FACTS.node, "at", 2, 5, 1),
    logical.Hop(FACTS.node, "at", 2, 5),
    logical.Hop(FACTS.node, "at", 5, 2),
    logical.Hop(FACTS.node, "at", 3, 6),
    logical.Hop(FACTS.node, "at", 3, 7, 2),
]
FUNCTIONS = [
    *((node, InWindows(node)) for node in PIPED),
    (logical.Hop(FACTS.node, "at", 2, 5, 1), Hop(1, 2, 5, 1)),
    (logical.Cumulate(FACTS.node, "at", 2, 6, 5), Cumulate(1, 2, 6, 5)),
    (logical.Hop(FACTS.node, "at", 2, 5), Hop(1, 2, 5)),
    (logical.Hop(FACTS.node, "at", 5, 2), Hop(1, 5, 2)),
    (logical.Hop(FACTS.node, "at", 3, 6), Hop(1, 3, 6)),
    (logical.Cumulate(FACTS.node, "at", 2, 6), Cumulate(1, 2, 6)),
]


CASES = [
    *(
        Case(logical.Window(FACTS.node, s, "at"), Windowed(FACTS.schema, s), (FACTS,), ((0,),))
        for s in WINDOWS
    ),
    *(Case(node, kernel, (FACTS,), ((0,),)) for node, kernel in FUNCTIONS),
]


@given(case=st.sampled_from(CASES), way=WAYS)
def test_oracle(case: Case, way: Way) -> None:
    judge(case, way)


def _shown(spec: logical.WindowSpec, ts: int) -> tuple[Change, ...]:
    facts = from_changes([fact((ts,))], batch_schema([pa.int64()]))
    return to_changes(Windowed(schema(at="TIMESTAMP"), spec).changes(facts))


def test_a_slide_may_show_a_fact_never() -> None:
    #  ts=1, d=2, s=5:  CEIL(1 TO 5) = 5 = CEIL(3 TO 5)
    assert _shown(logical.Range(2, 5), 1) == ()
    assert _shown(logical.Range(2, 5), 4) == (Change((4,), 5, 10),)
