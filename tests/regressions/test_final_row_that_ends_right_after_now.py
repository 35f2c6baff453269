"""A final row whose end is decided right after ``now`` leaves when ``now`` gets there.

Rows of reports count from 8 us on, and the union emits nothing that begins after ``now``.  So the
anti join above it learns at 8 us, not before, that the bid ends there.
"""

from tests.final_law import held_to_finality
from tests.histories import Fed

from ebbtide.algebra import AntiJoin, Comparison, Map, MaxUnion, Named, Relation, Values, Window
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Alias
from ebbtide.algebra.window import Range, Rows
from ebbtide.core.schema import schema
from strategies.arrivals import BIDS_LATE, REPORTS

STEPS = [
    {"bids": Fed.of([("insert", (1, 0, 3))]), "reports": Fed.of([("insert", (0, 1, 5))])},
    {"bids": Fed(advance=8), "reports": Fed(advance=8)},
]


def _only(relation: Relation, name: str) -> Map:
    return Map(relation, (Named("c0", relation.ref(name)),))


def _bids_without_reports() -> AntiJoin:
    bids = Alias(Window(BIDS_LATE, Rows(2, 1, ("auction",)), "at"), "l")
    one = _only(Values(schema(x="BIGINT"), ((2,),)), "x")
    reports = Alias(MaxUnion(one, _only(Window(REPORTS, Range(5, 8), "received"), "auction")), "r")
    return AntiJoin(bids, reports, Comparison("=", bids.ref("price"), reports.ref("c0")))


def test_it_waits_for_now() -> None:
    assert held_to_finality([(_bids_without_reports(), Emit.FINAL)], STEPS, 1) == 0


def test_it_leaves_when_now_is_there() -> None:
    later = [*STEPS, {"bids": Fed(advance=9), "reports": Fed(advance=9)}]
    assert held_to_finality([(_bids_without_reports(), Emit.FINAL)], later, 1) == 1
