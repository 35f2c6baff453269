"""The values of aggregate calls at the marks of groups, from the rows that are valid there.

Law: column by column, what plain SQL gives on the rows valid at the mark.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import NEG_INF, Instant
from ebbtide.errors import EvaluationError
from ebbtide.kernels.aggregates.accumulation import (
    Accumulators,
    Lines,
    Moment,
    Values,
    plan_of,
    sweep,
)
from ebbtide.kernels.aggregates.call import PLACES, Call
from ebbtide.kernels.aggregates.choice import choice, dense, order
from ebbtide.kernels.aggregates.exact import ExactSums, Rows, made_exact
from ebbtide.kernels.aggregates.folding import Last, folded
from ebbtide.kernels.aggregates.interpolation import between, places, places_of_values
from ebbtide.kernels.aggregates.moments import values_of
from ebbtide.kernels.aggregates.results import moment_of, result_of
from ebbtide.kernels.aggregates.selection import at_places, counts
from ebbtide.kernels.sweeps.spans import Marks, SpanEvents, Spans, distinct, events_of
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.columns import column, ranks


def evaluate(
    calls: tuple[Call, ...], table: Any, spans: Spans, marks: Marks, now: Instant
) -> list[Any]:
    """A column of values at the marks for each call."""
    results: dict[int, Any] = {}
    moments = {i: moment_of(call, table.schema) for i, call in enumerate(calls)}
    plain = {i: m for i, m in moments.items() if m is not None and not calls[i].distinct}
    if plain:
        shared = shared_moments(plain.values())
        sums = Sweep(shared, table, spans, marks, now)
        for i, moment in plain.items():
            results[i] = sums.result(calls[i], moment)
    for i, call in enumerate(calls):
        if i not in results:
            results[i] = _single(call, moments[i], table, spans, marks, now)
    return [results[i] for i in range(len(calls))]


def shared_moments(moments: Any) -> tuple[Moment, ...]:
    """Every moment once; one that has squares stands for one that has none."""
    found: dict[tuple[Any, ...], Moment] = {}
    for moment in moments:
        key = (moment.arguments, moment.filter, moment.kind)
        if key not in found or moment.squares:
            found[key] = moment
    return tuple(found.values())


def index_of(moment: Moment, shared: tuple[Moment, ...]) -> int:
    """Which of the shared moments stands for this one."""
    for index, other in enumerate(shared):
        same = (moment.arguments, moment.filter, moment.kind)
        if same == (other.arguments, other.filter, other.kind):
            return index
    raise AssertionError("every moment is shared")


class Sweep:
    """Accumulators at the marks, from nothing, and the results of calls on them."""

    def __init__(
        self,
        moments: tuple[Moment, ...],
        table: Any,
        spans: Spans,
        marks: Marks,
        now: Instant,
    ) -> None:
        self.moments, self.table, self.spans, self.marks = moments, table, spans, marks
        values = values_of(table, moments)
        groups = int(marks.groups.max(initial=-1)) + 1
        since = np.full(groups, NEG_INF, np.int64)
        events = events_of(spans, since, now, marks, values)
        start = Accumulators.zeros(groups, moments)
        whole, real, doubtful = swept(plan_of(moments), start, 1, events, spans, values)
        self.lines = Lines(whole, real)
        self.doubtful: Mask = doubtful

    def result(self, call: Call, moment: Moment) -> Any:
        """The call's column, exact where the sums cannot be trusted."""
        index = index_of(moment, self.moments)
        column_ = result_of(
            call, self.moments[index], index, self.moments, self.lines, scale_of(call, self.table)
        )
        if not self.moments[index].reals or not self.doubtful.any():
            return column_
        since = np.full(len(self.doubtful), NEG_INF, np.int64)
        rows = Rows(self.table, self.spans, since, self.moments, None)
        return made_exact(call, column_, index, rows, self.lines, self.marks, self.doubtful)


def swept(
    plan: Ints, start: Accumulators, sign: int, events: SpanEvents, spans: Spans, values: Values
) -> Any:
    """The accumulators at the marks of the events; ``start`` is moved along."""
    arrays = (values.present, values.low, values.high, values.real)
    of_spans = (spans.groups, spans.diff, spans.rows)
    of_events = (events.ids, events.last, events.marks.groups)
    return sweep(plan, start.whole, start.real, sign, *of_events, *of_spans, *arrays)


def scale_of(call: Call, table: Any) -> int:
    """The scale of the argument, 0 if it is no decimal."""
    if not call.arguments:
        return 0
    kind = table.schema.field(call.arguments[0]).type
    return int(kind.scale) if pa.types.is_decimal128(kind) else 0


def _single(
    call: Call, moment: Moment | None, table: Any, spans: Spans, marks: Marks, now: Instant
) -> Any:
    """A call that has a sweep of its own."""
    seen = spans.chosen(call.counted(table)[spans.rows])
    if call.is_choice:
        return choice(call, table, seen, marks)
    if call.distinct and not call.ordered:
        seen = distinct(table, seen, call.arguments)
    if moment is not None:
        return Sweep((moment,), table, seen, marks, now).result(call, moment)
    if call.function in PLACES:
        return _place(call, table, seen, marks)
    function: Any = call.function
    if isinstance(function, str):
        function = Last() if function == "LAST" else ExactSums(function)
    places = order(call, table, seen) if function.ordered else seen.rows
    return folded(call, function, table, seen, places, marks)


def _place(call: Call, table: Any, spans: Spans, marks: Marks) -> Any:
    share = Fraction(call.share)
    if not 0 <= share <= 1:
        raise EvaluationError(
            "bad-argument", f"{call.name} needs a share from 0 to 1, not {call.share}"
        )
    values = column(table, call.arguments[0])
    sizes = counts(spans, marks)
    priority = dense([word[spans.rows] for word in ranks(values)])
    if call.function == "PERCENTILE_DISC":
        (only,) = _standing(values, spans, priority, marks, [places_of_values(share, sizes)])
        return only
    found = places(share, sizes)
    next_ = np.minimum(found.low + 1, sizes - 1)
    below, above = _standing(values, spans, priority, marks, [found.low, next_])
    return between(call.type, share, sizes, found, below, above)


def _standing(values: Any, spans: Spans, priority: Ints, marks: Marks, at: list[Ints]) -> list[Any]:
    """The values that stand at some places at the marks; NULL at a place below 0."""
    found = at_places(spans, priority, marks, np.stack(at, axis=1))
    rows = spans.rows[found] if len(spans.rows) else found
    return [values.take(pa.array(rows[:, k], mask=found[:, k] < 0)) for k in range(found.shape[1])]
