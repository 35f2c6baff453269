"""Grouping and aggregation on a multiset.

Law: NULLs group together; an aggregate skips rows in which an argument is NULL, counts equal
arguments once under DISTINCT, and only rows for which its filter is TRUE; without keys there is
one group, even if it is empty.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.relation import Aggregate
from ebbtide.core.change import Multiset
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, Value, normalise
from ebbtide.reference.ordering import place
from ebbtide.reference.scalar import evaluate


def aggregate(node: Aggregate, rows: Multiset) -> Multiset:
    """A row per group."""
    schema = node.input.schema
    groups: dict[Row, list[Row]] = defaultdict(list)
    if not node.keys:
        groups[()] = []
    for row in rows.elements():
        key = tuple(normalise(evaluate(named.expression, schema, row)) for named in node.keys)
        groups[key].append(row)
    return Counter(
        (*key, *(folded(named.call, schema, members) for named in node.calls))
        for key, members in groups.items()
    )


def folded(call: AggregateCall, schema: Schema, rows: Iterable[Row]) -> Value:
    """The value of an aggregate over a bag of rows."""
    function = call.function
    state = function.initial
    seen: set[Row] = set()
    order = place(call.order, schema)
    for row in sorted(rows, key=order):
        if call.filter is not None and evaluate(call.filter, schema, row) is not True:
            continue
        values = tuple(normalise(evaluate(a, schema, row)) for a in call.arguments)
        if not function.keeps_nulls and None in values:
            continue
        if call.distinct and values in seen:
            continue
        seen.add(values)
        state = function.accumulate(state, (*values, order(row)) if function.ordered else values)
    return normalise(function.result(state))
