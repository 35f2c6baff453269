"""Windows of facts near the ends of the line failed, or went beyond it.

The ends are no instants, so a fact there is in no window; the windows of the last instants before
them end with the line.
"""

import pytest

from ebbtide.algebra import (
    Cumulate,
    Fixed,
    Hop,
    Now,
    Range,
    Relation,
    Rows,
    Session,
    Stream,
    Tumble,
    Unbounded,
    Window,
    WindowSpec,
)
from ebbtide.core.change import facts
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.reference import evaluate

S = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))
SPECS = [Range(5), Range(5, 3), Range(5, 1000), Fixed(7), Now(), Unbounded(), Rows(1)]
FUNCTIONS = [
    Tumble(S, "at", 7),
    Hop(S, "at", 3, 7),
    Session(S, "at", 5),
    Cumulate(S, "at", 2, 4),
]


def shown(plan: Relation, ts: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """What a plan makes of one fact."""
    changes = evaluate(plan, {"s": facts([(ts,)])})
    return [(change.valid_from, change.valid_to, change.row) for change in changes]


@pytest.mark.parametrize("ts", [NEG_INF, INF])
@pytest.mark.parametrize("plan", [Window(S, spec, on="at") for spec in SPECS] + FUNCTIONS, ids=str)
def test_an_end_of_the_line_is_no_time(plan: Relation, ts: int) -> None:
    assert shown(plan, ts) == []


@pytest.mark.parametrize("ts", [NEG_INF + 1, INF - 1])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_no_interval_goes_beyond_the_line(spec: WindowSpec, ts: int) -> None:
    for start, end, _ in shown(Window(S, spec, on="at"), ts):
        assert NEG_INF <= start < end <= INF


@pytest.mark.parametrize("ts", [NEG_INF + 1, INF - 1])
@pytest.mark.parametrize("plan", FUNCTIONS, ids=lambda plan: type(plan).__name__)
def test_no_window_goes_beyond_the_line(plan: Relation, ts: int) -> None:
    found = shown(plan, ts)
    assert found
    assert all(plan.schema.admits(row) for _, _, row in found)
