"""Frames: the rows around a row, among the rows of a partition that are there in a segment.

Law: in a segment the rows of a partition stand in an order, equal rows next to each other.  The
frame of a row goes from ``start`` to ``end``, both included, None is unbounded: by counts of rows,
or by amounts of the one sort column, where 0 includes all peers.  NULL, NaN and the infinities
lie nowhere else, however far one goes: their peers do.

In an order both ends of the frames move one way only.  So a row is in the frames of one run of
rows, and what an aggregate is over time for spans, it is over frames: a row has a span of
numbers, from the first frame that has it up to the first that no longer does.

    rows            0   1   2   3   4
    frame of 2          [=======]            start = -1, end = 1
    row 2 is in         0   1   2  3         of rows 1, 2, 3: the span [1, 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.errors import UnsupportedError
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.ordering import SortColumn
from ebbtide.state.arrays import Ints, differs
from ebbtide.state.columns import column, decimal_words, double_bits, fixed, present


@dataclass(frozen=True, slots=True)
class Frame:
    """From ``start`` to ``end``, in rows or else in amounts of the sort column."""

    rows: bool
    start: int | None = None
    end: int | None = 0


class Entries(NamedTuple):
    """Rows in segments, by segment and order, every copy by itself.

    ``rows`` are places in a batch; ``numbers`` count from 0 within a segment, whose entries are
    those from ``firsts`` to ``firsts + sizes``; ``peers`` is the number of the first peer and
    ``lasts`` that after the last one.
    """

    segments: Ints
    rows: Ints
    numbers: Ints
    firsts: Ints
    sizes: Ints
    peers: Ints
    lasts: Ints


class Bounds(NamedTuple):
    """For each entry the numbers from which and up to which its frame goes."""

    low: Ints
    high: Ints


def entries(segments: Ints, rows: Ints, peers: Ints) -> Entries:
    """Entries by segment and order; equal ``peers`` of neighbours in a segment are peers."""
    places = np.arange(len(segments))
    begins = differs([segments])
    first = np.flatnonzero(begins)
    sizes = np.diff(np.append(first, len(segments)))
    segment = np.cumsum(begins) - 1
    firsts = first[segment] if len(first) else places
    apart = differs([segments, peers])
    first_peer = np.flatnonzero(apart)
    run = np.cumsum(apart) - 1
    ends = np.append(first_peer[1:], len(segments))
    of = first_peer[run] if len(run) else places
    return Entries(
        segments,
        rows,
        places - firsts,
        firsts,
        sizes[segment] if len(first) else places,
        of - firsts,
        (ends[run] if len(run) else places) - firsts,
    )


def bounds(found: Entries, frame: Frame, rows: Batch, order: tuple[SortColumn, ...]) -> Bounds:
    """The frames of all entries."""
    nothing = np.zeros_like(found.numbers)
    if frame.rows:
        low = nothing if frame.start is None else found.numbers + frame.start
        high = found.sizes if frame.end is None else found.numbers + frame.end + 1
        return Bounds(np.clip(low, 0, found.sizes), np.clip(high, 0, found.sizes))
    if frame.start in (None, 0) and frame.end in (None, 0):
        return Bounds(
            nothing if frame.start is None else found.peers,
            found.sizes if frame.end is None else found.lasts,
        )
    kinds, values = _axis(rows, order[0])
    kinds, values = kinds[found.rows], values[found.rows]
    nearest = _moved(values, np.where(kinds == 0, frame.start or 0, 0))
    furthest = _moved(values, np.where(kinds == 0, frame.end or 0, 0))
    low, high = _reached(found.firsts, found.sizes, kinds, values, nearest, furthest)
    return Bounds(
        nothing if frame.start is None else low, found.sizes if frame.end is None else high
    )


def frame_spans(found: Entries, frames: Bounds) -> Bounds:
    """For each entry the numbers from which and up to which the frames have it."""
    return Bounds(*_members(found.firsts, found.sizes, *frames))


def _axis(rows: Batch, sort: SortColumn) -> tuple[Ints, Any]:
    """The sort column as numbers that ascend, and apart from them NULL and NaN."""
    array = column(rows, sort.column)
    valid = present(array)
    values, usual = _numbers(array)
    kinds = np.where(usual, 0, -1 if sort.descending else 1)
    if valid is not None:
        kinds = np.where(valid, kinds, -2 if sort.nulls_first else 2)
    known = np.where(kinds == 0, values, values.dtype.type(0))
    if not sort.descending:
        return kinds, known
    return kinds, -known if known.dtype == np.float64 else ~known


def _numbers(array: Any) -> tuple[Any, Any]:
    if pa.types.is_float64(array.type):
        values = double_bits(array).view(np.float64)
        return values, ~np.isnan(values)
    if pa.types.is_decimal128(array.type):
        if array.type.precision > 18:
            raise UnsupportedError(
                "wide-frame",
                f"a RANGE frame over {array.type} is not built",
                hint="CAST the column to DECIMAL(18, s) or DOUBLE",
            )
        return decimal_words(array)[1], np.ones(len(array), np.bool_)
    return fixed(array).astype(np.int64), np.ones(len(array), np.bool_)


def _moved(values: Any, by: Ints) -> Any:
    """The sums, within what whole numbers there are."""
    if values.dtype == np.float64:
        return values + by
    greatest, least = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    above = (by > 0) & (values > greatest - np.maximum(by, 0))
    below = (by < 0) & (values < least - np.minimum(by, 0))
    return np.where(above, greatest, np.where(below, least, values + by))


@njit(cache=True)
def _reached(
    firsts: Ints, sizes: Ints, kinds: Ints, values: Any, nearest: Any, furthest: Any
) -> Any:
    """One pass over each segment: both ends of its frames only move forwards."""
    low = np.empty(len(firsts), np.int64)
    high = np.empty(len(firsts), np.int64)
    i = 0
    while i < len(firsts):
        first, size = firsts[i], sizes[i]
        a, b = 0, 0
        for here in range(first, first + size):
            while a < size and _before(kinds, values, first + a, here, nearest[here], False):
                a += 1
            while b < size and _before(kinds, values, first + b, here, furthest[here], True):
                b += 1
            low[here], high[here] = a, b
        i = first + size
    return low, high


@njit(cache=True)
def _before(kinds: Ints, values: Any, there: int, here: int, bound: Any, included: bool) -> bool:
    if kinds[there] != kinds[here]:
        return bool(kinds[there] < kinds[here])
    return bool(values[there] < bound or (included and values[there] == bound))


@njit(cache=True)
def _members(firsts: Ints, sizes: Ints, low: Ints, high: Ints) -> Any:
    begin = np.empty(len(firsts), np.int64)
    end = np.empty(len(firsts), np.int64)
    i = 0
    while i < len(firsts):
        first, size = firsts[i], sizes[i]
        a, b = 0, 0
        for number in range(size):
            while a < size and high[first + a] <= number:
                a += 1
            while b < size and low[first + b] <= number:
                b += 1
            begin[first + number], end[first + number] = a, b
        i = first + size
    return begin, end
