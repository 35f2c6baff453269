"""Aggregates given as five functions.

Law: a group's state at an instant is ``accumulate`` over its valid rows.  A row that ends is
retracted where the aggregate knows how; else the state is made anew from the rows that are left.
Where the functions fail and the call ``reports``, that is the result, and the state is made anew
with every change until they do not: as reported is the failure of the rows in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.core.values import normalise, row_key
from ebbtide.errors import EvaluationError
from ebbtide.kernels.aggregates.call import Call, Folding
from ebbtide.kernels.sweeps.spans import Marks, Spans
from ebbtide.state.arrays import Ints, order_by
from ebbtide.state.columns import column, plain


@dataclass(frozen=True, slots=True)
class Last:
    """The value of the last row, for LAST(DISTINCT): the last of those that count."""

    initial: Any = None
    ordered: bool = True
    keeps_nulls: bool = True
    retract: None = None

    def accumulate(self, state: Any, row: tuple[Any, ...]) -> Any:
        return row if state is None or row[1] > state[1] else state

    def merge(self, left: Any, right: Any) -> Any:
        return left if right is None else self.accumulate(left, right)

    def result(self, state: Any) -> Any:
        return None if state is None else state[0]


def folded(
    call: Call, function: Folding, table: Any, spans: Spans, places: Ints, marks: Marks
) -> Any:
    """The column of results at the marks (sorted by group, time).

    ``places`` has each span's place in the order of rows, for functions that want it.
    """
    columns = [column(table, index).to_pylist() for index in call.arguments]
    arguments = [
        tuple(normalise(plain(values[row])) for values in columns) for row in spans.rows.tolist()
    ]
    if function.ordered:
        pairs = zip(arguments, places.tolist(), strict=True)
        arguments = [(*values, place) for values, place in pairs]
    results = _fold(call, function, spans, arguments, marks)
    return pa.array([normalise(result) for result in results], call.type)


def _fold(
    call: Call, function: Folding, spans: Spans, arguments: list[Any], marks: Marks
) -> Iterator[Any]:
    begin = order_by(spans.groups, spans.starts).tolist()
    end = order_by(spans.groups, spans.ends).tolist()
    span_groups, starts, ends = spans.groups.tolist(), spans.starts.tolist(), spans.ends.tolist()
    diff = spans.diff.tolist()
    rebuilds = function.retract is None or (call.distinct and function.ordered)
    i = j = 0
    current, state = -1, function.initial
    live: dict[int, None] = {}
    for group, t in zip(marks.groups.tolist(), marks.at.tolist(), strict=True):
        if group != current:
            current, state, live = group, function.initial, {}
            while i < len(begin) and span_groups[begin[i]] < group:
                i += 1
            while j < len(end) and span_groups[end[j]] < group:
                j += 1
        came, gone = [], []
        while i < len(begin) and span_groups[begin[i]] == group and starts[begin[i]] <= t:
            came.append(begin[i])
            i += 1
        while j < len(end) and span_groups[end[j]] == group and ends[end[j]] <= t:
            gone.append(end[j])
            j += 1
        live.update(dict.fromkeys(came))
        for row in gone:
            del live[row]
        try:
            if state is _FAILED or (rebuilds and (gone or call.distinct)):
                state = _anew(call, function, list(live), arguments, diff)
            else:
                for row in came:
                    state = _times(function.accumulate, state, arguments[row], diff[row])
                for row in gone:
                    assert function.retract is not None
                    state = _times(function.retract, state, arguments[row], diff[row])
            result = function.result(state)
        except EvaluationError:
            if not call.reports:
                raise
            state, result = _reported(call, function, list(live), arguments, diff)
        else:
            result = (result, None) if call.reports else result
        yield result


_FAILED = object()
"""The state of a group on whose rows the functions fail."""


def _reported(
    call: Call, function: Folding, live: list[int], arguments: list[Any], diff: list[int]
) -> tuple[Any, tuple[Any, str | None]]:
    """The state and the result of rows in their order, whatever the functions make of them."""
    width = len(call.arguments)
    in_order = sorted(live, key=lambda row: row_key(arguments[row][:width]))
    try:
        state = _anew(call, function, in_order, arguments, diff)
        return state, (function.result(state), None)
    except EvaluationError as error:
        return _FAILED, (None, error.reason)


def _times(move: Callable[[Any, Any], Any], state: Any, row: Any, count: int) -> Any:
    for _ in range(count):
        state = move(state, row)
    return state


def _anew(
    call: Call, function: Folding, live: list[int], arguments: list[Any], diff: list[int]
) -> Any:
    """The state from the rows that are left; under DISTINCT the first of equal arguments counts."""
    state = function.initial
    width = len(call.arguments)
    seen = set()
    for row in sorted(live, key=lambda row: arguments[row][width:]):
        if call.distinct:
            if arguments[row][:width] in seen:
                continue
            seen.add(arguments[row][:width])
        state = _times(
            function.accumulate, state, arguments[row], 1 if call.distinct else diff[row]
        )
    return state
