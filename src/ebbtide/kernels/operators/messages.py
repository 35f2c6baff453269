"""Messages: what tells an Expire behind it which rows have expired.

Law: every row that came, and ends after the ``now`` of its step, has a message once ``now`` came
to its end: by a message for that instant, or by a flag at it or later.
State: the messages still to send, and when.
Emits: a message for each row that has expired (equal ones travel as one), or, of the pairs of a
join, for each row of a side that was the first of some pair to end (paper 2, section 6.1: its
reference count is positive); a row with a reference count of 0 gets none.  With
``carried`` no message goes out for what ended by the last positive change of the step: that change
carries the time, and one flag says so for all of them (section 7).
Forgets: what it has sent.

    pairs of a    |----------)            one message at the end of a, for both
                     |-------)
    step with a positive change at t      one flag t instead of all messages up to t

Reference counts and the joined-tuples table of paper 2 are one thing here: how many pairs stand on
a row is what its stored changes add up to, and a row of a table has no end to be counted at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.operators.expire import expired, message_schema, waiting, waiting_layout
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    key_hash,
    net,
    payload,
    row_types,
    where,
)
from ebbtide.state.columns import column, ints
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class PairSides:
    """Where the sides of a pair are: the first ``left`` columns are one, the others the other.

    The last column of each has the end of its row.
    """

    left: int


@dataclass(frozen=True, slots=True)
class Messages:
    """Tells of rows that expire, or of rows of ``pairs``; ``keys`` choose the shard."""

    keys: tuple[int, ...]
    pairs: PairSides | None = None
    carried: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """An instant, and whether it stands for all before it."""
        return message_schema()

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """What a message will say: the keys, and a hash of the row, or the side that ends first."""
        given = inputs[0]
        types = [given.field(key).type for key in self.keys]
        types += [pa.int64()] if self.pairs is None else [pa.bool_(), *row_types(given)]
        return (waiting_layout("untold", batch_schema(types), tuple(range(len(self.keys)))),)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """What has expired, as far as nothing carries it."""
        (changes,), (area,) = inputs, areas
        told = self._instants(expired(area, times))
        if self.carried and len(told):
            told, flags = _carried(told, _last_positive(changes, times))
        else:
            flags = np.zeros(0, np.int64)
        ends = ints(changes, TO)
        rows = where(changes, (ends > times.now) & (ends < INF))
        area = waiting(area, self._untold(rows), times)
        return Result(_messages(told, flags), (area,))

    def _instants(self, due: Batch) -> Ints:
        """When something expires that needs a message: once for rows that are equal."""
        counted = net(due)
        return np.sort(ints(where(counted, ints(counted, DIFF) > 0), TO))

    def _untold(self, changes: Batch) -> Batch:
        columns = [changes.column(key) for key in self.keys]
        if self.pairs is None:
            columns.append(pa.array(key_hash(changes, payload(changes)).view(np.int64)))
        else:
            columns += _first_to_end(changes, self.pairs.left)
        ends = [changes.column(name) for name in (FROM, TO, DIFF)]
        schema = batch_schema([values.type for values in columns])
        return pa.Table.from_arrays([*columns, *ends], schema=schema)


def _first_to_end(changes: Batch, left: int) -> list[Any]:
    """Which side of each pair ends first, and its columns; the other's are NULL."""
    every = payload(changes)
    names = changes.schema.names
    mine: Mask = ints(changes, names[left - 1]) <= ints(changes, names[len(every) - 1])
    found = [pa.array(mine)]
    for place in every:
        values = column(changes, place)
        shown = pa.array(mine if place < left else ~mine)
        found.append(pc.if_else(shown, values, pa.nulls(len(values), values.type)))
    return found


def _last_positive(changes: Batch, times: Times) -> int:
    """The time that positive changes carry."""
    starts = ints(changes, FROM)
    carries = (ints(changes, DIFF) > 0) & (starts <= times.now)
    return int(starts[carries].max(initial=NEG_INF))


def _carried(told: Ints, upto: int) -> tuple[Ints, Ints]:
    """The messages that are left, and the flag that stands for the rest."""
    purged = told <= upto
    flags = np.array([upto] if purged.any() else [], np.int64)
    return told[~purged], flags


def _messages(told: Ints, flags: Ints) -> Batch:
    at = np.concatenate([told, flags])
    flagged = np.concatenate([np.zeros(len(told), np.bool_), np.ones(len(flags), np.bool_)])
    # A message stands for negatives; a flag travels with a positive change.
    signs = np.where(flagged, 1, -1)
    ends = [np.full(len(at), end, np.int64) for end in (NEG_INF, INF)]
    return pa.Table.from_arrays(
        [pa.array(values) for values in (at, flagged, *ends, signs)], schema=message_schema()
    )
