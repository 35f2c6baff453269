"""Numbering the rows of partitions, and frames of rows around a row, on a multiset.

Law: equal rows are different rows here, next to each other in the order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.ranking import (
    NEIGHBOURS,
    NUMBERINGS,
    Frame,
    FrameUnit,
    Over,
    Ranking,
    TopN,
)
from ebbtide.core.change import Multiset
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, Value, normalise
from ebbtide.errors import EvaluationError
from ebbtide.reference.aggregation import error_of_calls, folded_or_error
from ebbtide.reference.ordering import by, part, place
from ebbtide.reference.quarantine import LeftOut, first_error, sound
from ebbtide.reference.scalar import evaluate


def top(node: TopN, rows: Multiset, out: LeftOut) -> Multiset:
    """The rows of each partition with the wanted numbers."""
    schema = node.input.schema
    rows = sound(node, (*node.partition_by, *_keys(node.order_by)), schema, rows, out)
    result: Multiset = Counter()
    for members in _partitions(rows, node.partition_by, node.order_by, schema):
        numbers = _numbers(node.ranking, members, by(node.order_by, schema))
        for row, number in zip(members, numbers, strict=True):
            if node.offset < number <= node.offset + node.count:
                result[row if node.number_as is None else (*row, number)] += 1
    return result


def framed(node: Over, rows: Multiset, out: LeftOut) -> Multiset:
    """Every row with its calls' values; one on which a part of them fails is not there."""
    schema = node.input.schema
    calls = tuple(framed.call for framed in node.calls)
    sought = (*node.partition_by, *_keys(node.order_by))
    kept: Multiset = Counter()
    for row, copies in rows.items():
        error = error_of_calls(calls, schema, row) or first_error(sought, schema, row)
        if error is None:
            kept[row] = copies
        else:
            out.add(node, schema, row, error, copies)
    rows = kept
    result: Multiset = Counter()
    for members in _partitions(rows, node.partition_by, node.order_by, schema):
        columns = [_column(node, call.call, members) for call in node.calls]
        for row, *values in zip(members, *columns, strict=True):
            failed = next((value for value in values if isinstance(value, EvaluationError)), None)
            if failed is None:
                result[(*row, *(normalise(value) for value in values))] += 1
            else:
                out.add(node, schema, row, failed)
    return result


def _keys(order: tuple[SortKey, ...]) -> tuple[Expression, ...]:
    return tuple(key.expression for key in order)


def _partitions(
    rows: Multiset,
    keys: tuple[Expression, ...],
    order: tuple[SortKey, ...],
    schema: Schema,
) -> Iterator[list[Row]]:
    partitions: dict[Row, list[Row]] = defaultdict(list)
    for row in rows.elements():
        key = tuple(normalise(evaluate(expression, schema, row)) for expression in keys)
        partitions[key].append(row)
    for members in partitions.values():
        yield sorted(members, key=place(order, schema))


def _numbers(ranking: Ranking, rows: list[Row], key: Callable[[Row], Any]) -> list[int]:
    numbers: list[int] = []
    for index, row in enumerate(rows):
        peer = index > 0 and key(rows[index - 1]) == key(row)
        match ranking:
            case Ranking.ROW_NUMBER:
                numbers.append(index + 1)
            case Ranking.RANK:
                numbers.append(numbers[-1] if peer else index + 1)
            case Ranking.DENSE_RANK:
                numbers.append((numbers[-1] if numbers else 0) + (not peer))
    return numbers


def _column(node: Over, call: AggregateCall, rows: list[Row]) -> list[Value | EvaluationError]:
    """The value for every row, or why a sum has none."""
    schema = node.input.schema
    if call.name in NUMBERINGS:
        return list(_numbers(Ranking(call.name), rows, by(node.order_by, schema)))
    if call.name in NEIGHBOURS:
        return [_neighbour(call, schema, rows, index) for index in range(len(rows))]
    default = Frame(FrameUnit.RANGE, None, 0 if node.order_by else None)
    frame = node.frame or default
    frames = (_frame(frame, node.order_by, schema, rows, index) for index in range(len(rows)))
    return [folded_or_error(call, schema, members) for members in frames]


def _neighbour(call: AggregateCall, schema: Schema, rows: list[Row], index: int) -> Value:
    value, *options = call.arguments
    distance = evaluate(options[0], schema, rows[index]) if options else 1
    other = index - distance if call.name == "LAG" else index + distance
    if 0 <= other < len(rows):
        return evaluate(value, schema, rows[other])
    return evaluate(options[1], schema, rows[index]) if len(options) > 1 else None


def _frame(
    frame: Frame, order: tuple[SortKey, ...], schema: Schema, rows: list[Row], index: int
) -> list[Row]:
    if frame.unit is FrameUnit.ROWS:
        start = 0 if frame.start is None else max(0, index + frame.start)
        end = len(rows) if frame.end is None else max(0, index + frame.end + 1)
        return rows[start:end]
    key = by(order, schema)
    low = _bound(frame.start, order, schema, rows[index])
    high = _bound(frame.end, order, schema, rows[index])
    return [
        row
        for row in rows
        if (low is None or low <= key(row)) and (high is None or key(row) <= high)
    ]


def _bound(
    offset: int | None, order: tuple[SortKey, ...], schema: Schema, current: Row
) -> tuple[Any, ...] | None:
    """The place in the order that lies an offset after the current row; None is no bound.

    NULL, NaN and the infinities lie nowhere else, however far one goes: their peers do.
    """
    if offset is None:
        return None
    if offset:
        here = evaluate(order[0].expression, schema, current)
        if here is not None:
            return (part(order[0], here - offset if order[0].descending else here + offset),)
    return by(order, schema)(current)
