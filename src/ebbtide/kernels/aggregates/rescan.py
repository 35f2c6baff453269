"""Aggregation by re-deriving: the valid rows of every touched group, swept once in order.

Used where some call is not a sum: what is not chosen is not remembered, so the rows are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import Instant
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.encoding import decode, encode, stacked
from ebbtide.kernels.aggregates.evaluation import evaluate
from ebbtide.kernels.aggregates.selection import counts
from ebbtide.kernels.grouping import Groups, grouped
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.sweeps.end_points import next_end_points
from ebbtide.kernels.sweeps.rederivation import Touched, inputs_after, touched
from ebbtide.kernels.sweeps.spans import Marks, marks_of, spans_of
from ebbtide.kernels.sweeps.stepping import Steps, difference, emitted_steps
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import DIFF, FROM, TO, concat
from ebbtide.state.columns import column, ints


def sweep_groups(
    keys: tuple[int, ...],
    calls: tuple[Call, ...],
    changes: Batch,
    areas: tuple[SweepArea, ...],
    times: Times,
    output: Schema,
) -> Result:
    """One step: the touched groups' rows in, the changes of their results out."""
    stored, emitted = areas
    regions = touched((changes,), (stored,), emitted, times, always=not keys)
    result = output.empty_table()
    if len(regions.hashes):
        result = _changes(keys, calls, changes, areas, regions, times.now, output)
        result = times.open.of(result)
    (after,) = inputs_after((changes,), (stored,), regions, times)
    return Result(result, (after, settled(emitted, result, times.output)))


def _changes(
    keys: tuple[int, ...],
    calls: tuple[Call, ...],
    changes: Batch,
    areas: tuple[SweepArea, ...],
    regions: Touched,
    now: Instant,
    output: Schema,
) -> Batch:
    stored, emitted = (area.probe(regions.hashes, regions.since) for area in areas)
    table = concat([stored.changes, changes], changes.schema)
    hashes = np.concatenate([stored.hashes, *regions.inputs])
    own = tuple(range(len(keys)))
    groups = grouped([table, emitted.changes], [keys, own], [hashes, emitted.hashes])
    since = since_of(groups, regions, keys)
    spans = spans_of(table, groups.numbers[0], since)
    marks = marks_of(spans, since, now)
    until = next_end_points(table, spans, len(since), now)
    alive = counts(spans, marks) > 0
    values = evaluate(calls, table, spans, marks, now)
    return results(groups, marks, alive | (not keys), values, until, emitted, since, output)


def since_of(groups: Groups, regions: Touched, keys: tuple[int, ...]) -> Ints:
    """For each group the instant from which it is looked at; without keys there is one group."""
    return regions.since_of(groups.hashes) if keys else regions.since[:1]


def results(
    groups: Groups,
    marks: Marks,
    alive: Mask,
    values: list[Any],
    until: Ints,
    emitted: Found,
    since: Ints,
    output: Schema,
) -> Batch:
    """The changes that lead from what was emitted to the values at the marks."""
    table = emitted.changes
    width = groups.keys.num_columns
    columns = [encode(value, column(table, width + i)) for i, value in enumerate(values)]
    new = Steps(*marks, alive, stacked([c.left for c in columns], len(marks.at)))
    numbers = groups.numbers[1]
    starts = np.maximum(ints(table, FROM), since[numbers])
    words = stacked([c.right for c in columns], table.num_rows)
    old = emitted_steps(numbers, starts, ints(table, TO), ints(table, DIFF), words)
    found = difference(new, until, old)
    # A source below zero is the complement of a place among the emitted steps.
    source = np.where(found.source >= 0, found.source, len(new.at) + ~found.source)
    arrays, at = [], 0
    for encoded in columns:
        chosen = [
            np.concatenate([new.words[:, at + k], old.words[:, at + k]])[source]
            for k in range(encoded.width)
        ]
        arrays.append(decode(encoded, chosen))
        at += encoded.width
    keys = groups.keys.take(pa.array(found.groups)) if width else groups.keys
    times = [pa.array(part) for part in (found.valid_from, found.valid_to, found.diff)]
    return pa.Table.from_arrays(
        [*(keys.column(i) for i in range(width)), *arrays, *times], schema=output
    )
