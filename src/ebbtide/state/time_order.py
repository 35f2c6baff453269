"""Segments whose rows lie in the order of one of their times, as rows mostly come.

Law: what is read is what was written.  Rows lie by the time, then by the first other column of
their key, then by a hash of the rest: what is written depends on the changes alone, and rows that
come in that order are neither sorted nor copied.  What all rows have in common is written once.

    time        1  1  1  2  2  2  3  3          at 2: found by halving, the fourth to the sixth
    key         a  b  c  a  b  c  a  c
    step        7 ----------------------        once

No hash is stored: a key is looked for by its time, and rows with that time are hashed then.  So
they are for what is written once and seldom looked at, as archives are (paper 3, section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.state.arrays import Ints, Mask, differs, order_by, ranges, stable_order
from ebbtide.state.columns import column, fixed, is_text, ranks
from ebbtide.state.segment import ENDS
from ebbtide.state.ties import broken

_TIME = b"time"


def can_lie_by_time(changes: Any, time: int) -> bool:
    """Whether all changes have the time by which they would lie."""
    return time != ENDS and column(changes, time).null_count == 0


def in_time_order(changes: Any, time: int, keys: tuple[int, ...]) -> Any:
    """The changes in the order in which they are written."""
    times = fixed(column(changes, time))
    first = _first_key(changes, time, keys)
    if _is_in_order(changes, times, first):
        return changes
    if first is None:
        order, words = stable_order(times), [times]
    else:
        (rank,) = ranks(column(changes, first))
        order, words = order_by(times, rank), [times, rank]
    begins = differs([word[order] for word in words])
    return changes.take(pa.array(broken(changes, order, begins)))


def packed(changes: Any, time: int) -> Any:
    """The batch that is written of changes that are in order."""
    columns = [column(changes, i) for i in range(changes.num_columns)]
    arrays = [array if i == time else _packed(array) for i, array in enumerate(columns)]
    fields = [
        pa.field(field.name, array.type, field.nullable)
        for field, array in zip(changes.schema, arrays, strict=True)
    ]
    schema = pa.schema(fields, {_TIME: str(time).encode()})
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass(frozen=True, slots=True)
class TimeRows:
    """The opened rows of such a segment, and the column of the time."""

    batch: Any
    column: int
    times: Ints

    @staticmethod
    def of(batch: Any) -> TimeRows:
        """The rows of a stored batch, over its own memory."""
        place = int(batch.schema.metadata[_TIME])
        return TimeRows(batch, place, fixed(batch.column(place)))

    def everything(self) -> Any:
        """All changes."""
        return self._unpacked(lambda array: array, len(self.times))

    def between(self, first: int, last: int) -> Any:
        """The changes whose time is from ``first`` to ``last``."""
        start = int(np.searchsorted(self.times, first, "left"))
        count = max(0, int(np.searchsorted(self.times, last, "right")) - start)
        return self._unpacked(lambda array: array.slice(start, count), count)

    def at(self, times: Ints) -> Any:
        """The changes that have one of some times, which are sorted and different."""
        begin = np.searchsorted(self.times, times, "left")
        places = ranges(begin, np.searchsorted(self.times, times, "right") - begin)
        chosen = pa.array(places)
        return self._unpacked(lambda array: array.take(chosen), len(places))

    def _unpacked(self, choose: Any, count: int) -> Any:
        arrays = [
            pa.repeat(array.values[0], count) if _is_packed(array.type) else choose(array)
            for array in self.batch.columns
        ]
        fields = [
            pa.field(field.name, array.type, field.nullable)
            for field, array in zip(self.batch.schema, arrays, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _first_key(changes: Any, time: int, keys: tuple[int, ...]) -> int | None:
    """The first column of the key beside the time, if it has an order that is quickly found."""
    others = [place for place in keys if place != time]
    if not others:
        return None
    found = column(changes, others[0])
    quick = is_text(found.type) or pa.types.is_integer(found.type)
    return others[0] if quick and not found.null_count else None


def _is_in_order(changes: Any, times: Ints, first: int | None) -> bool:
    """Whether times and, where these are equal, first keys grow from row to row."""
    if (times[1:] < times[:-1]).any():
        return False
    tied: Mask = times[1:] == times[:-1]
    if not tied.any():
        return True
    if first is None:
        return False
    keys = column(changes, first)
    stays = pc.greater_equal(keys.slice(0, len(keys) - 1), keys.slice(1))
    return not (tied & stays.to_numpy(zero_copy_only=False)).any()


def _packed(array: Any) -> Any:
    """A column, as one value if it has no other."""
    if not pa.types.is_int64(array.type) or array.null_count or not len(array):
        return array
    values = fixed(array)
    if values[0] != values[-1] or (values != values[0]).any():
        return array
    return pa.RunEndEncodedArray.from_arrays(pa.array([len(array)], pa.int32()), array.slice(0, 1))


def _is_packed(kind: Any) -> bool:
    return bool(pa.types.is_run_end_encoded(kind))
