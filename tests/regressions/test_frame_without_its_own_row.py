"""A row comes with itself, even if its frame has no row that can be there at the same time.

The analysis took a row to come only with rows of its frame.  Where none can be there, because the
frame lies a tick away in a window of a tick, it took every row to be final from the start.
"""

import pytest

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.ranking import Frame, FrameCall, FrameUnit, Over
from ebbtide.algebra.relation import Stream
from ebbtide.algebra.window import Range, Window
from ebbtide.analysis import analyse
from ebbtide.core.change import fact
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import NEG_INF
from ebbtide.core.types import TIMESTAMP
from soundness import forgetting_changes_nothing, what_has_passed_stays
from strategies.arrivals import Step

BIDS = Stream(
    StreamDeclaration("bids", Schema((Column("at", TIMESTAMP, False),)), promises=(Promise("at"),))
)
STEPS = [
    Step({}, {("bids", "at"): NEG_INF}, NEG_INF),
    Step({"bids": (fact((0,)),)}, {("bids", "at"): -1}, 0),
]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("away", [-1, 1])
def test_a_frame_a_tick_away(descending: bool, away: int) -> None:
    window = Window(BIDS, Range(1), "at")
    plan = Over(
        window,
        (FrameCall("n", AggregateCall("COUNT")),),
        order_by=(SortKey(window.ref("at"), descending),),
        frame=Frame(FrameUnit.RANGE, away, away),
    )
    assert str(analyse(plan).verdict.finality) == "when to - 1 us <= progress(bids.at)"
    assert what_has_passed_stays(plan, STEPS) is None
    assert forgetting_changes_nothing(plan, STEPS) is None
