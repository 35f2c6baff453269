"""Top-n and frames against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge

from ebbtide.algebra import ranking as logical
from ebbtide.algebra.call import SortKey
from ebbtide.core.schema import schema
from ebbtide.core.values import NAN
from ebbtide.kernels.numbering import Ranking
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.top_n import TopN


def _row(random: Random) -> tuple[Any, ...]:
    value = random.choice((0.0, 1.5, 2.0, None, NAN))
    return (random.choice((0, 1, None)), value, random.choice("ab"), random.choice((1, 2, None)))


RELATION = Input(schema(k="BIGINT", x="DOUBLE", s="STRING", v="BIGINT"), _row)

SORTS = st.lists(
    st.builds(SortColumn, st.integers(1, 3), st.booleans(), st.booleans()), max_size=2
).map(tuple)


def _sort_keys(order: tuple[SortColumn, ...]) -> tuple[SortKey, ...]:
    names = RELATION.schema.names
    return tuple(
        SortKey(RELATION.node.ref(names[sort.column]), sort.descending, sort.nulls_first)
        for sort in order
    )


@given(
    count=st.integers(0, 3),
    offset=st.integers(0, 2),
    order=SORTS,
    ranking=st.sampled_from(list(Ranking)),
    partitioned=st.booleans(),
    numbered=st.booleans(),
    way=WAYS,
)
def test_oracle_top_n(
    count: int,
    offset: int,
    order: tuple[SortColumn, ...],
    ranking: Ranking,
    partitioned: bool,
    numbered: bool,
    way: Way,
) -> None:
    node = logical.TopN(
        RELATION.node,
        count,
        _sort_keys(order),
        (RELATION.node.ref("k"),) if partitioned else (),
        logical.Ranking(ranking.name),
        offset,
        "number" if numbered else None,
    )
    partition = (0,) if partitioned else ()
    kernel = TopN(count, order, partition, ranking, offset, numbered)
    judge(Case(node, kernel, (RELATION,), (partition,)), way)
