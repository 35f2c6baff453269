"""A segment stays while its bounds do, though each of its rows is past by one time or the other."""

from __future__ import annotations

from tests.histories import Fed
from tests.law import held_to

from ebbtide.algebra.relation import Distinct
from ebbtide.core.admission import Arrival, Op
from strategies.arrivals import REPORTS


def test_rows_that_are_past_by_different_times() -> None:
    rows = ((2, 1, 2), (2, 2, 1)), ((1, 4, 3),), ((1, 9, 9),)
    arrivals = [tuple(Arrival(Op.INSERT, row, n) for n, row in enumerate(some)) for some in rows]
    held_to([Distinct(REPORTS)], [{"reports": Fed(some, None)} for some in arrivals], 1)
