"""Aggregates that choose a row: MIN, MAX, BOOL_AND, BOOL_OR, FIRST, LAST, ARG_MIN, ARG_MAX.

Law: the value of a call at a mark is that of the valid row with the greatest priority; rows of
equal priority have the same value.  So of rows that never end, those that are not the best of their
group for any call are never chosen again, unless one is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.selection import best
from ebbtide.kernels.ordering import sort_words
from ebbtide.kernels.sweeps.spans import Marks, Spans
from ebbtide.state.arrays import Hashes, Ints, Mask, Words, differs, order_by
from ebbtide.state.batch import codes
from ebbtide.state.columns import all_ranks, column, present, ranks


def choice(call: Call, table: Any, spans: Spans, marks: Marks) -> Any:
    """The column of chosen values at the marks, from spans that the call sees."""
    spans, priority = prioritised(call, table, spans)
    found = best(spans, priority, marks)
    rows = spans.rows[found] if len(spans.rows) else found
    return column(table, call.arguments[0]).take(pa.array(rows, mask=found < 0))


def prioritised(call: Call, table: Any, spans: Spans) -> tuple[Spans, Ints]:
    """The spans that can be chosen, and how good each of them is."""
    greatest = call.function in ("MAX", "BOOL_OR", "LAST", "ARG_MAX")
    if call.function in ("FIRST", "LAST"):
        priority = order(call, table, spans)
    elif call.function in ("ARG_MIN", "ARG_MAX"):
        by = column(table, call.arguments[1])
        valid = present(by)
        if valid is not None:
            spans = spans.chosen(valid[spans.rows])
        places = order(call, table, spans)
        words = [word[spans.rows] for word in ranks(by)]
        # Of equal rows the first one counts, whichever way the order of the values goes.
        priority = dense([*words, ~places if greatest else places])
    else:
        priority = dense([word[spans.rows] for word in ranks(column(table, call.arguments[0]))])
    return spans, priority if greatest else ~priority


def order(call: Call, table: Any, spans: Spans) -> Ints:
    """The place of each span's row in the order of the call; equal rows have equal places."""
    words = [word for sort in call.order for word in sort_words(table, sort)]
    words += all_ranks(table, call.row)
    return dense([word[spans.rows] for word in words])


def dense(words: Words) -> Ints:
    """Whole numbers in the order of the words; the word itself where there is one."""
    if len(words) == 1:
        return words[0]
    places = np.lexsort(tuple(reversed(words)))
    result = np.empty(len(places), np.int64)
    result[places] = np.cumsum(differs([word[places] for word in words]))
    return result


@dataclass(frozen=True, slots=True)
class BestRows:
    """Of rows that never end, those that some call would choose: one for each group and call."""

    keys: tuple[int, ...]
    calls: tuple[Call, ...]

    def __call__(self, table: Any, hashes: Hashes) -> Mask:
        """Which rows of a table to keep."""
        groups = codes(table, self.keys, hashes).ids
        zeros, ones = np.zeros(len(groups), np.int64), np.ones(len(groups), np.int64)
        all_spans = Spans(groups, zeros, ones, ones, np.arange(len(groups), dtype=np.int64))
        kept = np.zeros(len(groups), np.bool_)
        for call in self.calls:
            seen = all_spans.chosen(call.counted(table))
            spans, priority = prioritised(call, table, seen)
            by_goodness = order_by(spans.groups, priority)
            sorted_groups = spans.groups[by_goodness]
            last = np.append(sorted_groups[1:] != sorted_groups[:-1], True)[: len(by_goodness)]
            kept[spans.rows[by_goodness[last]]] = True
        return kept
