"""Rows of numbered groups with their intervals, and the instants at which results may change.

Law: the spans of a group are a relation: no multiplicity is negative.  Marks are the instants from
``since`` to ``now`` at which a span of the group begins or ends, and ``since`` itself; between two
of them every aggregate stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbtide.core.time import Instant
from ebbtide.kernels.accumulation import Values
from ebbtide.state.arrays import Ints, Mask, differs, order_by
from ebbtide.state.batch import DIFF, FROM, TO, codes, payload
from ebbtide.state.columns import ints
from ebbtide.state.netting import net_points


class Spans(NamedTuple):
    """Group, interval and multiplicity of rows; ``rows`` are their places in a table."""

    groups: Ints
    starts: Ints
    ends: Ints
    diff: Ints
    rows: Ints

    def chosen(self, places: Ints | Mask) -> Spans:
        """Some of them."""
        return Spans(*(part[places] for part in self))


class Marks(NamedTuple):
    """Instants of groups, in order."""

    groups: Ints
    at: Ints


class Events(NamedTuple):
    """What happens to groups, in order: rows come (``steps`` > 0) and go; ``-1`` is no row."""

    groups: Ints
    at: Ints
    rows: Ints
    steps: Ints
    marks: Ints


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
    taken = table.take(spans.rows)
    values = codes(taken, columns)
    pairs = spans.groups * np.int64(values.count) + values.ids
    found = _levels(np.unique(pairs, return_inverse=True)[1], spans)
    # Levels change while a value stays: put the pieces together again.
    starts = differs([found.groups, found.rows])
    starts[1:] |= found.starts[1:] != found.ends[:-1]
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(starts))[: len(first)] - 1
    one = np.ones(len(first), np.int64)
    return Spans(found.groups[first], found.starts[first], found.ends[last], one, found.rows[first])


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


def events_of(spans: Spans, marks: Marks, values: Values, now: Instant) -> Events:
    """Beginnings and ends up to ``now``, in an order that depends on the values alone."""
    begins, goes = np.flatnonzero(spans.starts <= now), np.flatnonzero(spans.ends <= now)
    none = np.full(len(marks.at), -1, np.int64)
    return sorted_events(
        np.concatenate([spans.groups[begins], spans.groups[goes], marks.groups]),
        np.concatenate([spans.starts[begins], spans.ends[goes], marks.at]),
        np.concatenate([spans.rows[begins], spans.rows[goes], none]),
        np.concatenate([spans.diff[begins], -spans.diff[goes], none]),
        values,
    )


def sorted_events(groups: Ints, at: Ints, rows: Ints, steps: Ints, values: Values) -> Events:
    """Events by group and time; those at one instant by their values, if these are rounded."""
    order = order_by(groups, at)
    begins = differs([groups[order], at[order]])
    if len(values.real) and not begins.all():
        tied = ~begins
        tied[:-1] |= ~begins[1:]
        places = np.flatnonzero(tied)
        tied_rows = rows[order[places]]
        keys = [real[tied_rows] * (tied_rows >= 0) for real in values.real]
        shown = [mask[tied_rows] & (tied_rows >= 0) for mask in values.present]
        runs = np.cumsum(begins)[places]
        deciding = np.lexsort((steps[order[places]], *keys, *shown, runs))
        order[places] = order[places][deciding]
    last = np.flatnonzero(np.append(begins[1:], True)) if len(begins) else np.zeros(0, np.int64)
    return Events(groups[order], at[order], rows[order], steps[order], last)
