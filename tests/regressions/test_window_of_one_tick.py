"""A window of one microsecond was never forgotten.

Its end bounds what can touch a row only by way of the row's time, so the condition on the end was
left out as idle; and then the one on the time, because windows imply it.
"""

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.relation import Aggregate, NamedCall, Stream
from ebbtide.algebra.window import Range, Window
from ebbtide.analysis.analysis import examine
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import TIMESTAMP


def test_a_window_of_one_tick_is_forgotten() -> None:
    schema = Schema((Column("at", TIMESTAMP, False),))
    ticks = Stream(StreamDeclaration("ticks", schema, promises=(Promise("at"),)))
    counted = NamedCall("n", AggregateCall("COUNT"))
    (kept,) = examine(Aggregate(Window(ticks, Range(1), "at"), (), (counted,))).kept
    assert not kept.rule.is_unbounded
    assert str(kept.rule) == "keep while at > progress(ticks.at) or to > now"
