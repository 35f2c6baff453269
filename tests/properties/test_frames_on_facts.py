"""LAG, LEAD and frames of rows on streams without a window, held to the law and to their rule.

Random calls in the order of a time, alone and together, over streams with copies of rows, rows that
are deleted and replaced, and rows that come late; in steps down to one row, in 1 or 2 shards.
After every step the answer is the reference's, with collection and without, and the store holds
the last rows of each partition at or below the horizon and all after it, and no others.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.final_law import held_to_finality
from tests.histories import declarations_of, history, row_by_row
from tests.law import analysed, held_to

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Literal, Ref
from ebbtide.algebra.ranking import Frame, FrameCall, FrameUnit, Over
from ebbtide.algebra.relation import Relation, Stream
from ebbtide.analysis import When
from ebbtide.analysis.keep_rules import LastRows
from ebbtide.config import Config
from ebbtide.core.types import INT
from strategies.arrivals import BIDS_LATE, CLICKS_KEYED, REPORTS

CASES = {"quick": 15, "ci": 24, "long": 5000}[Config.from_environment().profile]


def number_of(stream: Stream) -> Ref:
    """A column with a few different values."""
    return Ref(next(c for c in stream.schema if c.type.sql == "BIGINT"))


def neighbour(name: str, stream: Stream, distance: int) -> AggregateCall:
    return AggregateCall(name, (number_of(stream), Literal(distance, INT)))


@st.composite
def framed(draw: st.DrawFn) -> Relation:
    """An Over by rows, on facts in the order of a time that progresses."""
    stream = draw(st.sampled_from((BIDS_LATE, CLICKS_KEYED, REPORTS)))
    time = SortKey(Ref(stream.schema.column("at")))
    more = draw(st.sampled_from(((), (SortKey(number_of(stream), descending=True),))))
    keys = draw(st.sampled_from(((), (number_of(stream),))))
    distance = st.integers(0, 3)
    calls = [
        neighbour(name, stream, draw(distance))
        for name in draw(st.lists(st.sampled_from(("LAG", "LEAD")), max_size=2))
    ]
    frame = None
    if not calls or draw(st.booleans()):
        start = draw(st.integers(-3, 2))
        frame = Frame(FrameUnit.ROWS, start, draw(st.integers(max(start, -2), 3)))
        calls.append(AggregateCall("SUM", (number_of(stream),)))
        if draw(st.booleans()):
            calls.append(AggregateCall("COUNT"))
    named = tuple(FrameCall(f"v{i}", call) for i, call in enumerate(calls))
    return Over(stream, named, keys, (time, *more), frame)


@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plan=framed(),
    seed=st.integers(0, 2**32),
    steps=st.integers(2, 6),
    fine=st.booleans(),
    shards=st.sampled_from((1, 2)),
)
def test_the_law(plan: Relation, seed: int, steps: int, fine: bool, shards: int) -> None:
    (kept,) = next(n.kept for n in analysed(plan).nodes() if isinstance(n.relation, Over))
    assert isinstance(kept.rule, LastRows)
    declarations = declarations_of(plan)
    told = history(Random(seed), declarations, steps, counts=(0, 1, 2, 4))
    told = row_by_row(told, declarations) if fine else told
    held_to([plan], told, shards)
    if analysed(plan).verdict.finality.when is not When.NEVER:
        held_to_finality([(plan, Emit.FINAL)], told, shards)


@pytest.mark.parametrize("copies", [1, 3])
def test_copies_of_a_row_have_values_of_their_own(copies: int) -> None:
    """A step that comes near to the last copy leaves those before it as they are."""
    from tests.histories import Fed

    frame = Frame(FrameUnit.ROWS, -1, 1)
    count = FrameCall("n", AggregateCall("COUNT"))
    at = SortKey(Ref(REPORTS.schema.column("at")))
    plan = Over(REPORTS, (count,), (), (at,), frame)
    steps = [
        {"reports": Fed.of([("insert", (0, 0, 0))])},
        {"reports": Fed.of([("insert", (0, 5, 5))] * copies, first=1)},
        {"reports": Fed.of([("insert", (0, 20, 20))], first=9)},
        {"reports": Fed.of([("insert", (0, 30, 30))], first=10)},
    ]
    (said,) = held_to([plan], steps, 1).values()
    assert sum(c.diff for c in said) == copies + 3
