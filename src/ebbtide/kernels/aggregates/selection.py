"""One ordered sweep per group for the aggregates that choose a row: the best, or the k-th.

Law: at each mark, ``best`` is the valid row of the greatest priority, and ``at_places`` the row
that stands at a place when the valid rows are sorted by priority, each as often as it is there.

The best row is kept in a heap from which rows that have ended are taken only when they come to
the top, so a row costs a logarithm, once; the k-th is found by descending a tree of counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ebbtide.kernels.sweeps.count_tree import add, find
from ebbtide.kernels.sweeps.spans import Marks, Spans
from ebbtide.state.arrays import Ints, order_by


def best(spans: Spans, priority: Ints, marks: Marks) -> Ints:
    """For each mark the place of the best span, or -1."""
    order = order_by(spans.groups, spans.starts)
    return np.asarray(_best(order, *spans[:3], priority, *marks))


@njit(cache=True)
def _best(
    order: Ints, groups: Ints, starts: Ints, ends: Ints, priority: Ints, marks: Ints, at: Ints
) -> Any:
    result = np.full(len(marks), -1, np.int64)
    heap = np.empty(len(order), np.int64)
    keys = np.empty(len(order), np.int64)
    size = 0
    row = 0
    current = np.int64(-1)
    for mark in range(len(marks)):
        group, t = marks[mark], at[mark]
        if group != current:
            current, size = group, 0
            while row < len(order) and groups[order[row]] < group:
                row += 1
        while row < len(order) and groups[order[row]] == group and starts[order[row]] <= t:
            place = order[row]
            row += 1
            if ends[place] <= t:
                continue
            key = priority[place]
            k = size
            size += 1
            while k > 0 and keys[(k - 1) >> 1] < key:
                keys[k], heap[k] = keys[(k - 1) >> 1], heap[(k - 1) >> 1]
                k = (k - 1) >> 1
            keys[k], heap[k] = key, place
        while size > 0 and ends[heap[0]] <= t:
            size -= 1
            key, place = keys[size], heap[size]
            k = 0
            while True:
                child = 2 * k + 1
                if child >= size:
                    break
                if child + 1 < size and keys[child + 1] > keys[child]:
                    child += 1
                if keys[child] <= key:
                    break
                keys[k], heap[k] = keys[child], heap[child]
                k = child
            keys[k], heap[k] = key, place
        if size > 0:
            result[mark] = heap[0]
    return result


def counts(spans: Spans, marks: Marks) -> Ints:
    """For each mark how many rows are valid."""
    begin, end = order_by(spans.groups, spans.starts), order_by(spans.groups, spans.ends)
    return np.asarray(_counts(begin, end, *spans[:4], *marks))


@njit(cache=True)
def _counts(
    begin: Ints,
    end: Ints,
    groups: Ints,
    starts: Ints,
    ends: Ints,
    diff: Ints,
    marks: Ints,
    at: Ints,
) -> Any:
    result = np.zeros(len(marks), np.int64)
    i = j = 0
    level = np.int64(0)
    for mark in range(len(marks)):
        group, t = marks[mark], at[mark]
        while i < len(begin) and (
            groups[begin[i]] < group or (groups[begin[i]] == group and starts[begin[i]] <= t)
        ):
            level += diff[begin[i]]
            i += 1
        while j < len(end) and (
            groups[end[j]] < group or (groups[end[j]] == group and ends[end[j]] <= t)
        ):
            level -= diff[end[j]]
            j += 1
        result[mark] = level
    return result


def at_places(spans: Spans, priority: Ints, marks: Marks, places: Ints) -> Ints:
    """For each mark the spans at some places (a line each); -1 for a place below 0."""
    by_priority = order_by(spans.groups, priority)
    begin, end = order_by(spans.groups, spans.starts), order_by(spans.groups, spans.ends)
    return np.asarray(_at_places(by_priority, begin, end, *spans[:4], *marks, places))


@njit(cache=True)
def _at_places(
    sorted_rows: Ints,
    begin: Ints,
    end: Ints,
    groups: Ints,
    starts: Ints,
    ends: Ints,
    diff: Ints,
    marks: Ints,
    at: Ints,
    places: Ints,
) -> Any:
    n = len(sorted_rows)
    rank = np.empty(n, np.int64)
    for k in range(n):
        rank[sorted_rows[k]] = k
    result = np.full((len(marks), places.shape[1]), -1, np.int64)
    tree = np.zeros(n + 1, np.int64)
    i = j = first = size = 0
    current = np.int64(-1)
    for mark in range(len(marks)):
        group, t = marks[mark], at[mark]
        if group != current:
            current = group
            while first < n and groups[sorted_rows[first]] < group:
                first += 1
            size = 0
            while first + size < n and groups[sorted_rows[first + size]] == group:
                size += 1
            tree[: size + 1] = 0
            while i < n and groups[begin[i]] < group:
                i += 1
            while j < n and groups[end[j]] < group:
                j += 1
        while i < n and groups[begin[i]] == group and starts[begin[i]] <= t:
            add(tree, size, rank[begin[i]] - first, diff[begin[i]])
            i += 1
        while j < n and groups[end[j]] == group and ends[end[j]] <= t:
            add(tree, size, rank[end[j]] - first, -diff[end[j]])
            j += 1
        for k in range(places.shape[1]):
            if places[mark, k] >= 0:
                result[mark, k] = sorted_rows[first + find(tree, size, places[mark, k])]
    return result
