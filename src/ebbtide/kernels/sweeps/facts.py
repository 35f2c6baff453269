"""Facts that are counted before and after a step, for operators that place facts among others.

Law: ``known`` has every fact of the touched partitions once, and says how often it was there
before the step and how often it is after it.  An operator places the facts by the counts before
and by the counts after, and emits the difference: whole numbers and the facts' own values, so
placing them again gives what was emitted, to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ebbtide.kernels.grouping import exact, firsts, grouped
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.ordering import in_order
from ebbtide.state.arrays import Ints, Words, differs
from ebbtide.state.batch import DIFF, TIMES, concat, key_hash, payload
from ebbtide.state.columns import all_ranks, column, fixed, ints


@dataclass(frozen=True, slots=True)
class Known:
    """Different facts with the number of their partition, and how often each is there."""

    facts: Batch
    partitions: Ints
    before: Ints
    after: Ints

    def times(self, on: int) -> Ints:
        """The values of a column of times, which has no NULLs."""
        return fixed(column(self.facts, on))


def known(stored: Batch, new: Batch, partition: tuple[int, ...]) -> Known:
    """The facts of stored and new changes; stored rows may have further columns at the end."""
    columns = payload(new)
    names = [f"c{i}" for i in columns] + [field.name for field in TIMES]
    changes = concat([stored.select(names), new], new.schema)
    rows = exact(changes, columns, key_hash(changes, columns))
    diff = ints(changes, DIFF)
    old = np.arange(len(diff)) < stored.num_rows
    after = _sums(rows.ids, diff, rows.count)
    before = _sums(rows.ids, np.where(old, diff, 0), rows.count)
    facts = firsts(changes, rows)
    parts = grouped((facts,), (partition,), (key_hash(facts, partition),))
    return Known(facts, parts.numbers[0], before, after)


def sorted_facts(found: Known, on: int, key: tuple[int, ...] = ()) -> Known:
    """The facts by partition, and within it by time, key and all columns."""
    words = [found.partitions, found.times(on), *all_ranks(found.facts, key)]
    order = in_order(found.facts, words, payload(found.facts))
    facts = found.facts.take(pa.array(order))
    return Known(facts, found.partitions[order], found.before[order], found.after[order])


def summed(words: Words, diff: Ints) -> tuple[Ints, Ints]:
    """One place for each combination of words that does not add up to 0, and its sum."""
    if not len(diff):
        return np.empty(0, np.int64), diff
    order = np.lexsort(tuple(reversed(words)))
    begins = np.flatnonzero(differs([word[order] for word in words]))
    total = np.add.reduceat(diff[order], begins)
    left = total != 0
    return order[begins[left]], total[left]


def _sums(numbers: Ints, diff: Ints, count: int) -> Ints:
    total = np.zeros(count, np.int64)
    np.add.at(total, numbers, diff)
    return total
