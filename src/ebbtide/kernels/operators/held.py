"""Held: changes wait until they begin.

Law: after every step, the changes that were emitted are those that came, without the ones that
begin after ``now``; snapshots up to ``now`` are the input's.  Where all rows of the input have
``begun``, what was emitted is the input, whole.
State: the changes that begin after ``now``.
Emits: a change when ``now`` reaches its beginning, with its whole interval.
Forgets: what it has emitted.

    now      |
    in   |-------)      emitted
              |------)  held until now is there

Where all rows have begun, a change that begins after ``now`` says nothing of a row to come: it
moves the end of one that is there.  It does not wait, or what is shown would depend on the steps in
which the end became known.  The row is taken back from ``now`` on, and brought with its new end.

    now          |
    shown    |-------)
    in               |----)
    emitted   -1 |---)
              +1 |--------)

Where rows may begin later and their ends may move, too, it takes ``spanning`` to tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import NEG_INF, Instant
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    cancel,
    payload,
    row_types,
    where,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Held:
    """Lets pass what has begun, which may be known of all rows."""

    begun: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes goes."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The waiting changes; each ends where it begins, so that it is found and goes then.

        Both its ends are columns, so that only equal ones cancel.
        """
        types = row_types(inputs[0])
        schema = batch_schema([*types, pa.int64(), pa.int64()])
        return () if self.begun else (Layout("held", schema, tuple(range(len(types)))),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The changes that have begun by now."""
        (changes,) = inputs
        if self.begun:
            return Result(at_once(changes, times.now), ())
        (area,) = areas
        if times.now > times.before:
            due = area.moved(times.before + 1, times.now).changes
            if due.num_rows:
                changes = cancel(pa.concat_tables([changes, _woken(due, changes.schema)]))
        begun = ints(changes, FROM) <= times.now
        keep = Keep(((After(ENDS, times.now),),))
        area = area.insert(_waiting(where(changes, ~begun), area.layout.schema))
        return Result(where(changes, begun), (area.reorganize(keep),))


def at_once(changes: Batch, now: Instant) -> Batch:
    """Changes of rows that have begun: those of what comes after ``now`` are of their ends."""
    begun = ints(changes, FROM) <= now
    if begun.all():
        return changes
    return pa.concat_tables([where(changes, begun), _ends_moved(where(changes, ~begun), now)])


def _ends_moved(changes: Batch, now: Instant) -> Batch:
    """Changes of what comes after ``now``, as rows from ``now`` on with another end."""
    diff, since = ints(changes, DIFF), np.full(changes.num_rows, now, np.int64)
    new = with_times(changes, since, ints(changes, TO), diff)
    return pa.concat_tables([new, with_times(changes, since, ints(changes, FROM), -diff)])


def _waiting(changes: Batch, schema: Schema) -> Batch:
    """Changes as they wait: their ends are columns, and their beginning is when they go."""
    start: Ints = np.full(changes.num_rows, NEG_INF, np.int64)
    rows = [changes.column(i) for i in payload(changes)]
    ends = [changes.column(FROM), changes.column(TO)]
    times = [pa.array(start), changes.column(FROM), changes.column(DIFF)]
    return pa.Table.from_arrays([*rows, *ends, *times], schema=schema)


def _woken(waiting: Batch, schema: Schema) -> Batch:
    """Changes as they were before they waited."""
    *rows, start, end = [waiting.column(i) for i in payload(waiting)]
    return pa.Table.from_arrays([*rows, start, end, waiting.column(DIFF)], schema=schema)
