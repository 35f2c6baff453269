"""Rows of numbered groups with their intervals, and the instants at which results may change.

Law: the spans of a group are a relation: no multiplicity is negative.  Marks are the instants from
``since`` to ``now`` at which a span of the group begins or ends, and ``since`` itself; between two
of them every aggregate stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ebbtide.core.time import Instant
from ebbtide.kernels.aggregates.accumulation import Values
from ebbtide.state.arrays import Ints, Mask, differs, order_by, ranges
from ebbtide.state.batch import DIFF, FROM, TO, Codes, codes, payload
from ebbtide.state.columns import ints
from ebbtide.state.netting import net_points

_FEW = 32
"""So many events of one mark are put in order by insertion."""


class Spans(NamedTuple):
    """Group, interval and multiplicity of rows; ``rows`` are their places in a table."""

    groups: Ints
    starts: Ints
    ends: Ints
    diff: Ints
    rows: Ints

    def chosen(self, places: Ints | Mask | slice) -> Spans:
        """Some of them."""
        return Spans(*(part[places] for part in self))


class Marks(NamedTuple):
    """Instants of groups, in order."""

    groups: Ints
    at: Ints


class SpanEvents(NamedTuple):
    """Beginnings and ends of spans by group and time.

    ``ids`` are ``2 * span`` for a beginning, ``2 * span + 1`` for an end, and more for no span.
    ``last`` are the places of the last event of each mark.
    """

    ids: Ints
    last: Ints
    marks: Marks

    def to_the_end(self) -> SpanEvents:
        """The same with one mark per group, after all of its events."""
        groups = self.marks.groups
        final = np.append(groups[1:] != groups[:-1], len(groups) > 0)[: len(groups)]
        return SpanEvents(self.ids, self.last[final], Marks(*(part[final] for part in self.marks)))


def spans_of_changes(table: Any, groups: Ints) -> Spans:
    """The changes of a table, as they are."""
    rows = np.arange(table.num_rows, dtype=np.int64)
    return Spans(groups, ints(table, FROM), ints(table, TO), ints(table, DIFF), rows)


def spans_of(table: Any, groups: Ints, since: Ints) -> Spans:
    """The rows of a table from their group's ``since`` on, net where something is negative."""
    spans = spans_of_changes(table, groups)
    spans = spans._replace(starts=np.maximum(spans.starts, since[groups]))
    negative = spans.diff < 0
    if not negative.any():
        return spans
    unclear = np.zeros(len(since), np.bool_)
    unclear[groups[negative]] = True
    inside = unclear[groups]
    return joined([spans.chosen(~inside), netted(table, spans.chosen(inside))])


def netted(table: Any, spans: Spans) -> Spans:
    """Net multiplicities over maximal intervals, per row."""
    taken = table.take(spans.rows)
    return _levels(codes(taken, payload(taken)).ids, spans)


def distinct(table: Any, spans: Spans, columns: Sequence[int]) -> Spans:
    """Each combination of the columns' values once, over maximal intervals, per group."""
    taken = table.select(columns).take(spans.rows)
    values = codes(taken, range(len(columns)))
    found = _levels(_in_groups(values, spans.groups), spans)
    # Levels change while a value stays: put the pieces together again.
    starts = differs([found.groups, found.rows])
    starts[1:] |= found.starts[1:] != found.ends[:-1]
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    one = np.ones(len(first), np.int64)
    return Spans(found.groups[first], found.starts[first], found.ends[last], one, found.rows[first])


def _in_groups(values: Codes, groups: Ints) -> Ints:
    """Numbers for values, each its own in every group."""
    if not len(groups) or (groups == groups[0]).all():
        return values.ids
    pairs = groups * np.int64(values.count) + values.ids
    found: Ints = np.unique(pairs, return_inverse=True)[1]
    return found


def _levels(ids: Ints, spans: Spans) -> Spans:
    """The spans of each id added up; a span's row is one of those with its id."""
    one_of = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
    one_of[ids] = np.arange(len(ids))
    points = net_points(ids, spans.starts, spans.ends, spans.diff)
    begin = np.flatnonzero(points.level)
    chosen = one_of[points.ids[begin]]
    return Spans(
        spans.groups[chosen],
        points.at[begin],
        points.at[begin + 1],
        points.level[begin],
        spans.rows[chosen],
    )


def joined(parts: Sequence[Spans]) -> Spans:
    """All spans of several lists."""
    return Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def marks_of(spans: Spans, since: Ints, now: Instant) -> Marks:
    """The marks of all groups."""
    begins = (spans.starts <= now) & (spans.starts > since[spans.groups])
    goes = spans.ends <= now
    groups = np.concatenate(
        [np.arange(len(since), dtype=np.int64), spans.groups[begins], spans.groups[goes]]
    )
    at = np.concatenate([since, spans.starts[begins], spans.ends[goes]])
    order = order_by(groups, at)
    groups, at = groups[order], at[order]
    new = differs([groups, at])
    return Marks(groups[new], at[new])


