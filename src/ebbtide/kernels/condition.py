"""The condition of a join: equal key columns, and what else must hold of a pair of rows.

Law: a pair matches iff its key columns are equal, none of them is NULL, and the residual
predicate, if there is one, is TRUE of the joined row.  Whether a pair matches depends on the rows
alone, so it matches at all instants at which both rows are there, or at none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.grouping import grouped, numbered
from ebbtide.kernels.kernel import Batch, Schema
from ebbtide.kernels.matching import KeyedSpans, Pairs, matches
from ebbtide.state.area import Found, SweepArea
from ebbtide.state.arrays import Hashes, Ints, Mask
from ebbtide.state.batch import (
    FROM,
    TO,
    batch_schema,
    concat,
    key_hash,
    payload,
    row_types,
    where,
)
from ebbtide.state.columns import column, ints, present
from ebbtide.state.layout import Layout

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a join brings: its new changes, and the stored ones that can matter."""

    new: Found
    before: Found

    @property
    def all(self) -> Found:
        """All changes, the stored ones first."""
        return together(self.before, self.new)


@dataclass(frozen=True, slots=True)
class Condition:
    """Columns ``left`` equal columns ``right``, position by position; all pairs if there is none.

    ``residual`` makes a column of truth values of a table of joined rows, ``c0`` and so on.
    """

    left: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    residual: Callable[[Any], Any] | None = None

    def layouts(self, inputs: tuple[Schema, ...]) -> tuple[Layout, Layout]:
        """An area for each side, found by its key."""
        return Layout("left", inputs[0], self.left), Layout("right", inputs[1], self.right)

    def pairs(self, left: Found, right: Found) -> Pairs:
        """The places of the rows that match and have a common instant."""
        if not left.changes.num_rows or not right.changes.num_rows:
            return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))
        found = matches(*self._spans(left, right))
        if self.residual is None or not len(found.left):
            return found
        # In blocks, for a condition without equality has many candidates and few pairs.
        mask = np.concatenate(
            [
                _truth(self.residual(joined_rows(left.changes, right.changes, block)))
                for block in _blocks(found)
            ]
        )
        return Pairs(found.left[mask], found.right[mask])

    def _spans(self, left: Found, right: Found) -> tuple[KeyedSpans, KeyedSpans]:
        groups = grouped(
            (left.changes, right.changes), (self.left, self.right), (left.hashes, right.hashes)
        )
        return _spans(left.changes, groups.numbers[0]), _spans(right.changes, groups.numbers[1])


def with_key(changes: Batch, keys: tuple[int, ...]) -> Mask | None:
    """Where no key column is NULL; None if that is everywhere."""
    mask: Mask | None = None
    for index in keys:
        there = present(column(changes, index))
        if there is not None:
            mask = there if mask is None else mask & there
    return mask


def hashed(changes: Batch, keys: tuple[int, ...]) -> Found:
    """The changes that can have partners, those without NULL in the key, and their hashes."""
    mask = with_key(changes, keys)
    changes = changes if mask is None else where(changes, mask)
    if changes.num_columns and changes.column(0).num_chunks > 1:
        changes = changes.combine_chunks()  # rows are taken at random
    return Found(changes, key_hash(changes, keys))


def keyless(changes: Batch, keys: tuple[int, ...]) -> Batch:
    """The changes that cannot have partners, for there is a NULL in their key."""
    mask = with_key(changes, keys)
    return changes.slice(0, 0) if mask is None else where(changes, ~mask)


def partners(area: SweepArea, *changes: Found) -> Found:
    """The stored rows of an area that some changes can meet, by key and by time."""
    hashes = np.concatenate([found.hashes for found in changes])
    if not len(hashes):
        return Found(area.layout.schema.empty_table(), hashes)
    starts = np.concatenate([ints(found.changes, FROM) for found in changes])
    ends = np.concatenate([ints(found.changes, TO) for found in changes])
    return area.probe(*stretches(hashes, starts, ends))


def together(first: Found, second: Found) -> Found:
    """The changes of both."""
    changes = concat([first.changes, second.changes], first.changes.schema)
    return Found(changes, np.concatenate([first.hashes, second.hashes]))


def joined_rows(left: Batch, right: Batch, pairs: Pairs) -> Any:
    """The columns of the left and then of the right rows of some pairs."""
    at, to = pa.array(pairs.left), pa.array(pairs.right)
    columns = [left.column(i).take(at) for i in payload(left)]
    columns += [right.column(i).take(to) for i in payload(right)]
    return pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])


def joined_schema(left: Schema, right: Schema) -> Schema:
    """The schema of changes of joined rows."""
    return batch_schema([*row_types(left), *row_types(right)])


def stretches(hashes: Hashes, starts: Ints, ends: Ints) -> tuple[Hashes, Ints, Ints]:
    """Every hash once, in order, and the stretch of time that its intervals span."""
    ids, first = numbered(hashes)
    since, until = _extremes(ids, len(first), starts, ends)
    order = np.argsort(hashes[first])
    return hashes[first][order], since[order], until[order]


@njit(cache=True)
def _extremes(ids: Ints, count: int, starts: Ints, ends: Ints) -> Any:
    since = np.full(count, INF, np.int64)
    until = np.full(count, NEG_INF, np.int64)
    for row in range(len(ids)):
        since[ids[row]] = min(since[ids[row]], starts[row])
        until[ids[row]] = max(until[ids[row]], ends[row])
    return since, until


def _blocks(pairs: Pairs) -> Iterator[Pairs]:
    for start in range(0, len(pairs.left), _BLOCK):
        yield Pairs(*(places[start : start + _BLOCK] for places in pairs))


def _spans(changes: Batch, ids: Ints) -> KeyedSpans:
    return KeyedSpans(ids, ints(changes, FROM), ints(changes, TO))


def _truth(values: Any) -> Mask:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count:
        values = values.fill_null(False)
    return np.asarray(values.to_numpy(zero_copy_only=False), np.bool_)
