"""The next known end point of a key: when the segment that spans ``now`` ends.

Law: an end point is an instant at which the net multiplicity of some row changes.  An end and a
beginning of the same row at one instant are none, nor is what a negative change takes away.

    row   +1 |---------)                 ends at 10
          +1           |------)          begins again at 10: no end point until 16
    now        ^
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.grouping import Groups
from ebbtide.kernels.sweeps.spans import Spans, spans_of_changes
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import codes, concat, payload


def first_after(groups: Ints, starts: Ints, ends: Ints, after: Ints) -> Ints:
    """For each group the first beginning or end of its rows after ``after``; ``inf`` if none."""
    result = np.full(len(after), INF, np.int64)
    bound = after[groups]
    begins = starts > bound
    if begins.any():
        np.minimum.at(result, groups[begins], starts[begins])
    goes = ends > bound
    np.minimum.at(result, groups[goes], ends[goes])
    return result


def next_end_points(table: Any, spans: Spans, count: int, now: Instant) -> Ints:
    """The next end point of each group, from all its spans that reach beyond ``now``."""
    at = first_after(spans.groups, spans.starts, spans.ends, np.full(count, now, np.int64))
    asked = doubtful(spans, at)
    while asked.any():
        asked = cancelled(table, spans, at, asked)
        later = first_after(spans.groups, spans.starts, spans.ends, at)
        at = np.where(asked, later, at)
        asked = asked & doubtful(spans, at)
    return at


def doubtful(spans: Spans, at: Ints) -> Mask:
    """Which groups may have no net change at ``at``: something begins there, or is negative."""
    here = at[spans.groups]
    unclear = (spans.starts == here) | ((spans.ends == here) & (spans.diff < 0))
    result = np.zeros(len(at), np.bool_)
    result[spans.groups[unclear]] = True
    return result & (at < INF)


def cancelled(table: Any, spans: Spans, at: Ints, asked: Mask) -> Mask:
    """Which of the groups asked for have no net change of any row at ``at``."""
    here = at[spans.groups]
    near = spans.chosen(asked[spans.groups] & ((spans.starts == here) | (spans.ends == here)))
    here = at[near.groups]
    rows = table.take(pa.array(near.rows))
    numbers = codes(rows, payload(rows))
    steps = np.where(near.starts == here, near.diff, 0) - np.where(near.ends == here, near.diff, 0)
    # A row belongs to one group, so the net change of each distinct row is enough.
    net = np.zeros(numbers.count, np.int64)
    np.add.at(net, numbers.ids, steps)
    moves = np.zeros(len(at), np.bool_)
    moves[near.groups[net[numbers.ids] != 0]] = True
    return asked & ~moves


def next_stored(area: SweepArea, groups: Groups, changes: Any, numbers: Ints, now: Instant) -> Ints:
    """The next end point of each group, from a SweepArea and the changes that are new to it.

    Looks at the first end points of the groups only; at their rows only if something there may
    cancel out: a row that begins later, a negative change, two keys with one hash.
    """
    spans = spans_of_changes(changes, numbers)
    order = np.argsort(groups.hashes)
    hashes = groups.hashes[order]
    asked = np.ones(groups.count, np.bool_)
    at = np.full(groups.count, now, np.int64)
    while asked.any():
        stored = np.full(groups.count, INF, np.int64)
        some = order[asked[order]]
        stored[some] = area.next_end(groups.hashes[some], at[some])
        found = np.minimum(stored, first_after(spans.groups, spans.starts, spans.ends, at))
        at = np.where(asked, found, at)
        asked = asked & (at < INF)
        if _is_plain(area, spans, now) and not (hashes[1:] == hashes[:-1]).any():
            return at
        asked = _cancelled(area, groups, changes, spans, at, asked)
    return at


def _cancelled(
    area: SweepArea, groups: Groups, changes: Any, spans: Spans, at: Ints, asked: Mask
) -> Mask:
    some = np.flatnonzero(asked)
    hashes, which = np.unique(groups.hashes[some], return_inverse=True)
    first, last = np.full(len(hashes), INF, np.int64), np.full(len(hashes), NEG_INF, np.int64)
    np.minimum.at(first, which, at[some])
    np.maximum.at(last, which, at[some])
    near = area.moved(first, last, hashes)
    numbers = groups.number(near.changes, area.layout.keys, near.hashes)
    table = concat([near.changes, changes], area.layout.schema)
    both = spans_of_changes(table, np.concatenate([numbers, spans.groups]))
    return cancelled(table, both.chosen(both.groups >= 0), at, asked)


def _is_plain(area: SweepArea, spans: Spans, now: Instant) -> bool:
    """Whether nothing can cancel out after ``now``: all has begun, and is positive."""
    stored = all(s.negatives == 0 and s.from_max <= now for s in area.segments)
    return stored and not (spans.diff < 0).any() and not (spans.starts > now).any()
