"""Numbering the groups of several batches at once, exactly and mostly without sorting.

Law: two rows get the same number iff their keys are the same by SQL's grouping.  Rows are put
together by their hash in one pass; then every key is compared with the first of its hash.  Only
if two keys share a hash by accident does the slow and always exact way decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.batch import Codes, codes, key_hash
from ebbtide.state.columns import all_words, column

_FEW = 4
"""Where fewer than one in so many rows share their hash with an earlier one, those are compared."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The numbers of the rows of each batch, the key columns with a row per group, their hashes."""

    numbers: tuple[Ints, ...]
    keys: Any
    hashes: Hashes

    def number(self, batch: Any, columns: Sequence[int], hashes: Hashes) -> Ints:
        """The numbers of the rows of one more batch, all of which belong to a group or to none.

        A row of no group has the number -1.
        """
        own = range(self.keys.num_columns)
        again = grouped([self.keys, batch], [own, columns], [self.hashes, hashes])
        known = np.full(again.count, -1, np.int64)
        known[again.numbers[0][: self.count]] = np.arange(self.count)
        return known[again.numbers[1]]

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.hashes)


def grouped(
    batches: Sequence[Any], columns: Sequence[Sequence[int]], hashes: Sequence[Hashes]
) -> Groups:
    """Groups of rows by the key columns of their batch; ``hashes`` are those of the keys.

    Without key columns there is one group, even if there are no rows.
    """
    width = len(columns[0])
    if not width:
        none = tuple(np.zeros(len(part), np.int64) for part in hashes)
        return Groups(none, pa.table({}), hash_without_key())
    names = [f"k{i}" for i in range(width)]
    keys = [
        pa.Table.from_arrays([column(batch, i) for i in chosen], names=names)
        for batch, chosen in zip(batches, columns, strict=True)
    ]
    together = pa.concat_tables(keys).combine_chunks()
    all_hashes = np.concatenate(hashes)
    found = exact(together, range(width), all_hashes)
    ends = np.cumsum([len(part) for part in hashes])
    numbers = tuple(
        found.ids[end - len(part) : end] for part, end in zip(hashes, ends, strict=True)
    )
    return Groups(numbers, firsts(together, found), all_hashes[found.first])


def hash_without_key() -> Hashes:
    """The hash of the key without columns."""
    return key_hash(pa.table({"none": pa.array([0])}), ())


def firsts(table: Any, found: Codes) -> Any:
    """A row of each group."""
    if found.count == table.num_rows and (found.first == np.arange(found.count)).all():
        return table
    return table.take(pa.array(found.first))


def exact(table: Any, columns: Sequence[int], hashes: Hashes) -> Codes:
    """The groups of rows by some columns, whose hashes are given."""
    ids, first = numbered(hashes)
    shared = np.flatnonzero(first[ids] != np.arange(len(ids)))
    if len(shared) < len(ids) // _FEW:
        # Rows that are the first of their hash need no comparison.
        places = pa.array(np.concatenate([shared, first[ids[shared]]]))
        pairs = pa.Table.from_arrays(
            [column(table, i).take(places) for i in columns], names=[f"k{i}" for i in columns]
        )
        half = len(shared)
        words = all_words(pairs, range(len(columns)))
        same = all((word[:half] == word[half:]).all() for word in words)
    else:
        same = all((word == word[first][ids]).all() for word in all_words(table, columns))
    return Codes(ids, first) if same else codes(table, columns, hashes)


def ranked(hashes: Hashes) -> Ints:
    """The rank of every hash among those that are there; numbers are narrower than hashes."""
    ids, first = numbered(hashes)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(hashes[first])] = np.arange(len(first))
    found: Ints = ranks[ids]
    return found


@njit(cache=True)
def numbered(hashes: Hashes) -> Any:
    """For every hash its number in the order of appearance, and where each first appears."""
    n = len(hashes)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, np.int64)
    ids = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        h = hashes[i]
        slot = np.int64(h & np.uint64(mask))
        while slots[slot] >= 0 and hashes[first[slots[slot]]] != h:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = i
            count += 1
        ids[i] = slots[slot]
    return ids, first[:count].copy()
