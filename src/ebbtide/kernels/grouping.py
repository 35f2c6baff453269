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
from ebbtide.state.batch import FROM, Codes, codes
from ebbtide.state.columns import all_words, column


@dataclass(frozen=True, slots=True)
class Groups:
    """The numbers of the rows of each batch, the key columns with a row per group, their hashes."""

    numbers: tuple[Ints, ...]
    keys: Any
    hashes: Hashes

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.hashes)


def grouped(
    batches: Sequence[Any], columns: Sequence[Sequence[int]], hashes: Sequence[Hashes]
) -> Groups:
    """Groups of rows by the key columns of their batch; ``hashes`` are those of the keys."""
    width = len(columns[0])
    names = [f"k{i}" for i in range(width)]
    keys = [
        pa.Table.from_arrays([column(batch, i) for i in chosen], names=names)
        if width
        else batch.select([FROM])
        for batch, chosen in zip(batches, columns, strict=True)
    ]
    together = pa.concat_tables(keys).combine_chunks()
    all_hashes = np.concatenate(hashes)
    found = _exact(together, range(width), all_hashes)
    ends = np.cumsum([len(part) for part in hashes])
    numbers = tuple(
        found.ids[end - len(part) : end] for part, end in zip(hashes, ends, strict=True)
    )
    firsts = together.select(names) if width else together.select([])
    if width:
        firsts = firsts.take(pa.array(found.first))
    return Groups(numbers, firsts, all_hashes[found.first])


def _exact(table: Any, columns: range, hashes: Hashes) -> Codes:
    ids, first = numbered(hashes)
    for word in all_words(table, columns):
        if (word != word[first][ids]).any():
            return codes(table, columns, hashes)
    return Codes(ids, first)


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
