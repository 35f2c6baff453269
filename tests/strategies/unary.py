"""Builders of random operators on one relation: filters, maps, groups, ranks and frames."""

from __future__ import annotations

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.coercion import call as call_of
from ebbtide.algebra.coercion import case
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.ranking import (
    NUMBERINGS,
    Frame,
    FrameCall,
    FrameUnit,
    Over,
    Ranking,
    TopN,
)
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Map,
    Named,
    NamedCall,
    Relation,
    Unnest,
    View,
)
from ebbtide.core.schema import Schema
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    TIMESTAMP,
    ArrayType,
    DoubleType,
    IntegerType,
    Type,
    is_numeric,
)
from strategies.expressions import now_predicate_from
from strategies.growth import Builder, Growth, plain, unused

SUMS = ("SUM", "AVG", "TRY_SUM", "TRY_AVG")
NUMERIC = (*SUMS, "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "MEDIAN")
COMPARED = ("COUNT", "MIN", "MAX", "MODE", "FIRST", "LAST", "COLLECT")
TRUTHS = ("BOOL_AND", "BOOL_OR")
SHARES = ("PERCENTILE", "PERCENTILE_DISC")
CHOICES = ("ARG_MIN", "ARG_MAX")
LIBRARY = ("COUNT(*)", *NUMERIC, *COMPARED, *TRUTHS, *SHARES, *CHOICES)


def filter_(growth: Growth) -> Relation:
    below = growth.input()
    if growth.kind is Kind.SNAPSHOT and growth.number(0, 2) == 0:
        return Filter(below, now_predicate_from(growth.draw, below.schema))
    return Filter(below, growth.predicate(below.schema))


def map_(growth: Growth) -> Relation:
    below = growth.input()
    types = [column.type for column in below.schema]
    wanted = [growth.choose([*types, BIGINT]) for _ in range(growth.number(1, 3))]
    times = [column for column in below.schema if column.type == TIMESTAMP]
    named = [Named(f"c{i}", growth.expression(below.schema, t)) for i, t in enumerate(wanted)]
    if times and growth.number(0, 1):
        named.append(Named(f"c{len(named)}", Ref(growth.choose(times))))
    if growth.kind is Kind.SNAPSHOT and growth.number(0, 3) == 0:
        named.append(Named(f"c{len(named)}", now_predicate_from(growth.draw, below.schema)))
    return Map(below, tuple(named))


def distinct(growth: Growth) -> Relation:
    return Distinct(growth.input())


def view(growth: Growth) -> Relation:
    return View("v", growth.input())


def alias(growth: Growth) -> Relation:
    return Alias(plain(growth.input()), growth.choose("ab"))


def unnest(growth: Growth) -> Relation:
    below = plain(growth.input(multiply=growth.multiply - 1))
    place = growth.choose([None, unused(below.schema, "p")])
    item = unused(below.schema, "u")
    return Unnest(
        below, _array(growth, below.schema), "items", item, place, growth.number(0, 1) == 1
    )


def _array(growth: Growth, schema: Schema) -> Expression:
    """A column that is an array, or an array of up to two values, or none."""
    arrays: list[Expression] = [Ref(c) for c in schema if isinstance(c.type, ArrayType)]
    if arrays and growth.number(0, 1):
        return growth.choose(arrays)
    type_ = growth.choose([column.type for column in schema])
    items = [growth.expression(schema, type_) for _ in range(growth.number(1, 2))]
    made = call_of("ARRAY", tuple(items))
    if growth.number(0, 2):
        return made
    return case(((growth.predicate(schema, 0), made),), None)


def aggregate(growth: Growth) -> Relation:
    below = growth.input()
    keys = growth.columns(below.schema, 0, 2)
    calls = growth.number(0 if keys else 1, 2)
    return Aggregate(
        below,
        tuple(Named(f"k{i}", key) for i, key in enumerate(keys)),
        tuple(NamedCall(f"a{i}", call(growth, below.schema)) for i in range(calls)),
    )


def top_n(growth: Growth) -> Relation:
    below = plain(growth.input())
    return TopN(
        below,
        count=growth.number(0, 3),
        order_by=order(growth, below.schema, 1),
        partition_by=tuple(growth.columns(below.schema, 0, 1)),
        ranking=growth.choose(list(Ranking)),
        offset=growth.choose([0, 0, 1]),
        number_as=growth.choose([None, unused(below.schema, "n")]),
    )


def over(growth: Growth) -> Relation:
    below = plain(growth.input())
    frame, order_by = _frame(growth, below.schema)
    calls = []
    for i in range(growth.number(1, 2)):
        name = unused(below.schema, f"o{i}_")
        calls.append(FrameCall(name, _frame_call(growth, below.schema)))
    partition = tuple(growth.columns(below.schema, 0, 1))
    return Over(below, tuple(calls), partition, order_by, frame)


def call(growth: Growth, schema: Schema, ordered: bool = True) -> AggregateCall:
    """A call of some aggregate of the library."""
    name = growth.choose(LIBRARY)
    distinct = growth.choose([False, False, True])
    order_by = order(growth, schema, 0) if ordered and name in (*COMPARED[4:], *CHOICES) else ()
    condition = growth.predicate(schema, 0) if growth.number(0, 3) == 3 else None
    if name == "COUNT(*)":
        return AggregateCall("COUNT", filter=condition)
    return AggregateCall(name, _arguments(growth, schema, name), distinct, condition, order_by)


def order(growth: Growth, schema: Schema, least: int) -> tuple[SortKey, ...]:
    """An order by some columns."""
    return tuple(
        SortKey(key, growth.number(0, 1) == 1, growth.choose([None, True, False]))
        for key in growth.columns(schema, least, 2)
    )


def _arguments(growth: Growth, schema: Schema, name: str) -> tuple[Expression, ...]:
    def one(types: list[Type], otherwise: Type) -> Expression:
        return growth.expression(schema, growth.choose(types or [otherwise]))

    every = [column.type for column in schema]
    numeric = [type_ for type_ in every if is_numeric(type_)]
    if name in NUMERIC:
        return (one(numeric, BIGINT),)
    if name in TRUTHS:
        return (growth.expression(schema, BOOLEAN),)
    if name in SHARES:
        return (one(numeric, BIGINT), Literal(growth.choose([0.0, 0.25, 0.5, 1.0]), DOUBLE))
    if name in CHOICES:
        return (one(every, BIGINT), one(every, BIGINT))
    return (one(every, BIGINT),)


def _frame_call(growth: Growth, schema: Schema) -> AggregateCall:
    name = growth.choose([*sorted(NUMBERINGS), "LAG", "LEAD", "", "", ""])
    if not name:
        return call(growth, schema)
    if name in NUMBERINGS:
        return AggregateCall(name)
    value = Ref(growth.choose(schema.columns))
    distance = Literal(growth.number(0, 2), INT)
    default = growth.expression(schema, value.type)
    options: list[tuple[Expression, ...]] = [(), (distance,), (distance, default)]
    return AggregateCall(name, (value, *growth.choose(options)))


def _frame(growth: Growth, schema: Schema) -> tuple[Frame | None, tuple[SortKey, ...]]:
    unit = growth.choose([None, *FrameUnit])
    bounds = growth.number(-3, 2), growth.number(-2, 3)
    start, end = growth.choose([None, min(bounds)]), growth.choose([None, max(bounds)])
    counted = [Ref(c) for c in schema if _is_counted(c.type)]
    if unit is FrameUnit.RANGE and counted:
        key = SortKey(growth.choose(counted), growth.number(0, 1) == 1)
        return Frame(unit, start, end), (key,)
    if unit is FrameUnit.ROWS:
        return Frame(unit, start, end), order(growth, schema, 1)
    return None, order(growth, schema, 0)


def _is_counted(type_: Type) -> bool:
    return type_ == TIMESTAMP or isinstance(type_, IntegerType | DoubleType)


UNARY: dict[type[Relation], Builder] = {
    Filter: filter_,
    Map: map_,
    Distinct: distinct,
    View: view,
    Alias: alias,
    Aggregate: aggregate,
    TopN: top_n,
    Over: over,
}

MULTIPLYING_ROWS: dict[type[Relation], Builder] = {Unnest: unnest}
