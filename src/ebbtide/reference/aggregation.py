"""Grouping and aggregation on a multiset.

Law: NULLs group together; an aggregate skips rows in which an argument is NULL, counts equal
arguments once under DISTINCT, and only rows for which its filter is TRUE; without keys there is
one group, even if it is empty.  A row without a key is in no group; a row of which an aggregate
cannot take what it needs leaves no row for its group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.quarantine import MAY_HAVE_NO_VALUE, SUBQUERY_FAILS, call_word
from ebbtide.algebra.relation import Aggregate
from ebbtide.core.change import Multiset
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, Value, normalise, row_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.failed import Failed
from ebbtide.reference.ordering import place
from ebbtide.reference.quarantine import LeftOut, first_error, sound
from ebbtide.reference.scalar import evaluate


def aggregate(node: Aggregate, rows: Multiset, out: LeftOut) -> Multiset:
    """A row per group, but for the groups of which a part is an error."""
    schema = node.input.schema
    by = tuple(named.expression for named in node.keys)
    groups: dict[Row, list[Row]] = defaultdict(list)
    if not node.keys:
        groups[()] = []
    for row in sound(_plain(node), by, schema, rows, out).elements():
        groups[tuple(normalise(evaluate(key, schema, row)) for key in by)].append(row)
    result: Multiset = Counter()
    for key, members in groups.items():
        if _sound_group(node, members, out):
            result.update(_group(node, key, members, out))
        elif isinstance(node, SubqueryValue):
            failed = Failed(call_word(node.calls[0].call), SUBQUERY_FAILS.reason)
            result[(*key, *(failed for _ in node.calls))] += 1
    return result


@dataclass(frozen=True, slots=True)
class SubqueryValue(Aggregate):
    """The groups of a subquery that is a value of a row: one that is an error is there, as one.

    It is an error of the row that reads it, and not of the groups.
    """


def _sound_group(node: Aggregate, members: list[Row], out: LeftOut) -> bool:
    """Whether no row of a group is one on which the aggregates fail."""
    calls = tuple(named.call for named in node.calls)
    found = [(row, error_of_calls(calls, node.input.schema, row)) for row in members]
    for row, error in found:
        if error is not None:
            out.add(_plain(node), node.input.schema, row, error)
    return all(error is None for _, error in found)


def _plain(node: Aggregate) -> Aggregate:
    """The operator by its name."""
    return Aggregate(node.input, node.keys, node.calls)


def error_of_calls(
    calls: tuple[AggregateCall, ...], schema: Schema, row: Row
) -> EvaluationError | None:
    """The first error of what aggregates take of a row; nothing if they filter it out."""
    for call in calls:
        parts = (*call.arguments, *(key.expression for key in call.order))
        try:
            counts = call.filter is None or evaluate(call.filter, schema, row) is True
        except EvaluationError as error:
            return error
        failed = first_error(parts, schema, row) if counts else None
        if failed is not None:
            return failed
    return None


def _group(node: Aggregate, key: Row, members: list[Row], out: LeftOut) -> Multiset:
    """The row of a group, unless an aggregate has a value that does not fit."""
    values: list[Value] = []
    for call in (named.call for named in node.calls):
        value = folded_or_error(call, node.input.schema, members)
        if isinstance(value, EvaluationError) and isinstance(node, SubqueryValue):
            failed = Failed(value.expression or "", value.reason)
            return Counter([(*key, *(failed for _ in node.calls))])
        if isinstance(value, EvaluationError):
            out.add(node, Schema(tuple(named.column for named in node.keys)), key, value)
            return Counter()
        values.append(value)
    return Counter([(*key, *values)])


def folded_or_error(
    call: AggregateCall, schema: Schema, rows: Iterable[Row]
) -> Value | EvaluationError:
    """The value of an aggregate over a bag of rows, or why there is none."""
    try:
        return folded(call, schema, rows)
    except EvaluationError as error:
        if call.name not in MAY_HAVE_NO_VALUE and not call.function.own:
            raise
        return error.of(call_word(call))


def folded(call: AggregateCall, schema: Schema, rows: Iterable[Row]) -> Value:
    """The value of an aggregate over a bag of rows."""
    function = call.function
    seen: set[Row] = set()
    order = place(call.order, schema)
    taken: list[Row] = []
    for row in sorted(rows, key=order):
        if call.filter is not None and evaluate(call.filter, schema, row) is not True:
            continue
        values = tuple(normalise(evaluate(a, schema, row)) for a in call.arguments)
        if not function.keeps_nulls and None in values:
            continue
        if call.distinct and values in seen:
            continue
        seen.add(values)
        taken.append((*values, order(row)) if function.ordered else values)
    if function.own and not function.ordered:
        # Of several rows on which it fails, the first by its arguments is the one to be shown.
        taken.sort(key=row_key)
    return normalise(function.result(reduce(function.accumulate, taken, function.initial)))
