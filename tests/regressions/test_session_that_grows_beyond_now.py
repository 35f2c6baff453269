"""What is shown of the time after ``now`` does not depend on the steps in which it became known.

A row that made a session longer after ``now`` waited for the old end, so that rows were said to end
at 8 or at 11, by the cut.  So did a row that moves the next end point of DISTINCT, and one that
lets a semi join last longer.
"""

import pytest
from tests.histories import Fed
from tests.properties.test_engine_law import judged

from ebbtide.algebra import Comparison, Map, Named, Range, SemiJoin, Sessions, Unbounded, Window
from ebbtide.algebra.relation import Alias, Distinct, Relation
from ebbtide.core.change import Change
from strategies.arrivals import BIDS_LATE, REPORTS

EARLY, LATE = ("insert", (1, 3, 3)), ("insert", (1, 6, 6))


def _semi_join() -> Relation:
    left = Alias(Window(BIDS_LATE, Unbounded(), "at"), "l")
    right = Alias(Window(REPORTS, Range(5), "received"), "r")
    return SemiJoin(left, right, Comparison("=", left.ref("auction"), right.ref("auction")))


def _distinct() -> Relation:
    reports = Window(REPORTS, Range(5), "received")
    return Distinct(Map(reports, (Named("auction", reports.ref("auction")),)))


def test_a_session_ends_where_its_last_row_lets_it() -> None:
    plan = Window(REPORTS, Sessions(5), "received")
    one = judged(plan, [{"reports": Fed.of([EARLY, LATE])}], 1, collects=True)
    two = judged(
        plan, [{"reports": Fed.of([EARLY])}, {"reports": Fed.of([LATE], 1)}], 2, collects=True
    )
    assert one == two == (Change((1, 3, 3), 3, 11), Change((1, 6, 6), 6, 11))


@pytest.mark.parametrize("plan", [_semi_join(), _distinct()])
def test_neither_do_other_rows_that_last_longer(plan: Relation) -> None:
    bids = {"bids": Fed.of([("insert", (1, 0, 3))])}
    one = judged(plan, [{**bids, "reports": Fed.of([EARLY, LATE])}], 1, collects=True)
    two = judged(
        plan, [{**bids, "reports": Fed.of([EARLY])}, {"reports": Fed.of([LATE], 1)}], 2, True
    )
    assert one == two
