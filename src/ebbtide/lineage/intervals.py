"""Lineage as intervals: a plan whose rows say from when to when their inputs came.

Law: without the columns that it adds, the plan means what the given one means, copy by copy.  Of
each stream there are two: the first and the last time of those of its rows that a row is made of,
which are the inputs that ``why`` names in the role ``source``; a row of OVER has those of its frame
and of the neighbours that it shows, too.  They are NULL where no row of the stream is among them.

    t1 t2 | t3 t4        times 1, 2, 3, 4
      o1      o2         [1, 2]  [3, 4]       smallest and largest of the group
          u1             [1, 4]               and of the groups above

This is what paper 3 stores of every output (section 3.2.2, table 2), as a rewrite: a row of a
stream has its own time twice, operators on single rows and joins pass times on, groups take the
smallest and the largest.  Tables have no times.  As long as the time of a stream is still there as
a column, it is read from there; it gets columns of its own where it would be lost.

Copies of a row may come of different inputs.  Operators that count copies do not say which of them
they leave, and streams of changes do not tell a new row from one that other inputs bring forth: for
these, and for recursion, nothing is stated, and they are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NoReturn, assert_never

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import (
    Call,
    Comparison,
    Expression,
    Literal,
    Ref,
    conjunction,
    conjuncts,
)
from ebbtide.algebra.operators import operator
from ebbtide.algebra.quarantine import operator_word, sides_of
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, FrameCall, Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
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
    StaticTable,
    Stream,
    Unnest,
    Values,
    View,
)
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import find, fold, rewrite
from ebbtide.errors import Span, UnsupportedError

Place = Callable[[Relation], Span | None]
"""Where an operator of the given plan stands in the text."""


def with_intervals(plan: Relation, place: Place = lambda _: None) -> Relation:
    """The plan with two more columns for each of its streams: ``<stream>_first`` and ``_last``."""
    carried = fold(plan, _Carrying(place).step)
    if not carried.spans:
        raise UnsupportedError(
            "lineage-unknown",
            "the query reads no stream, so its rows have no lineage to keep",
            detail="rows of tables have no times of their own",
            hint="leave out lineage = TRUE",
        )
    times = [
        Named(f"{source}_{end}", time)
        for source, span in carried.spans.items()
        for end, time in zip(("first", "last"), span, strict=True)
    ]
    return Map(carried.plan, (*carried.as_written(), *times))


@dataclass(frozen=True, slots=True)
class _Carried:
    """A plan that has the ``columns`` of the one that was written at these places, perhaps among
    others, and of which ``spans`` are the first and last times, by stream."""

    plan: Relation
    columns: tuple[int, ...]
    spans: Mapping[str, tuple[Expression, Expression]] = field(default_factory=dict)

    def as_written(self) -> tuple[Named, ...]:
        """The columns of the plan that was written."""
        return tuple(_same(self.plan.schema[place]) for place in self.columns)

    def in_front(self) -> _Carried:
        """The same with the columns that were written before all others: an order of all columns
        is then that of the plan that was written."""
        places = range(len(self.columns))
        if self.columns == tuple(places):
            return self
        rest = [c for i, c in enumerate(self.plan.schema) if i not in self.columns]
        plan = Map(self.plan, (*self.as_written(), *map(_same, rest)))
        return _Carried(plan, tuple(places), self.spans)

    def moved(self, to: Schema, by: int = 0) -> dict[str, tuple[Expression, Expression]]:
        """The spans over another schema, which has the columns of this one so much further on."""
        old = self.plan.schema

        def column(node: Expression) -> Expression:
            return Ref(to[old.index(node.column) + by]) if isinstance(node, Ref) else node

        return {
            source: (rewrite(low, column), rewrite(high, column))
            for source, (low, high) in self.spans.items()
        }


@dataclass(frozen=True, slots=True)
class _Carrying:
    place: Place
    numbers: Iterator[int] = field(default_factory=count)

    def step(self, node: Relation, below: tuple[_Carried, ...]) -> _Carried:
        """An operator over inputs that carry times."""
        relation = operator(node)
        match relation:
            case Stream():
                return self._stream(relation)
            case StaticTable() | ChangingTable() | Values():
                return _Carried(relation, tuple(range(len(relation.schema))))
            case View() | Alias() | Filter() | Unnest():
                return _passed(relation, below[0])
            case TopN() | Window() | Tumble() | Hop() | Session() | Cumulate():
                return _passed(relation, below[0].in_front())
            case Map():
                return self._map(relation, below[0])
            case Distinct():
                return self._distinct(relation, below[0])
            case Aggregate():
                return self._aggregate(relation, below[0].in_front())
            case Over():
                return self._over(relation, below[0].in_front())
            case Product() | Join() | OuterJoin():
                return _joined(relation, *below)
            case AsofJoin():
                return _joined(relation, below[0], below[1].in_front())
            case SemiJoin():
                return self._semi_join(relation, *below)
            case AntiJoin():
                # What is not there has no times.
                left = below[0]
                return replace(left, plan=replace(relation, left=left.plan))
            case UnionAll():
                return self._union(relation, *below)
            case MaxUnion() | Difference() | StrictDifference() | Intersection():
                self._refuse(relation, "which copies of a row it leaves is not said")
            case Istream() | Dstream() | Rstream():
                self._refuse(relation, "a row that other inputs bring forth is not a new one")
            case Recursion() | Recurrence():
                self._refuse(relation, "rows follow from one another without end")
            case _:
                assert_never(relation)

    def _refuse(self, node: Relation, why: str) -> NoReturn:
        raise UnsupportedError(
            "lineage-unknown",
            f"lineage cannot be kept as intervals through this operator: {operator_word(node)}",
            detail=why,
            hint="leave out lineage = TRUE; why() names the inputs of a row in any query",
            span=self.place(node),
        )

    def _fresh(self) -> str:
        """A name that no column has."""
        return f"lineage@{next(self.numbers)}"

    def _stream(self, node: Stream) -> _Carried:
        time = node.declaration.time
        if time is None:
            self._refuse(node, f'"{node.declaration.name}" has no time that progresses')
        at = node.ref(time)
        columns = tuple(range(len(node.schema)))
        return _Carried(node, columns, {node.declaration.name: (at, at)})

    def _map(self, node: Map, below: _Carried) -> _Carried:
        """Times that are no column of the result become one."""
        columns = list(node.columns)

        def named(time: Expression) -> int:
            for number, known in enumerate(columns):
                if known.expression == time:
                    return number
            columns.append(Named(self._fresh(), time))
            return len(columns) - 1

        places = {source: tuple(map(named, span)) for source, span in below.spans.items()}
        made = Map(below.plan, tuple(columns))
        return _Carried(made, tuple(range(len(node.columns))), _read(made, places))

    def _distinct(self, node: Distinct, below: _Carried) -> _Carried:
        """Equal rows are a group."""
        if not below.spans:
            return _passed(node, below)
        return self._grouped(below.plan, below.as_written(), (), below)

    def _aggregate(self, node: Aggregate, below: _Carried) -> _Carried:
        return self._grouped(below.plan, node.keys, node.calls, below)

    def _grouped(
        self,
        plan: Relation,
        keys: Sequence[Named],
        calls: Sequence[NamedCall],
        below: _Carried,
    ) -> _Carried:
        width = len(keys) + len(calls)
        more = [
            NamedCall(self._fresh(), AggregateCall(name, (time,)))
            for span in below.spans.values()
            for name, time in zip(("MIN", "MAX"), span, strict=True)
        ]
        made = Aggregate(plan, tuple(keys), (*calls, *more))
        return _Carried(made, tuple(range(width)), _read(made, _pairs(below.spans, width)))

    def _over(self, node: Over, below: _Carried) -> _Carried:
        """A row has its own times, those of its frame and those of its neighbours."""
        start = len(below.plan.schema)
        more: list[FrameCall] = []
        places: dict[str, tuple[list[int], list[int]]] = {s: ([], []) for s in below.spans}
        for source, span in below.spans.items():
            for lows_or_highs, name, time in zip(places[source], ("MIN", "MAX"), span, strict=True):
                for call in _shown(node, name, time):
                    lows_or_highs.append(start + len(node.calls) + len(more))
                    more.append(FrameCall(self._fresh(), call))
        made = replace(node, input=below.plan, calls=(*node.calls, *more))
        columns = (*below.columns, *range(start, start + len(node.calls)))
        spans = below.moved(made.schema)
        for source, (lows, highs) in places.items():
            low, high = spans[source]
            first = _least(low, *(Ref(made.schema[i]) for i in lows))
            spans[source] = first, _greatest(high, *(Ref(made.schema[i]) for i in highs))
        return _Carried(made, columns, spans)

    def _semi_join(self, node: SemiJoin, left: _Carried, right: _Carried) -> _Carried:
        """Partners by equality are a group of their own, which each left row meets at most once."""
        if not right.spans:
            return replace(left, plan=SemiJoin(left.plan, right.plan, node.predicate))
        keys: list[Named] = []
        equal: list[Expression] = []
        of_left: list[Expression] = []
        of_right: list[Expression] = []
        for term in conjuncts(node.predicate):
            sides = sides_of(term, node.left.schema, node.right.schema)
            if sides is not None:
                keys.append(Named(self._fresh(), sides[1]))
                equal.append(sides[0])
            elif _is_over(term, node.left.schema):
                of_left.append(term)
            elif _is_over(term, node.right.schema):
                of_right.append(term)
            else:
                self._refuse(node, "partners that meet by more than equality are not a group")
        if not keys:
            self._refuse(node, "partners that meet by no equality are not a group")
        some = Filter(right.plan, conjunction(tuple(of_right))) if of_right else right.plan
        groups = self._grouped(some, keys, (), right)
        met = [Comparison("=", one, Ref(groups.plan.schema[i])) for i, one in enumerate(equal)]
        predicate = conjunction((*met, *of_left))
        made = Join(left.plan, groups.plan, predicate)
        by = len(left.plan.schema)
        return _Carried(
            made, left.columns, _together(left.moved(made.schema), groups.moved(made.schema, by))
        )

    def _union(self, node: UnionAll, left: _Carried, right: _Carried) -> _Carried:
        """Both sides have all times; those of streams that a side does not read are NULL."""
        sources = {**left.spans, **right.spans}
        if not sources:
            return _Carried(node, tuple(range(len(node.schema))))
        names = {source: (self._fresh(), self._fresh()) for source in sources}

        def side(its: _Carried) -> Relation:
            missing = {s: tuple(Literal(None, e.type) for e in span) for s, span in sources.items()}
            times = [
                Named(name, time)
                for source, pair in names.items()
                for name, time in zip(pair, its.spans.get(source, missing[source]), strict=True)
            ]
            return Map(its.plan, (*its.as_written(), *times))

        made = UnionAll(side(left), side(right))
        width = len(node.schema)
        return _Carried(made, tuple(range(width)), _read(made, _pairs(sources, width)))


def _same(column: Column) -> Named:
    return Named(column.name, Ref(column), column.table)


def _passed(node: Relation, below: _Carried) -> _Carried:
    """An operator on single rows, which may add columns behind those of its input."""
    made = node.with_children((below.plan,))
    added = range(len(below.plan.schema), len(made.schema))
    return _Carried(made, (*below.columns, *added), below.moved(made.schema))


def _joined(node: Relation, left: _Carried, right: _Carried) -> _Carried:
    made = node.with_children((left.plan, right.plan))
    by = len(left.plan.schema)
    columns = (*left.columns, *(by + place for place in right.columns))
    return _Carried(made, columns, _together(left.moved(made.schema), right.moved(made.schema, by)))


def _together(
    one: Mapping[str, tuple[Expression, Expression]],
    other: Mapping[str, tuple[Expression, Expression]],
) -> dict[str, tuple[Expression, Expression]]:
    """The spans of a pair of rows: of a stream on both sides, around both."""
    both = {**one, **other}
    for source in one.keys() & other.keys():
        (low, high), (lower, higher) = one[source], other[source]
        both[source] = _least(low, lower), _greatest(high, higher)
    return both


def _shown(node: Over, name: str, time: Expression) -> Iterator[AggregateCall]:
    """The smallest or largest time in what the calls of a frame show."""
    calls = [framed.call for framed in node.calls if framed.call.name not in NUMBERINGS]
    if any(call.name not in NEIGHBOURS for call in calls):
        yield AggregateCall(name, (time,))
    near = {(call.name, call.arguments[1:2]) for call in calls if call.name in NEIGHBOURS}
    for neighbour, distance in sorted(near, key=str):
        yield AggregateCall(neighbour, (time, *distance))


def _pairs(sources: Mapping[str, object], start: int) -> dict[str, tuple[int, int]]:
    """Two places for each source, one after the other."""
    return {source: (start + 2 * i, start + 2 * i + 1) for i, source in enumerate(sources)}


def _read(
    plan: Relation, places: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[Expression, Expression]]:
    return {
        source: (Ref(plan.schema[low]), Ref(plan.schema[high]))
        for source, (low, high) in places.items()
    }


def _least(*times: Expression) -> Expression:
    return _of_several("LEAST", times)


def _greatest(*times: Expression) -> Expression:
    return _of_several("GREATEST", times)


def _of_several(name: str, times: Sequence[Expression]) -> Expression:
    different = tuple(dict.fromkeys(times))
    return different[0] if len(different) == 1 else Call(name, different)


def _is_over(term: Expression, schema: Schema) -> bool:
    known = {column.identity for column in schema}
    return all(ref.column.identity in known for ref in find(term, Ref))
