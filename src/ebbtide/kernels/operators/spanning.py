"""Spanning: the rows that have begun, each as long as it is known to go on.

Law: let ``m(t)`` be how often a row is there at ``t``, by all that has come.  Up to ``now`` that is
what was emitted; at a later ``t`` it is the least of ``m`` over ``[now, t]``.  So what was emitted
depends on the relation and on ``now``, and not on the steps in which it became what it is.
State: the instants after ``now`` at which a row comes or goes, and how often.
Emits: what came, without the part that waits: ``m`` less that least, which is what begins later.  A
row whose known end moves is taken back from ``now`` on and brought with the new one.
Forgets: instants that ``now`` has reached.

    now          |
    m        |-------)  |----)        2 rows that meet are 1:   |-------)----)
    emitted  |=======)                                          |============)
    waits               |----)

That a row never ends, and was there before, changes nothing of what waits, so it is not stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.operators.held import at_once
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes, Ints, distinct, order_by
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    codes,
    concat,
    negated,
    net,
    payload,
    row_types,
    where,
    width,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Spanning:
    """Lets pass what has begun.  Rows meet by ``keys``: all columns that can have a value."""

    keys: tuple[int, ...]

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes goes."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The steps to come of each row; each ends where it is, which is a column, too."""
        schema = batch_schema([*row_types(inputs[0]), pa.int64()])
        return (Layout("steps", schema, self.keys),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What has begun by now, and has become known of its end."""
        (changes,), area = inputs, areas[0].under(_after(times.before))
        ahead = _steps(changes, times.now, area.layout.schema)
        shown = changes
        if _rises(area, ahead):
            stored = area.probe(_touched(area, ahead, times)).changes
            both = concat([stored, ahead], stored.schema)
            waited = _waiting(stored, times.before, changes.schema)
            waits = _waiting(both, times.now, changes.schema)
            shown = net(pa.concat_tables([changes, waited, negated(waits)]))
        keep = _after(times.now)
        return Result(at_once(shown, times.now), (area.insert(ahead).reorganize(keep),))


def _after(now: Instant) -> Keep:
    return Keep(((After(ENDS, now),),))


def _steps(changes: Batch, now: Instant, schema: Schema) -> Any:
    """The instants after ``now`` at which rows come and go."""
    starts, ends, diff = ints(changes, FROM), ints(changes, TO), ints(changes, DIFF)
    come, go = starts > now, (ends > now) & (ends < INF)
    parts = [
        _step(where(changes, come), starts[come], diff[come], schema),
        _step(where(changes, go), ends[go], -diff[go], schema),
    ]
    return concat(parts, schema)


def _step(rows: Batch, at: Ints, diff: Ints, schema: Schema) -> Any:
    columns = [rows.column(i) for i in payload(rows)]
    since = np.full(len(at), NEG_INF, np.int64)
    times = (pa.array(part) for part in (at, since, at, diff))
    return pa.Table.from_arrays([*columns, *times], schema=schema)


def _rises(area: SweepArea, ahead: Batch) -> bool:
    """Whether some row may begin after ``now``, or has since the step before."""
    stored = any(segment.negatives < segment.rows for segment in area.segments)
    return stored or bool((ints(ahead, DIFF) > 0).any())


def _touched(area: SweepArea, ahead: Batch, times: Times) -> Hashes:
    """The rows of which something else may wait: they step later, or have begun in this step."""
    due = area.moved(times.before + 1, times.now)
    begun = due.hashes[ints(due.changes, DIFF) > 0]
    return distinct(np.concatenate([area.hash(ahead), begun]))


def _waiting(steps: Batch, now: Instant, schema: Schema) -> Any:
    """What begins after ``now``, of rows with all their steps."""
    steps = where(steps, ints(steps, TO) > now)
    row = range(width(steps) - 1)
    numbers = codes(steps, row)
    at = ints(steps, TO)
    order = order_by(numbers.ids, at)
    places, starts, ends, diff = _swept(numbers.ids[order], at[order], ints(steps, DIFF)[order])
    rows = steps.take(pa.array(order[places]))
    columns = [*(rows.column(i) for i in row), *(rows.column(n) for n in (FROM, TO, DIFF))]
    return with_times(pa.Table.from_arrays(columns, schema=schema), starts, ends, diff)


@njit(cache=True)
def _swept(ids: Ints, at: Ints, steps: Ints) -> Any:
    """Over which instants, and how often, a row is there more than it has been since ``now``."""
    n = len(ids)
    places = np.empty(n, np.int64)
    starts = np.empty(n, np.int64)
    ends = np.empty(n, np.int64)
    diff = np.empty(n, np.int64)
    count, level, least = 0, 0, 0
    for i in range(n):
        if i == 0 or ids[i] != ids[i - 1]:
            level, least = 0, 0
        level += steps[i]
        more = i + 1 < n and ids[i + 1] == ids[i]
        if more and at[i + 1] == at[i]:
            continue
        least = min(least, level)
        if level > least:
            places[count], starts[count] = i, at[i]
            ends[count] = at[i + 1] if more else INF
            diff[count] = level - least
            count += 1
    return places[:count], starts[:count], ends[:count], diff[:count]
