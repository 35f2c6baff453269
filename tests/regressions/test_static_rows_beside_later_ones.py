"""What follows of rows that are all there from the start is said at once, however late it begins.

Shops count from 4 us to 12 us, and only those that are among all shops.  Nothing is to come that
could meet either side, so nothing was kept; and nothing was to come from the two, so nothing was
kept that could meet them.  But what they have in common came when ``now`` did.

    left           4 |-------) 12
    right     |------------------>
    bids        2 |-------) 11
"""

from pathlib import Path

import pytest
from tests.histories import Fed
from tests.law import held_to

from ebbtide import Engine
from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import Difference, Intersection, Join, MaxUnion, UnionAll
from ebbtide.algebra.expression import Comparison, Literal
from ebbtide.algebra.relation import Aggregate, Alias, Map, Named, NamedCall, Relation
from ebbtide.algebra.window import Range, Window
from ebbtide.analysis import analyse
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.core.types import TIMESTAMP
from strategies.arrivals import BIDS_LATE
from strategies.sources import SHOPS

STEPS = [
    {"shops": Fed.of([("insert", (1, "a")), ("insert", (0, None)), ("insert", (1, "b"))])},
    *({"bids": Fed.of([("insert", (1, 0, at))])} for at in (2, 4, 7)),
    {"bids": Fed(advance=20)},
]


def _only(relation: Relation) -> Map:
    return Map(relation, (Named("auction", relation.ref("auction")),))


def _later() -> Map:
    at = Named("at", Literal(1, TIMESTAMP))
    known = Map(SHOPS, (Named("auction", SHOPS.ref("auction")), at))
    return _only(Window(known, Range(8, 4), "at"))


@pytest.mark.parametrize(
    "shops",
    [
        Intersection(_later(), _only(SHOPS)),
        Intersection(_only(SHOPS), _later(), all=True),
        Difference(_only(SHOPS), _later()),
        MaxUnion(_later(), _only(SHOPS)),
        Aggregate(_later(), (), (NamedCall("auction", AggregateCall("COUNT")),)),
    ],
)
@pytest.mark.parametrize("shards", [1, 2])
def test_they_meet_when_the_others_begin(shops: Relation, shards: int) -> None:
    bids = _only(Window(BIDS_LATE, Range(9), "at"))
    held_to([UnionAll(shops, bids)], STEPS, shards)
    left, right = Alias(shops, "l"), Alias(bids, "r")
    same = Comparison("=", left.ref("auction"), right.ref("auction"))
    held_to([Join(left, right, same)], STEPS, shards)


def test_nothing_is_kept_where_nothing_is_to_come() -> None:
    assert analyse(Intersection(_later(), _only(SHOPS))).root.stores == ()


def test_what_never_ends_is_kept_beside_what_does() -> None:
    bids = _only(Window(BIDS_LATE, Range(5, 8), "at"))
    of_bids, of_shops = analyse(Intersection(bids, _only(SHOPS))).root.kept
    assert isinstance(of_shops.rule, ByTime)
    assert of_shops.rule.turns
    assert isinstance(of_bids.rule, ByTime)
    assert of_bids.rule.turns


def test_rates_that_begin_after_the_row_that_meets_them(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(
        """CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE TABLE rates (k BIGINT, rate BIGINT, since TIMESTAMP, until TIMESTAMP);"""
    )
    query = engine.query(
        """SELECT s.k, r.best FROM s [RANGE 10 SECONDS] JOIN (SELECT k, MAX(rate) AS best
          FROM rates [VALID FROM since TO until ON since] GROUP BY k) r ON s.k = r.k""",
        "q",
    )
    engine.feed("rates", [(1, 5, 4_000_000, 30_000_000)])
    query.start()
    engine.feed("s", [(1, 2_000_000)])
    engine.step()
    assert query.snapshot().to_pylist() == []
    engine.feed("s", [(2, 5_000_000)])
    engine.step()
    assert query.snapshot().to_pylist() == [{"k": 1, "best": 5}]
    engine.stop()