def events_of(spans: Spans, since: Ints, upto: Instant, marks: Marks, values: Values) -> SpanEvents:
    """What begins or ends from each group's ``since`` up to an instant, and the given marks.

    Events of one instant are in an order that depends on their values alone, if these are rounded.
    """
    ids, groups, at = _events(*spans[:3], since, upto, *marks)
    order = order_by(groups, at)
    ids, last, mark_groups, mark_at = _in_order(ids, groups, at, order)
    if len(values.real):
        _sort_ties(ids, last, spans, values)
    return SpanEvents(ids, last, Marks(mark_groups, mark_at))


def _sort_ties(ids: Ints, last: Ints, spans: Spans, values: Values) -> None:
    """Puts the events of each mark in order, where there are several."""
    counts = np.diff(last, prepend=-1)
    crowded = np.flatnonzero(counts > 1)
    few = counts[crowded] <= _FEW
    _sort_few(
        ids,
        last[crowded[few]],
        counts[crowded[few]],
        spans.rows,
        spans.diff,
        values.real,
        values.present,
    )
    crowded = crowded[~few]
    places = ranges(last[crowded] - counts[crowded] + 1, counts[crowded])
    marks = np.repeat(crowded, counts[crowded])
    some = ids[places] < 2 * len(spans.rows)
    places, marks = places[some], marks[some]
    span = ids[places] >> 1
    steps = np.where(ids[places] & 1, -spans.diff[span], spans.diff[span])
    keys = [each[spans.rows[span]] for each in (*values.real, *values.present)]
    ids[places] = ids[places][np.lexsort((steps, *keys, marks))]


@njit(cache=True)
def _sort_few(
    ids: Ints, last: Ints, counts: Ints, rows: Ints, diff: Ints, real: Any, present: Any
) -> None:
    """The same where they are few, by insertion; what is no span's event comes last."""
    n = 2 * len(rows)
    for run in range(len(last)):
        first = last[run] - counts[run] + 1
        for i in range(first + 1, last[run] + 1):
            event = ids[i]
            j = i
            while j > first and _before(event, ids[j - 1], n, rows, diff, real, present):
                ids[j] = ids[j - 1]
                j -= 1
            ids[j] = event


@njit(cache=True)
def _before(one: int, other: int, n: int, rows: Ints, diff: Ints, real: Any, present: Any) -> bool:
    """Whether an event belongs before another of its mark: by its values, and then by its step."""
    if one >= n or other >= n:
        return one < n <= other
    mine, its = one >> 1, other >> 1
    for moment in range(len(present) - 1, -1, -1):
        if present[moment, rows[mine]] != present[moment, rows[its]]:
            return bool(present[moment, rows[its]])
    for moment in range(len(real) - 1, -1, -1):
        a, b = real[moment, rows[mine]], real[moment, rows[its]]
        if a != b and not (np.isnan(a) and np.isnan(b)):
            # NaN is above all numbers.
            return bool(a < b or np.isnan(b))
    step = -diff[mine] if one & 1 else diff[mine]
    return bool(step < (-diff[its] if other & 1 else diff[its]))


@njit(cache=True)
def _in_order(ids: Ints, groups: Ints, at: Ints, order: Ints) -> Any:
    """The ids in order, and the place, group and instant of the last event of each mark."""
    n = len(order)
    sorted_ids = np.empty(n, np.int64)
    last, of, when = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    count = -1
    for i in range(n):
        k = order[i]
        sorted_ids[i] = ids[k]
        if count < 0 or of[count] != groups[k] or when[count] != at[k]:
            count += 1
            of[count], when[count] = groups[k], at[k]
        last[count] = i
    count += 1
    return sorted_ids, last[:count], of[:count], when[:count]


@njit(cache=True)
def _events(
    groups: Ints, starts: Ints, ends: Ints, since: Ints, upto: int, marked: Ints, marks: Ints
) -> Any:
    n = len(groups)
    room = 2 * n + len(marks)
    ids, of, at = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    count = 0
    for i in range(n):
        group = groups[i]
        if since[group] <= starts[i] <= upto:
            ids[count], of[count], at[count] = 2 * i, group, starts[i]
            count += 1
        if since[group] <= ends[i] <= upto:
            ids[count], of[count], at[count] = 2 * i + 1, group, ends[i]
            count += 1
    for i in range(len(marks)):
        ids[count], of[count], at[count] = 2 * n + i, marked[i], marks[i]
        count += 1
    return ids[:count], of[:count], at[:count]
