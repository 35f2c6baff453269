"""Strategies for plans that are all about time: bands, grids, windows and frames, nested.

Random plans over all operators seldom bound anything; here every relation is brought to a number
``k`` and a time ``t`` before it is used again, and every condition is about times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    FloorTo,
    Literal,
    Or,
    Ref,
    SnapshotTime,
)
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.ranking import Frame, FrameCall, FrameUnit, Over, TopN
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Named,
    NamedCall,
    Relation,
    Stream,
    Unnest,
)
from ebbtide.algebra.window import (
    Always,
    Cumulate,
    Dstream,
    Fixed,
    Hop,
    Istream,
    Now,
    Range,
    Rows,
    Rstream,
    Session,
    Sessions,
    Tumble,
    Unbounded,
    Window,
    WindowSpec,
)
from ebbtide.core.types import BIGINT, INT, INTERVAL, TIMESTAMP
from strategies.expressions import now_predicate_from
from strategies.sources import Source


@st.composite
def timed_plans(draw: st.DrawFn, sources: Sequence[Source], depth: int = 2) -> Relation:
    """Plans of at most ``depth`` operators above each other, facts or snapshots."""
    return _Garden(draw, sources).plant(draw(st.sampled_from([Kind.FACT, Kind.SNAPSHOT])), depth)


class _Garden:
    """Where one plan grows."""

    def __init__(self, draw: st.DrawFn, sources: Sequence[Source]) -> None:
        self.draw = draw
        self.streams = [source for source in sources if isinstance(source, Stream)]
        self.tables = [source for source in sources if isinstance(source, ChangingTable)]

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def plant(self, kind: Kind, depth: int) -> Relation:
        if depth == 0 or self.number(0, 6) == 0:
            return self.leaf(kind)
        both: list[Callable[[Kind, int], Relation]] = [
            self.join,
            self.join,
            self.partner,
            self.partner,
            self.outer,
            self.asof,
            self.set_operation,
            self.aggregate,
            self.aggregate,
            self.distinct,
            self.unnest,
            self.top,
            self.over,
        ]
        if kind is Kind.FACT:
            return self.draw(st.sampled_from([*both, self.assigned, self.streamed]))(kind, depth)
        return self.draw(st.sampled_from([*both, self.window, self.during]))(kind, depth)

    def leaf(self, kind: Kind) -> Relation:
        if kind is Kind.FACT:
            return self.shape(self.draw(st.sampled_from(self.streams)))
        if self.number(0, 2) == 0 and self.tables:
            return self.shape(self.draw(st.sampled_from(self.tables)))
        return self.window(kind, 1)

    def during(self, kind: Kind, depth: int) -> Relation:
        """Rows over the times that a condition on NOW() leaves, and as columns what it says."""
        below = self.below(kind, depth)
        if self.number(0, 3) == 0:
            always = Window(self.below(Kind.FACT, depth), Always(), "t")
            return Filter(always, self.validity(always))
        if self.number(0, 3) == 0:
            said = Named("s", now_predicate_from(self.draw, below.schema, 1))
            kept = (Named(column.name, Ref(column)) for column in below.schema)
            return Map(below, (*kept, said))
        return Filter(below, now_predicate_from(self.draw, below.schema, 1))

    def validity(self, rows: Relation) -> Expression:
        """That rows are valid from some time after theirs, or before it, for some time."""
        begin = Arithmetic("+", rows.ref("t"), Literal(self.number(-3, 3), INTERVAL))
        end = Arithmetic("+", begin, Literal(self.number(1, 5), INTERVAL))
        return And(Comparison(">=", SnapshotTime(), begin), Comparison("<", SnapshotTime(), end))

    def below(self, kind: Kind, depth: int) -> Relation:
        return self.shape(self.plant(kind, depth - 1))

    def shape(self, plan: Relation) -> Relation:
        """The plan as a number and a time."""
        numbers = [Ref(c) for c in plan.schema if c.type == BIGINT]
        times: list[Expression] = [Ref(c) for c in plan.schema if c.type == TIMESTAMP]
        time = self.draw(st.sampled_from(times)) if times else Literal(3, TIMESTAMP)
        form = self.number(0, 9)
        if form == 0:
            time = Arithmetic("+", time, Literal(self.number(-2, 2), INTERVAL))
        elif form == 1 and len(times) > 1:
            time = Call(self.draw(st.sampled_from(["GREATEST", "LEAST", "COALESCE"])), tuple(times))
        elif form == 2:
            time = FloorTo(time, 3)
        k = numbers[0] if numbers else Literal(1, BIGINT)
        return Map(plan, (Named("k", k), Named("t", time)))

    def pair(self, kind: Kind, depth: int) -> tuple[Relation, Relation, Expression]:
        left = Alias(self.below(kind, depth), "l")
        right = Alias(self.below(kind, min(depth, 1)), "r")
        return left, right, self.match(left, right)

    def match(self, left: Relation, right: Relation) -> Expression:
        band = self.band(left.ref("t"), right.ref("t"))
        if self.number(0, 4) == 0:
            band = Or(band, self.band(left.ref("t"), right.ref("t")))
        if self.number(0, 1):
            return And(Comparison("=", left.ref("k"), right.ref("k")), band)
        return band

    def band(self, a: Expression, b: Expression) -> Expression:
        low, length = self.number(-3, 3), self.number(0, 4)
        first = Arithmetic("+", a, Literal(low, INTERVAL))
        last = Arithmetic("+", a, Literal(low + length, INTERVAL))
        return And(Comparison(">=", b, first), Comparison("<=", b, last))

    def join(self, kind: Kind, depth: int) -> Relation:
        return Join(*self.pair(kind, depth))

    def partner(self, kind: Kind, depth: int) -> Relation:
        return self.draw(st.sampled_from([SemiJoin, AntiJoin]))(*self.pair(kind, depth))

    def outer(self, kind: Kind, depth: int) -> Relation:
        return OuterJoin(*self.pair(kind, depth), self.draw(st.sampled_from(list(Outer))))

    def asof(self, kind: Kind, depth: int) -> Relation:
        left, right, predicate = self.pair(kind, depth)
        op = self.draw(st.sampled_from(["<", "<=", ">", ">="]))
        near = And(Comparison(op, left.ref("l.t"), right.ref("r.t")), predicate)
        order = (SortKey(right.ref("r.t"), descending=op in (">", ">=")),)
        return AsofJoin(left, right, near, order, self.draw(st.booleans()))

    def set_operation(self, kind: Kind, depth: int) -> Relation:
        operators = [UnionAll, UnionAll, MaxUnion, Difference, StrictDifference, Intersection]
        return self.draw(st.sampled_from(operators))(
            self.below(kind, depth), self.below(kind, min(depth, 1))
        )

    def aggregate(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        time: Expression = below.ref("t")
        if self.number(0, 2):
            time = FloorTo(time, self.number(2, 5))
        keys = [Named("k", below.ref("k"))] if self.number(0, 1) else []
        if self.number(0, 4):
            keys.append(Named("t", time))
        latest = NamedCall("latest", AggregateCall("MAX", (below.ref("t"),)))
        return Aggregate(below, tuple(keys), (NamedCall("n", AggregateCall("COUNT")), latest))

    def unnest(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        column = self.draw(st.sampled_from(["k", "t"]))
        array = Call("ARRAY", (below.ref(column),) * self.number(1, 2))
        place = self.draw(st.sampled_from([None, "place"]))
        return Unnest(below, array, "items", "item", place, self.number(0, 1) == 1)

    def distinct(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        return Distinct(Filter(below, Comparison(">=", below.ref("k"), Literal(0, BIGINT))))

    def top(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        partition = FloorTo(below.ref("t"), self.number(2, 4))
        order = SortKey(below.ref("k"), self.number(0, 1) == 1)
        return TopN(below, self.number(1, 2), (order,), (partition,))

    def over(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        bounds = sorted((self.number(-3, 2), self.number(-3, 2)))
        unit = self.draw(st.sampled_from(list(FrameUnit)))
        calls = [AggregateCall("COUNT"), AggregateCall("LAG", (below.ref("k"), Literal(2, INT)))]
        if unit is FrameUnit.RANGE:
            calls.pop()
        return Over(
            below,
            (FrameCall("o", self.draw(st.sampled_from(calls))),),
            (below.ref("k"),) if self.number(0, 1) else (),
            (SortKey(below.ref("t"), self.number(0, 3) == 0),),
            Frame(unit, *bounds),
        )

    def assigned(self, kind: Kind, depth: int) -> Relation:
        below = self.below(kind, depth)
        size = self.number(1, 4)
        return self.draw(
            st.sampled_from(
                [
                    Tumble(below, "t", size, self.number(0, size - 1)),
                    Hop(below, "t", self.number(1, 3), size),
                    Session(below, "t", self.number(1, 3), ("k",) if self.number(0, 1) else ()),
                    Cumulate(below, "t", size, 2 * size, self.number(0, size - 1)),
                ]
            )
        )

    def streamed(self, kind: Kind, depth: int) -> Relation:
        below = self.below(Kind.SNAPSHOT, depth)
        return self.draw(
            st.sampled_from([Istream(below), Dstream(below), Rstream(below, self.number(2, 5))])
        )

    def window(self, kind: Kind, depth: int) -> Relation:
        below = self.below(Kind.FACT, depth)
        return Window(below, self.spec(), "t")

    def spec(self) -> WindowSpec:
        size = self.number(1, 5)
        partition = ("k",) if self.number(0, 1) else ()
        slide = self.draw(st.sampled_from([None, 2, 3]))
        specs: list[WindowSpec] = [
            Range(size),
            Range(size, self.number(1, 4)),
            Fixed(size),
            Now(),
            Unbounded(),
            Always(),
            Rows(self.number(1, 3), slide, partition),
            Sessions(self.number(1, 3), partition),
        ]
        return self.draw(st.sampled_from(specs))
