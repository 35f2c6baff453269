"""Rows that begin after ``now`` are shown alike, however the input was cut and sharded.

They waited one by one, as changes had brought them: two that meet were shown as one row if they
came in one step, and a row with a gap was shown behind the gap if that became known later.
"""

from collections.abc import Callable

import pytest
from tests.histories import Fed
from tests.properties.test_engine_law import judged

from ebbtide.algebra import AntiJoin, Comparison, Literal, Map, Named, Range, SemiJoin, Window
from ebbtide.algebra.combination import Outer, OuterJoin
from ebbtide.algebra.relation import Alias, Relation
from ebbtide.core.types import BIGINT
from strategies.arrivals import BIDS_LATE, REPORTS

BID = {"bids": Fed.of([("insert", (1, 0, 3))])}


def _sides(left: Range, right: Range) -> tuple[Alias, Alias, Comparison]:
    bids = Alias(Window(BIDS_LATE, left, "at"), "l")
    reports = Alias(Window(REPORTS, right, "received"), "r")
    return bids, reports, Comparison("=", bids.ref("auction"), reports.ref("auction"))


def _report(received: int, number: int = 0) -> dict[str, Fed]:
    return {"reports": Fed.of([("insert", (1, received, received))], number)}


def _both(received: tuple[int, int]) -> dict[str, Fed]:
    return {"reports": Fed.of(("insert", (1, at, at)) for at in received)}


def test_windows_on_a_grid_that_meet() -> None:
    plan = SemiJoin(*_sides(Range(40), Range(6, 3)))
    one = judged(plan, [{**BID, **_both((4, 10))}], 1, collects=True)
    two = judged(plan, [{**BID, **_report(4)}, _report(10, 1)], 2, collects=True)
    assert one == two
    assert [(change.valid_from, change.valid_to) for change in one] == [(6, 18)]


@pytest.mark.parametrize(
    "joined",
    [AntiJoin, lambda left, right, on: OuterJoin(left, right, on, Outer.LEFT)],
    ids=["anti join", "left join"],
)
def test_a_row_without_a_partner_before_and_behind_it(joined: Callable[..., Relation]) -> None:
    plan = joined(*_sides(Range(17), Range(3)))
    one = judged(plan, [{**BID, **_report(5)}], 1, collects=True)
    two = judged(plan, [BID, _report(5)], 2, collects=True)
    assert one == two
    assert max(change.valid_to for change in one) == 8 - 3 * (joined is AntiJoin)


def test_equal_rows_of_several_shards() -> None:
    left, right, on = _sides(Range(4, 2), Range(3))
    plan = Map(AntiJoin(left, right, on), (Named("one", Literal(1, BIGINT)),))
    bids = Fed.of(("insert", (auction, 0, at)) for auction, at in ((0, 3), (1, 7), (2, 6)))
    outputs = {
        judged(plan, [{"bids": bids}, {"reports": Fed.of([("insert", (5, 6, 6))])}], n, True)
        for n in (1, 2, 7)
    }
    assert len(outputs) == 1
