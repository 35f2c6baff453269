"""A union or semi join of rows that never change with rows that come is no relation that never
changes.

Where the static side stood first, it was taken for one; so a count above it was said to be final at
once, and was then taken back.
"""

import pytest

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import Intersection, MaxUnion, SemiJoin, UnionAll
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Comparison
from ebbtide.algebra.relation import Aggregate, Alias, Map, Named, NamedCall, Relation
from ebbtide.analysis import When, analyse
from strategies.arrivals import BIDS_LATE
from strategies.sources import SHOPS


def _only(relation: Relation) -> Map:
    return Map(relation, (Named("auction", relation.ref("auction")),))


def _semi_join() -> SemiJoin:
    shops, bids = Alias(SHOPS, "shops"), Alias(BIDS_LATE, "bids")
    return SemiJoin(shops, bids, Comparison("=", shops.ref("auction"), bids.ref("auction")))


@pytest.mark.parametrize(
    "rows",
    [
        UnionAll(_only(SHOPS), _only(BIDS_LATE)),
        UnionAll(_only(BIDS_LATE), _only(SHOPS)),
        MaxUnion(_only(SHOPS), _only(BIDS_LATE)),
        Intersection(_only(SHOPS), _only(BIDS_LATE)),
        _semi_join(),
    ],
)
def test_their_number_is_not_final_at_once(rows: Relation) -> None:
    count = Aggregate(rows, (), (NamedCall("n", AggregateCall("COUNT")),))
    analysis = analyse(count, Emit.CHANGES)
    assert analysis.verdict.finality.when is When.NEVER
    assert analysis.root.monotonicity.has_negatives


def test_a_number_of_static_rows_is() -> None:
    count = Aggregate(
        UnionAll(_only(SHOPS), _only(SHOPS)), (), (NamedCall("n", AggregateCall("COUNT")),)
    )
    assert analyse(count, Emit.FINAL).verdict.finality.when is When.AT_ONCE
