"""Final: rows wait until on-time input can no longer change them.

Law: after every step, what has left is the part of the input that has passed: of facts, all rows
that the pass rule passes; of a changing relation, every segment whose last instant is at or below
the progress of the answer, whole.  A row leaves once.  What comes for a row that had passed before
the step is a revision: only a late row can bring it, it leaves at once, and it is marked.
State: the rows that have come and not passed, each segment by itself.
Emits: a row in the step in which progress allows it; under WITH FINALITY also every change as it
begins, with ``is_final`` false, and then the same row with true in its place.
Forgets: what has left.

    progress         |                          |
    in       |-----------)             held     |           left, when progress is at its end - 1
             |------------------)      held     |
                     |-  -  -  -) -1            |           cut there: the segment ends with it

Segments are maximal: those of a row that wait are netted with what comes for it.  So that they add
up whatever a store has dropped, each waits with its two ends as columns of its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.kernel import Batch, Result, Schema, Times
from ebbtide.kernels.operators.held import Held
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Mask, distinct
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    cancel,
    key_hash,
    negated,
    net,
    payload,
    row_types,
    where,
    width,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.keep import Keep
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class Final:
    """Lets pass what is final.

    Of facts the pass rule speaks of times in the row; of a changing relation, where rows are
    ``segments``, of their ends.  The last columns of a row may be ``hidden``: the rule needs them,
    and they do not leave.  With ``early``, rows are there as that lets them pass, and say whether
    they are final.
    """

    segments: bool
    hidden: int = 0
    early: Held | None = None

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The row without what is hidden, ``is_final`` if that is shown, and the mark."""
        types = row_types(inputs[0])
        marks = [pa.bool_()] * (1 if self.early is None else 2)
        return batch_schema([*types[: len(types) - self.hidden], *marks])

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """What waits to be final, found by its row; then what waits to begin, if that is shown."""
        types = row_types(inputs[0])
        ends = [pa.int64()] * 2 if self.segments else []
        waiting = Layout("final", batch_schema([*types, *ends]), tuple(range(len(types))))
        return (waiting, *(() if self.early is None else self.early.areas(inputs)))

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The rows that have become final, and the changes of those that were."""
        (changes,), (area, *ahead) = inputs, areas
        (keep, *_) = times.inputs
        stepped = _segments(changes, area, times) if self.segments else _facts(changes, area, times)
        area = area.insert(stepped.waiting, None, keep).reorganize(keep)
        left, revised = map(self._shown, (stepped.left, stepped.revised))
        schema = self.output((changes.schema,))
        if self.early is None:
            marked = [_marked(left, False), _marked(revised, True)]
            return Result(_concat(marked, schema), (area,))
        begun = self.early.step(inputs, tuple(ahead), times)
        early = [self._shown(begun.changes), negated(left), negated(revised)]
        marked = [
            _marked(cancel(pa.concat_tables(early)), False, False),
            _marked(left, True, False),
            _marked(revised, True, True),
        ]
        return Result(_concat(marked, schema), (area, *begun.areas))

    def _shown(self, changes: Batch) -> Batch:
        """Changes without what is hidden of their rows."""
        if not self.hidden:
            return changes
        shown = width(changes) - self.hidden
        columns = [*changes.columns[:shown], *changes.columns[width(changes) :]]
        schema = batch_schema(row_types(changes.schema)[:shown])
        return cancel(pa.Table.from_arrays(columns, schema=schema))


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Lets pass every row as it begins, where all rows are final; ``told`` says so in the row."""

    held: Held
    told: bool = False

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The row, ``is_final`` if that is shown, and the mark."""
        return Final(False, 0, self.held if self.told else None).output(inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """What waits to begin."""
        return self.held.areas(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The changes that have begun."""
        begun = self.held.step(inputs, areas, times)
        told = (True,) if self.told else ()
        return Result(_marked(begun.changes, *told, False), begun.areas)


@dataclass(frozen=True, slots=True)
class _Stepped:
    """What leaves, what leaves as a revision, and what is added to the rows that wait."""

    left: Batch
    revised: Batch
    waiting: Batch


def _facts(changes: Batch, area: SweepArea, times: Times) -> _Stepped:
    """Facts: all changes of a row pass together, by the times that it has."""
    waited = _mask(times.waited, changes)
    due = area.under(times.waited).beyond(times.waits).changes
    here = where(changes, waited)
    waits = _mask(times.waits, here)
    left = cancel(pa.concat_tables([due, where(here, ~waits)]))
    return _Stepped(left, where(changes, ~waited), where(here, waits))


def _segments(changes: Batch, area: SweepArea, times: Times) -> _Stepped:
    """Segments: those of a row that something comes for are cut anew."""
    stored = area.under(times.waited)
    touched = distinct(key_hash(changes, payload(changes)))
    base = stored.probe(touched).changes
    pieces = net(pa.concat_tables([_freed(base, changes.schema), changes]))
    waits = _mask(times.waits, pieces)
    due = stored.beyond(times.waits)
    others = cancel(where(due.changes, ~np.isin(due.hashes, touched)))
    leaving = where(pieces, ~waits)
    revised = _revised(leaving, changes, times.waited)
    tied = [_tied(where(pieces, waits), area.layout.schema), negated(base)]
    return _Stepped(
        pa.concat_tables([where(leaving, ~revised), _freed(others, changes.schema)]),
        where(leaving, revised),
        cancel(pa.concat_tables(tied)),
    )


def _revised(leaving: Batch, changes: Batch, waited: Keep) -> Mask:
    """Which pieces had passed before, of rows that something late has come for.

    Input that is on time begins after the progress; it may end a segment right there, so that the
    piece before it had passed, too, and could not be known.
    """
    starts = ints(changes, FROM)
    first = with_times(changes, starts, starts + 1, ints(changes, DIFF))
    late = where(changes, ~_mask(waited, first))
    of_late = np.isin(key_hash(leaving, payload(leaving)), key_hash(late, payload(late)))
    return ~_mask(waited, leaving) & of_late


def _mask(keep: Keep, changes: Batch) -> Mask:
    mask = keep.mask(changes)
    return np.ones(changes.num_rows, np.bool_) if mask is None else mask


def _tied(changes: Batch, schema: Schema) -> Batch:
    """Segments as they wait: their ends are columns, too, so that only equal ones cancel."""
    rows = [changes.column(i) for i in payload(changes)]
    ends = [changes.column(FROM), changes.column(TO)]
    return pa.Table.from_arrays([*rows, *ends, *ends, changes.column(DIFF)], schema=schema)


def _freed(waiting: Batch, schema: Schema) -> Batch:
    """Segments as they were before they waited."""
    rows = [waiting.column(i) for i in range(width(waiting) - 2)]
    times = [waiting.column(name) for name in (FROM, TO, DIFF)]
    return pa.Table.from_arrays([*rows, *times], schema=schema)


def _marked(changes: Batch, *marks: bool) -> Any:
    """Changes with more columns at the end of their rows, the same for all."""
    rows = [changes.column(i) for i in payload(changes)]
    more = [pa.repeat(pa.scalar(mark), changes.num_rows) for mark in marks]
    times = [changes.column(name) for name in (FROM, TO, DIFF)]
    types = [*row_types(changes.schema), *(pa.bool_() for _ in marks)]
    return pa.Table.from_arrays([*rows, *more, *times], schema=batch_schema(types))


def _concat(tables: list[Batch], schema: Schema) -> Batch:
    full = [table for table in tables if table.num_rows]
    return pa.concat_tables(full).combine_chunks() if full else schema.empty_table()
