"""Equations of grouping, ranking and frames: each is another way to say the same in SQL."""

from ebbtide.algebra import (
    Aggregate,
    AggregateCall,
    Alias,
    Comparison,
    Distinct,
    Filter,
    Frame,
    FrameCall,
    FrameUnit,
    Join,
    Literal,
    Map,
    Named,
    NamedCall,
    Over,
    Ranking,
    Ref,
    Relation,
    SortKey,
    TopN,
    UnionAll,
)
from ebbtide.core.types import BIGINT
from laws.worlds import ROW, A, B, World, columns, equation, on, where, worlds

ONE, TWO = worlds("a"), worlds("ab")
KEYS = (0, 1, 2, 3, -1, None)  # what the strategies put into a BIGINT


def x(below: Relation) -> Ref:
    """The first column."""
    return Ref(below.schema[0])


def y(below: Relation) -> Ref:
    """The second column."""
    return Ref(below.schema[1])


def grouped(below: Relation, *calls: AggregateCall, by: bool = True) -> Relation:
    """Aggregates per value of the first column, or over all rows."""
    keys = (Named("k", x(below)),) if by else ()
    return Aggregate(below, keys, tuple(NamedCall(f"n{i}", call) for i, call in enumerate(calls)))


def count(condition=None) -> AggregateCall:
    """COUNT(*), of the rows for which a condition holds."""
    return AggregateCall("COUNT", filter=condition)


def per_group() -> Relation:
    """The aggregate of each group by itself; the groups that are not there left out."""

    def one(key: int | None) -> Relation:
        group = Filter(A, Comparison("<=>", x(A), Literal(key, BIGINT)))
        alone = grouped(group, count(), AggregateCall("SUM", (x(A),)), by=False)
        there = Filter(alone, Comparison(">", Ref(alone.schema[0]), Literal(0, BIGINT)))
        named = [Named("k", Literal(key, BIGINT))]
        return Map(there, (*named, *(Named(c.name, Ref(c)) for c in there.schema)))

    result = one(KEYS[0])
    for key in KEYS[1:]:
        result = UnionAll(result, one(key))
    return result


def summed_counts(w: World) -> Relation:
    """The counts of two relations, added up."""
    parts = UnionAll(grouped(A, count()), grouped(B, count()))
    total = AggregateCall("SUM", (Ref(parts.schema[1]),))
    return grouped(parts, total)


def numbered(ranking: Ranking) -> Relation:
    """The rows of each partition with their number, the first two kept."""
    call = FrameCall("n", AggregateCall(ranking.value))
    over = Over(A, (call,), (y(A),), (SortKey(x(A)),))
    return columns(Filter(over, Comparison("<=", Ref(over.schema[2]), Literal(2, BIGINT))), 0, 1)


def joined_back() -> Relation:
    """Every row with the aggregate of its group, by a join."""
    totals = Alias(grouped(A, count(), AggregateCall("MAX", (y(A),))), "g")
    pairs = Join(A, totals, Comparison("<=>", x(A), Ref(totals.schema[0])))
    return columns(pairs, 0, 1, 3, 4)


def framed(frame: Frame | None, order: tuple[SortKey, ...] = ()) -> Relation:
    """Every row with aggregates over its frame."""
    calls = (FrameCall("n", count()), FrameCall("m", AggregateCall("MAX", (y(A),))))
    return columns(Over(A, calls, (x(A),), order, frame), 0, 1, 2, 3)


ASCENDING = (SortKey(y(A)),)
DESCENDING = (SortKey(y(A), descending=True),)

LAWS = [
    equation(
        "distinct is grouping by all columns",
        lambda w: (Distinct(A), Aggregate(A, (Named("x", x(A)), Named("y", y(A))), ())),
        ONE,
    ),
    equation(
        "grouping is the union of the groups by themselves",
        lambda w: (grouped(A, count(), AggregateCall("SUM", (x(A),))), per_group()),
        ONE,
    ),
    equation(
        "counts of a union add up",
        lambda w: (grouped(UnionAll(A, B), count()), summed_counts(w)),
        TWO,
    ),
    equation(
        "a filter of an aggregate is a filter below it",
        lambda w: (
            grouped(A, count(on(w.p, ROW, A.schema)), by=False),
            grouped(where(A, w.p), count(), by=False),
        ),
        ONE,
    ),
    equation(
        "a filter on the key commutes with grouping",
        lambda w: (
            Filter(
                grouped(A, count()),
                Comparison("=", Ref(grouped(A, count()).schema[0]), Literal(1, BIGINT)),
            ),
            grouped(Filter(A, Comparison("=", x(A), Literal(1, BIGINT))), count()),
        ),
        ONE,
    ),
    equation(
        "a distinct aggregate is the aggregate of the distinct values",
        lambda w: (
            grouped(A, AggregateCall("COUNT", (y(A),), distinct=True)),
            grouped(Distinct(A), AggregateCall("COUNT", (y(A),))),
        ),
        ONE,
    ),
    *(
        equation(
            f"top-n is a filter on {ranking.value}",
            lambda w, ranking=ranking: (
                columns(TopN(A, 2, (SortKey(x(A)),), (y(A),), ranking), 0, 1),
                numbered(ranking),
            ),
            ONE,
        )
        for ranking in Ranking
    ),
    equation(
        "top-n pages make the whole",
        lambda w: (
            UnionAll(TopN(A, 3, (SortKey(x(A)),)), TopN(A, 99, (SortKey(x(A)),), offset=3)),
            A,
        ),
        ONE,
    ),
    equation(
        "a frame of the whole partition is the aggregate joined back",
        lambda w: (framed(None), joined_back()),
        ONE,
    ),
    equation(
        "a frame without bounds needs no order",
        lambda w: (framed(Frame(FrameUnit.ROWS, None, None), ASCENDING), framed(None)),
        ONE,
    ),
    equation(
        "with an order the frame ends with the last peer",
        lambda w: (framed(None, ASCENDING), framed(Frame(FrameUnit.RANGE, None, 0), ASCENDING)),
        ONE,
    ),
    equation(
        "a frame before and the rest after turn with the order",
        lambda w: (
            framed(Frame(FrameUnit.RANGE, None, 0), ASCENDING),
            framed(Frame(FrameUnit.RANGE, 0, None), DESCENDING),
        ),
        ONE,
    ),
]
