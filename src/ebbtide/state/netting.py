"""Exact grouping of rows, and the one canonical form of a batch.

Law: ``consolidate`` of a batch is ``core.change.consolidate`` of its changes: net multiplicities
over maximal intervals per row, sorted by (valid_from, valid_to, row).  ``net`` is the same
without the last sort, in an order that depends on the changes alone.

    row   +1 |------------)            net   +2 |----)
          +1 |----)              ->          +1      |----)
          -1            |--)                 (what ends and begins at one instant is one interval)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.state.arrays import Hashes, Ints, Mask, differs, order_by, stable_order
from ebbtide.state.columns import all_ranks, all_words, ints
from ebbtide.state.hashing import key_hash
from ebbtide.state.table import DIFF, FROM, TO, empty, payload, width, with_times


@dataclass(frozen=True, slots=True)
class Codes:
    """For every row the number of its group, and for every group the place of one of its rows."""

    ids: Ints
    first: Ints

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.first)


def codes(table: Any, columns: Sequence[int], hashes: Hashes | None = None) -> Codes:
    """Groups of the rows that agree in the columns, numbered in the order of their hashes.

    Exact: keys that share a hash by accident are different groups.
    """
    if hashes is None:
        hashes = key_hash(table, columns)
    order = stable_order(hashes)
    sorted_hashes = hashes[order]
    begins = differs([sorted_hashes])
    if not begins.all():
        # Only rows that share a hash can agree.
        begins = differs([sorted_hashes, *(w[order] for w in all_words(table, columns))])
    if (begins[1:] & (sorted_hashes[1:] == sorted_hashes[:-1])).any():
        # Different keys with one hash: they may alternate, so the values decide.
        order = np.lexsort((*reversed(all_ranks(table, columns)), hashes))
        begins = differs([hashes[order], *(w[order] for w in all_words(table, columns))])
    ids = np.empty(len(order), np.int64)
    ids[order] = np.cumsum(begins) - 1
    return Codes(ids, order[begins])


def net(table: Any) -> Any:
    """Net multiplicities over maximal intervals, per row."""
    hashes = key_hash(table, payload(table))
    if _is_one_interval(ints(table, FROM), ints(table, TO)):
        return _merged(table, hashes)
    order = stable_order(hashes)
    repeated = _repeated(hashes[order])
    single = order[~repeated & _counts(table)[order]]
    if not repeated.any():
        return table.take(pa.array(single))
    # Places in the order of the changes, so that the result depends on nothing else.
    others = np.sort(order[repeated])
    merged = _merged(table.take(pa.array(others)), hashes[others])
    return pa.concat_tables([table.take(pa.array(single)), merged]).combine_chunks()


def cancel(table: Any) -> Any:
    """The changes without what they take back themselves; equal ones may stand side by side."""
    return net(table) if (ints(table, DIFF) < 0).any() else table


def _repeated(hashes: Hashes) -> Mask:
    """Which of the sorted hashes are there more than once."""
    same = hashes[1:] == hashes[:-1]
    result = np.zeros(len(hashes), np.bool_)
    result[1:] |= same
    result[:-1] |= same
    return result


def _counts(table: Any) -> Mask:
    """Which changes say something by themselves."""
    says: Mask = (ints(table, FROM) < ints(table, TO)) & (ints(table, DIFF) != 0)
    return says


def _merged(table: Any, hashes: Hashes) -> Any:
    """Net multiplicities of rows that are there more than once."""
    rows = codes(table, payload(table), hashes)
    points = net_points(rows.ids, ints(table, FROM), ints(table, TO), ints(table, DIFF))
    where = np.flatnonzero(points.level)
    taken = table.take(pa.array(rows.first[points.ids[where]]))
    return with_times(taken, points.at[where], points.at[where + 1], points.level[where])


@dataclass(frozen=True, slots=True)
class Points:
    """The instants at which the level of each id steps, in order; ``level`` holds from there on."""

    ids: Ints
    at: Ints
    level: Ints


def net_points(ids: Ints, valid_from: Ints, valid_to: Ints, diff: Ints) -> Points:
    """The step function of each id's multiplicity; the last level of an id is always 0."""
    if _is_one_interval(valid_from, valid_to) and _are_numbers(ids):
        return _sums(ids, valid_from[0], valid_to[0], diff)
    all_ids = np.concatenate([ids, ids])
    at = np.concatenate([valid_from, valid_to])
    steps = np.concatenate([diff, -diff])
    order = order_by(all_ids, at)
    all_ids, at, steps = all_ids[order], at[order], steps[order]
    begins = np.flatnonzero(differs([all_ids, at]))
    steps = np.add.reduceat(steps, begins) if len(begins) else steps
    moves: Mask = steps != 0
    begins, steps = begins[moves], steps[moves]
    # The steps of one id add up to 0, so the running sum starts anew with every id.
    return Points(all_ids[begins], at[begins], np.cumsum(steps))


def _is_one_interval(valid_from: Ints, valid_to: Ints) -> bool:
    """Whether all changes hold over the same time, as facts do."""
    return len(valid_from) > 0 and all(
        bool((times == times[0]).all()) for times in (valid_from, valid_to)
    )


def _are_numbers(ids: Ints) -> bool:
    """Whether ids count from 0, with few gaps."""
    return bool(ids.min() >= 0) and bool(ids.max() < 2 * len(ids))


def _sums(ids: Ints, valid_from: np.int64, valid_to: np.int64, diff: Ints) -> Points:
    """The steps over one interval: up by the sum of the diffs, and down again."""
    sums = np.zeros(int(ids.max()) + 1, np.int64)
    np.add.at(sums, ids, diff if valid_from < valid_to else np.int64(0))
    left = np.flatnonzero(sums)
    level = np.zeros(2 * len(left), np.int64)
    level[::2] = sums[left]
    return Points(np.repeat(left, 2), np.tile([valid_from, valid_to], len(left)), level)


def consolidate(table: Any) -> Any:
    """The canonical form: equal relations give equal tables."""
    if table.num_rows == 0:
        return empty(table.schema)
    result = net(table)
    keys = [ints(result, FROM), ints(result, TO), *all_ranks(result, range(width(result)))]
    return result.take(pa.array(np.lexsort(tuple(reversed(keys))))).combine_chunks()


def minus(left: Any, right: Any) -> Any:
    """The changes that lead from ``right`` to ``left``, net."""
    return net(pa.concat_tables([left, negated(right)]))


def negated(table: Any) -> Any:
    """The same changes with their signs turned."""
    return with_times(table, ints(table, FROM), ints(table, TO), -ints(table, DIFF))
