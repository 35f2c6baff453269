"""Expire: rows without their ends, each followed by a negative change when it expires.

Law: at every instant up to ``now`` what was emitted adds up to what came.
State: how many rows end when, as far as that is after ``now``.
Emits: a change that ends after ``now`` as one without an end; when ``now`` comes to that end, the
same change with its sign turned, from there on.  What has ended when it comes goes as it is.
Forgets: what has expired.

    now        |         |          |
    in     |-----------------)                    out   +1 |------------------- ...
                                                        -1                  |-- ...

This is the operator EXPIRE of paper 2, section 4.2.1.  With ``told`` it does not go by ``now`` but
by the messages on a second input: that the rows that end at an instant have expired (a join
message, section 6.1), or all that end by it (a piggybacking flag, section 7).  Who tells nothing
lets rows stay for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    cancel,
    payload,
    row_types,
    where,
    width,
    with_times,
)
from ebbtide.state.columns import column, ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS

MESSAGE = (pa.int64(), pa.bool_())
"""A message: an instant, and whether also all that ends before it has expired."""


@dataclass(frozen=True, slots=True)
class Expire:
    """Sends negatives for rows that expire; rows with equal ``keys`` are in one shard."""

    keys: tuple[int, ...] = ()
    told: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What comes, with other ends."""
        return inputs[0]

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows that are to expire; each is there until then."""
        return (waiting_layout("expiring", inputs[0], self.keys),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The rows that came, and negatives for those that have expired."""
        changes, (area,) = inputs[0], areas
        due = expired(area, times)
        if self.told:
            due = where(due, _told(inputs[1], ints(due, TO)))
        waits = (ints(changes, TO) > times.now) & (ints(changes, TO) < INF)
        parts = [_endless(changes, waits)]
        if due.num_rows:
            parts.append(_turned(due, changes.schema))
        sent = cancel(pa.concat_tables(parts)) if len(parts) > 1 else parts[0]
        return Result(sent, (waiting(area, where(changes, waits), times),))


def expired(area: SweepArea, times: Times) -> Batch:
    """What waited for an end that ``now`` has come to, net."""
    if times.now <= times.before:
        return area.none.changes
    return cancel(area.moved(times.before + 1, times.now).changes)


def waiting_layout(name: str, schema: Schema, keys: tuple[int, ...]) -> Layout:
    """Rows that wait for their ends, each with its end as a column: only equal ones cancel."""
    return Layout(name, batch_schema([*row_types(schema), pa.int64()]), keys)


def waiting(area: SweepArea, changes: Batch, times: Times) -> SweepArea:
    """The area with more that waits for its end, without what has come to it."""
    keep = Keep(((After(ENDS, times.now),),))
    start: Ints = np.full(changes.num_rows, NEG_INF, np.int64)
    rows = [changes.column(i) for i in payload(changes)]
    ends, diffs = changes.column(TO), changes.column(DIFF)
    columns = [*rows, ends, pa.array(start), ends, diffs]
    timeless = pa.Table.from_arrays(columns, schema=area.layout.schema)
    return area.insert(cancel(timeless)).reorganize(keep)


def _endless(changes: Batch, which: Mask) -> Batch:
    """Changes, some of them without their ends."""
    ends = np.where(which, INF, ints(changes, TO))
    return with_times(changes, ints(changes, FROM), ends, ints(changes, DIFF))


def _turned(due: Batch, schema: Schema) -> Batch:
    """What waited, with its sign turned, from its end on."""
    rows = [due.column(i) for i in range(width(due) - 1)]
    never: Ints = np.full(due.num_rows, INF, np.int64)
    times = [due.column(TO), pa.array(never), pa.array(-ints(due, DIFF))]
    return pa.Table.from_arrays([*rows, *times], schema=schema)


def _told(messages: Batch, ends: Ints) -> Mask:
    """The ends that messages are about."""
    at = ints(messages, messages.schema.names[0])
    flags = np.asarray(column(messages, 1).to_numpy(zero_copy_only=False), np.bool_)
    upto = at[flags].max(initial=NEG_INF)
    found: Mask = np.isin(ends, at[~flags]) | (ends <= upto)
    return found


def message_schema() -> Schema:
    """The schema of messages."""
    return batch_schema(list(MESSAGE))
