"""Orders on the rows of a batch, with all columns to break ties.

Law: ``in_order`` sorts by the given words and then by all columns of the row, NULLs first and NaN
last, as ``ebbtide.core.values.row_key`` compares; only rows that are equal stay in any order.
The columns are looked at only where the words tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.state.arrays import Ints, Words, differs, order_by
from ebbtide.state.columns import all_ranks, column, present, ranks


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column of an order, by its position."""

    column: int
    descending: bool = False
    nulls_first: bool = True


def sort_words(table: Any, sort: SortColumn) -> Words:
    """Whole numbers in the order of a sort column, the most significant first."""
    array = column(table, sort.column)
    valid = present(array)
    words = ranks(array)
    if sort.descending:
        words = [~word for word in words]
    if valid is None:
        return words
    placed = np.where(valid, 1, 0 if sort.nulls_first else 2)
    return [placed, *(np.where(valid, word, 0) for word in words)]


def in_order(table: Any, words: Words, columns: range) -> Ints:
    """The places of the rows, sorted by the words and then by the columns."""
    order = order_by(words[0], words[1]) if len(words) == 2 else np.lexsort(tuple(words[::-1]))
    begins = differs([word[order] for word in words])
    if begins.all():
        return order
    tied = ~begins
    tied[:-1] |= ~begins[1:]
    places = np.flatnonzero(tied)
    rows = table.take(pa.array(order[places]))
    runs = np.cumsum(begins)[places]
    deciding = np.lexsort((*reversed(all_ranks(rows, columns)), runs))
    order[places] = order[places][deciding]
    return order
