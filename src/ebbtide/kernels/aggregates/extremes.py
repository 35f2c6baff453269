"""MIN and MAX without their rows: what was emitted, who can still be the best, and what is new.

Law: where rows only come, ``MAX(t)`` up to ``before`` is the greater of what was emitted and what
is new; after it, the greatest of the new rows and of the *heirs*: the rows valid at ``before`` that
no other one outdoes in value and outlasts.  Of n rows in random order about ``log n`` are heirs.

    value  9 |---------)                    heir
           4 |--)                           outdone and outlasted: never the best again
           6    |-------------)             heir: the best once 9 has gone
              before ^

Where something is taken away the rows themselves have to say, and the heirs are found anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import INF, Instant
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.choice import dense
from ebbtide.kernels.aggregates.encoding import decode, encode, stacked
from ebbtide.kernels.aggregates.selection import best
from ebbtide.kernels.grouping import Groups
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.sweeps.spans import Marks, Spans, joined
from ebbtide.kernels.sweeps.stepping import emitted_steps
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Hashes, Ints, Mask, order_by
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema
from ebbtide.state.columns import column, ints, ranks
from ebbtide.state.layout import Layout


def has_heirs(call: Call) -> bool:
    """Whether heirs are kept for a call: its values alone say which of them is the best."""
    return call.is_choice and not call.ordered


class Candidates(NamedTuple):
    """Rows that may be the best of their group: their values, and when each is valid."""

    values: Any
    spans: Spans


def heirs_layout(name: str, key_types: list[Any], kind: Any) -> Layout:
    """The area of a call's heirs: key, value and the instant at which the row ends."""
    schema = batch_schema([*key_types, kind, pa.int64()])
    return Layout(name, schema, tuple(range(len(key_types))), newest=True)


def from_rows(call: Call, table: Batch, spans: Spans) -> Candidates:
    """Rows of a table, without those that the call does not see."""
    seen = call.counted(table)[spans.rows]
    return Candidates(column(table, call.arguments[0]), spans.chosen(seen))


def from_heirs(heirs: Found, numbers: Ints, before: Instant) -> Candidates:
    """The heirs, which are all valid at ``before``."""
    table = heirs.changes
    ends = ints(table, table.schema.field(len(table.schema) - 4).name)
    starts = np.full(len(ends), before, np.int64)
    rows = np.arange(len(ends), dtype=np.int64)
    spans = Spans(numbers, starts, ends, np.ones(len(ends), np.int64), rows)
    return Candidates(column(table, len(table.schema) - 5), spans)


def from_emitted(
    emitted: Found, numbers: Ints, since: Ints, index: int, before: Instant, groups: Mask
) -> Candidates:
    """What was emitted for some groups up to ``before``, each value over its own stretch."""
    chosen = np.flatnonzero(groups[numbers])
    table = emitted.changes.take(pa.array(chosen))
    numbers = numbers[chosen]
    values = column(table, index)
    encoded = encode(values, values)
    starts = np.maximum(ints(table, FROM), since[numbers])
    words = stacked([encoded.left], table.num_rows)
    steps = emitted_steps(numbers, starts, ints(table, TO), ints(table, DIFF), words)
    ends = np.append(steps.at[1:], INF)
    same = np.append(steps.groups[1:] == steps.groups[:-1], False)
    ends = np.minimum(np.where(same, ends, INF), before + 1)
    shown = decode(encoded, [np.ascontiguousarray(w) for w in steps.words.T])
    rows = np.arange(len(ends), dtype=np.int64)
    spans = Spans(steps.groups, steps.at, ends, np.ones(len(ends), np.int64), rows)
    counts = steps.alive & (steps.at < ends) & shown.is_valid().to_numpy(zero_copy_only=False)
    return Candidates(shown, spans.chosen(counts))


def put_together(parts: list[Candidates]) -> Candidates:
    """All candidates of several kinds."""
    offsets = np.cumsum([0, *(len(part.values) for part in parts)])
    moved = [
        part.spans._replace(rows=part.spans.rows + offset)
        for part, offset in zip(parts, offsets[:-1].tolist(), strict=True)
    ]
    return Candidates(pa.concat_arrays([part.values for part in parts]), joined(moved))


def extreme(call: Call, candidates: Candidates, marks: Marks, now: Instant) -> tuple[Any, Spans]:
    """The best value at each mark, and the spans of the heirs at ``now``."""
    values, spans = candidates
    priority = dense([word[spans.rows] for word in ranks(values)])
    if call.function in ("MIN", "BOOL_AND"):
        priority = ~priority
    found = best(spans, priority, marks)
    rows = spans.rows[found] if len(spans.rows) else found
    column_ = values.take(pa.array(rows, mask=found < 0))
    valid = np.flatnonzero((spans.starts <= now) & (spans.ends > now))
    order = valid[order_by(spans.groups[valid], spans.ends[valid])]
    kept = _heirs(order, spans.groups, priority)
    return column_, spans.chosen(order[kept])


@njit(cache=True)
def _heirs(order: Ints, groups: Ints, priority: Ints) -> Any:
    """Which of the rows, sorted by group and end, none that ends as late or later outdoes."""
    kept = np.zeros(len(order), np.bool_)
    greatest = 0
    for k in range(len(order) - 1, -1, -1):
        first = k + 1 == len(order) or groups[order[k + 1]] != groups[order[k]]
        if first or priority[order[k]] > greatest:
            greatest = priority[order[k]]
            kept[k] = True
    return kept


def heirs_table(
    area: SweepArea, groups: Groups, known: Ints, values: Any, heirs: Spans
) -> tuple[Batch, Hashes]:
    """The heirs to be kept; a group that has none any more is gone."""
    gone = np.zeros(groups.count, np.bool_)
    gone[known] = True
    gone[heirs.groups] = False
    absent = np.flatnonzero(gone)
    numbers = np.concatenate([heirs.groups, absent])
    rows = np.concatenate([heirs.rows, np.full(len(absent), -1)]).astype(np.int64)
    keys = groups.keys.take(pa.array(numbers)) if groups.keys.num_columns else groups.keys
    arrays = [column(keys, i) for i in range(groups.keys.num_columns)]
    arrays.append(values.take(pa.array(rows, mask=rows < 0)))
    ends = np.concatenate([heirs.ends, np.zeros(len(absent), np.int64)])
    times = versioned(area, len(numbers), rows >= 0)
    return pa.Table.from_arrays(
        [*arrays, pa.array(ends), *times], schema=area.layout.schema
    ), groups.hashes[numbers]


def versioned(area: SweepArea, count: int, there: Mask) -> list[Any]:
    """The times of rows that replace all older ones of their keys; diff 0 where a key is gone."""
    version = 1 + max((segment.from_max for segment in area.segments), default=0)
    return [
        pa.array(np.full(count, version, np.int64)),
        pa.array(np.full(count, INF, np.int64)),
        pa.array(there.astype(np.int64)),
    ]
