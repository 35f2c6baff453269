"""The facts that rows came or went, and when: what ISTREAM and DSTREAM have in common.

Law: let ``step(row, t) = q(t) - q(t - 1)``: the sum of the diffs of the changes of ``row`` that
begin at ``t`` less those that end there.  For every ``t <= now``, ISTREAM has the fact ``(row, t)``
``max(0, step)`` times, DSTREAM ``max(0, -step)`` times.  Steps are linear in the changes, so they
are stored and added up; only the maximum is not, and it is taken anew where a step differs.

    q            |----------------)
                         |---)
    step        +1      +1  -1   -1
    ISTREAM      x       x
    DSTREAM                  x    x
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.grouping import grouped
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.stateless import wider, with_columns
from ebbtide.kernels.sweeps.facts import summed
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints, distinct
from ebbtide.state.batch import DIFF, FROM, TO, concat, key_hash, payload, where, with_times
from ebbtide.state.columns import column, fixed, ints
from ebbtide.state.layout import Layout


def turn_schema(input_: Schema) -> Schema:
    """The input's columns and the instant."""
    return wider(input_, [pa.int64()])


def turn_layout(input_: Schema) -> Layout:
    """The steps, each valid at its instant, found by the row and the instant."""
    schema = turn_schema(input_)
    return Layout("steps", schema, tuple(range(len(schema) - 3)))


def turned(changes: Batch, area: SweepArea, times: Times, sign: int) -> Result:
    """The facts that a step of the query adds and takes back; ``sign`` is -1 for DSTREAM."""
    (area,) = times.seen((area,))
    new = steps(changes)
    hashes = key_hash(new, payload(new))
    due = area.probe(None, times.before + 1, times.now + 1)
    revised = area.probe(distinct(hashes), NEG_INF, times.before + 1)
    facts = _facts((due, revised), Found(new, hashes), times, sign)
    return Result(facts, (settled(area, new, times.inputs[0]),))


def steps(changes: Batch) -> Batch:
    """The steps of all rows, at finite instants, added up where they meet."""
    both = concat([changes, changes], changes.schema)
    at = np.concatenate([ints(changes, FROM), ints(changes, TO)])
    diff = np.concatenate([ints(changes, DIFF), -ints(changes, DIFF)])
    finite = (at > NEG_INF) & (at < INF)
    rows, at, diff = where(both, finite), at[finite], diff[finite]
    groups = grouped((rows,), (payload(rows),), (key_hash(rows, payload(rows)),))
    places, total = summed([groups.numbers[0], at], diff)
    marked = with_columns(rows.take(pa.array(places)), [at[places]])
    return with_times(marked, at[places], at[places] + 1, total)


def _facts(stored: tuple[Found, ...], new: Found, times: Times, sign: int) -> Batch:
    """The difference of the maxima; what was stored counted up to ``before``, if at all."""
    schema = new.changes.schema
    rows = concat([*(found.changes for found in stored), new.changes], schema)
    if not rows.num_rows:
        return schema.empty_table()
    hashes = np.concatenate([*(found.hashes for found in stored), new.hashes])
    groups = grouped((rows,), (payload(rows),), (hashes,))
    ids, diff = groups.numbers[0], ints(rows, DIFF)
    old = np.arange(rows.num_rows) < rows.num_rows - new.changes.num_rows
    before, after = np.zeros(groups.count, np.int64), np.zeros(groups.count, np.int64)
    np.add.at(before, ids[old], sign * diff[old])
    np.add.at(after, ids, sign * diff)
    at = _instants(groups.keys)
    counted = np.where(at <= times.before, np.maximum(before, 0), 0)
    change = np.where(at <= times.now, np.maximum(after, 0), 0) - counted
    return _always(groups.keys, schema, change)


def _instants(rows: Any) -> Ints:
    return fixed(column(rows, rows.num_columns - 1))


def _always(rows: Any, schema: Schema, diff: Ints) -> Batch:
    differs = np.flatnonzero(diff)
    taken = rows.take(pa.array(differs))
    times = [
        np.full(len(differs), NEG_INF, np.int64),
        np.full(len(differs), INF, np.int64),
        diff[differs],
    ]
    return pa.Table.from_arrays([*taken.columns, *map(pa.array, times)], schema=schema)
