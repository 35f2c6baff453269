"""The one sweep of all operators that look at multiplicities alone.

Law: at every instant, the multiplicity of a row in the output is a function of its multiplicities
in the inputs, the `Rule`.  A row is its own key, so one sweep over the end points of a row keeps
three counts: left, right, and what has been emitted.  What it emits is the rule's value minus the
last.

    left     +1 |-----------)
    right    +1      |----------------)
    now                  ^
    rule     a - b   |1--)0-----)          the level that spans now holds until the next end point
    emitted       |1----------)            what stood there so far
    change               |-1--)

Used by distinct, difference, strict difference, intersection and max-union.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import Instant
from ebbtide.kernels.grouping import grouped
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.sweeps.rederivation import Touched, inputs_after, touched
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Ints, order_by
from ebbtide.state.batch import DIFF, FROM, TO, concat, payload
from ebbtide.state.columns import ints
from ebbtide.state.layout import Endless, Layout


class Rule(IntEnum):
    """The output's multiplicity from those of the left and the right input."""

    DISTINCT = 0
    DIFFERENCE = 1
    STRICT_DIFFERENCE = 2
    INTERSECTION = 3
    STRICT_INTERSECTION = 4
    MAX_UNION = 5


def count_areas(inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
    """An area for each input and one for the output, all keyed by the whole row."""
    names = ("left", "right")[: len(inputs)] if len(inputs) > 1 else ("input",)
    keys = tuple(range(len(inputs[0]) - 3))
    areas = (*names, "output")
    return tuple(Layout(name, inputs[0], keys, endless=Endless.COUNTED) for name in areas)


def count_step(
    rule: Rule, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times
) -> Result:
    """One step of an operator that is a rule on multiplicities."""
    areas = times.seen(areas)
    *input_areas, output = areas
    keys = touched(inputs, tuple(input_areas), output, times)
    changes = output.layout.schema.empty_table()
    if len(keys.hashes):
        found = [area.probe(keys.hashes, keys.since) for area in areas]
        for place, (new, hashes) in enumerate(zip(inputs, keys.inputs, strict=True)):
            both = concat([found[place].changes, new], output.layout.schema)
            found[place] = Found(both, np.concatenate([found[place].hashes, hashes]))
        changes = times.open.of(_difference(rule, found, keys, times.now))
    stored = inputs_after(inputs, tuple(input_areas), keys, times)
    return Result(changes, (*stored, settled(output, changes, times.output)))


def _difference(rule: Rule, found: list[Found], keys: Touched, now: Instant) -> Batch:
    rows = [part.changes for part in found]
    hashes = [part.hashes for part in found]
    groups = grouped(rows, [payload(part) for part in rows], hashes)
    since = keys.since_of(np.concatenate(hashes))
    numbers = np.concatenate(groups.numbers)
    starts = np.maximum(np.concatenate([ints(part, FROM) for part in rows]), since)
    ends = np.concatenate([ints(part, TO) for part in rows])
    diffs = np.concatenate([ints(part, DIFF) for part in rows])
    sizes = [part.num_rows for part in rows]
    # Left, right, emitted: an operator with one input has nothing on the right.
    sides = np.repeat(np.array([0, 1, 2] if len(rows) == 3 else [0, 2]), sizes)
    events = np.concatenate([numbers, numbers])
    at = np.concatenate([starts, ends])
    order = order_by(events, at)
    swept = sweep_counts(
        int(rule),
        events[order],
        at[order],
        np.concatenate([sides, sides])[order],
        np.concatenate([diffs, -diffs])[order],
        now,
    )
    taken = groups.keys.take(pa.array(swept[0]))
    schema = rows[0].schema
    times = [pa.array(values) for values in swept[1:]]
    columns = [taken.column(i) for i in range(taken.num_columns)]
    return pa.Table.from_arrays([*columns, *times], schema=schema)


@njit(cache=True)
def multiplicity(rule: int, left: int, right: int) -> Any:
    """The rule's value."""
    if rule == 0:
        return np.int64(left > 0)
    if rule == 1:
        return max(left - right, np.int64(0))
    if rule == 2:
        return np.int64(left > 0 and right == 0)
    if rule == 3:
        return min(left, right)
    if rule == 4:
        return np.int64(left > 0 and right > 0)
    return max(left, right)


@njit(cache=True)
def sweep_counts(rule: int, groups: Ints, at: Ints, sides: Ints, steps: Ints, now: int) -> Any:
    """The changes that lead from what was emitted to the rule, from events sorted by group, time.

    Gives group, valid_from, valid_to and diff of each change.
    """
    n = len(groups)
    out_group = np.empty(n, np.int64)
    out_from = np.empty(n, np.int64)
    out_to = np.empty(n, np.int64)
    out_diff = np.empty(n, np.int64)
    count = 0
    counts = np.zeros(3, np.int64)
    i = 0
    while i < n:
        group = groups[i]
        counts[:] = 0
        predicted = False
        level, open_diff, open_from = np.int64(0), np.int64(0), np.int64(0)
        while i < n and groups[i] == group:
            t = at[i]
            left, right = counts[0], counts[1]
            while i < n and groups[i] == group and at[i] == t:
                counts[sides[i]] += steps[i]
                i += 1
            if left != counts[0] or right != counts[1]:
                # The first end point after now ends the level that spans it.
                predicted = predicted or t > now
                level = np.int64(0) if predicted else multiplicity(rule, counts[0], counts[1])
            diff = level - counts[2]
            if diff != open_diff:
                if open_diff != 0:
                    out_group[count] = group
                    out_from[count] = open_from
                    out_to[count] = t
                    out_diff[count] = open_diff
                    count += 1
                open_diff, open_from = diff, t
    return out_group[:count], out_from[:count], out_to[:count], out_diff[:count]
