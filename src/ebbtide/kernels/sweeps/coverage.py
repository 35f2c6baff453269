"""When a row has a partner, and how that changes.

Law: let ``cover_x(t)`` say whether some row that matches ``x`` is there at ``t``.  A semi join is
``x * cover_x``, an anti join ``x * (1 - cover_x)``: linear in ``x``, so with ``X`` stored and
``dX`` new, and the partners changed, the output changes by

    dX * cover_new + X * (cover_new - cover_old)

Only stored rows that meet a changed partner can have a second term, and only over that partner's
interval.  There the partners are known, stored and new; elsewhere old and new cover are the same,
whatever they are.

    x            |------------------------)
    partners        |-----)
    new partner        |----------)
    cover old       |=====)
    cover new       |=============)
    semi join             +1 |====)      anti join     -1 |====)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

from ebbtide.kernels.condition import Condition, Side, together
from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.matching import Pairs
from ebbtide.state.area import Found
from ebbtide.state.arrays import Ints, order_by
from ebbtide.state.batch import DIFF, FROM, TO, with_times
from ebbtide.state.columns import ints


def changed(
    condition: Condition, mine: Side, other: Side, partnered: bool, flip: bool = False
) -> Batch:
    """How the rows of ``mine`` that have a partner change, or those that have none.

    ``flip`` says that ``mine`` is the right side of the condition.
    """

    def pairs(x: Found, y: Found) -> Pairs:
        if not flip:
            return condition.pairs(x, y)
        found = condition.pairs(y, x)
        return Pairs(found.right, found.left)

    met = np.unique(pairs(mine.before, other.new).left)
    stored = Found(mine.before.changes.take(pa.array(met)), mine.before.hashes[met])
    rows = together(mine.new, stored)
    partners = other.all
    found = pairs(rows, partners)
    places, starts, ends, diffs = _swept(
        rows.changes, mine.new.changes.num_rows, partners, other.before, found, partnered
    )
    return with_times(rows.changes.take(pa.array(places)), starts, ends, diffs)


def _swept(
    rows: Batch, new: int, partners: Found, before: Found, pairs: Pairs, partnered: bool
) -> Any:
    starts = np.maximum(ints(rows, FROM)[pairs.left], ints(partners.changes, FROM)[pairs.right])
    ends = np.minimum(ints(rows, TO)[pairs.left], ints(partners.changes, TO)[pairs.right])
    diff = ints(partners.changes, DIFF)[pairs.right]
    old = np.where(pairs.right < before.changes.num_rows, diff, 0)
    ids = np.concatenate([pairs.left, pairs.left])
    at = np.concatenate([starts, ends])
    order = order_by(ids, at)
    return _sweep(
        ints(rows, FROM),
        ints(rows, TO),
        ints(rows, DIFF),
        new,
        ids[order],
        at[order],
        np.concatenate([old, -old])[order],
        np.concatenate([diff, -diff])[order],
        partnered,
    )


@njit(cache=True)
def _sweep(
    starts: Ints,
    ends: Ints,
    diffs: Ints,
    new: int,
    ids: Ints,
    at: Ints,
    old_steps: Ints,
    new_steps: Ints,
    partnered: bool,
) -> Any:
    room = len(ids) + len(starts)
    rows = np.empty(room, np.int64)
    valid_from = np.empty(room, np.int64)
    valid_to = np.empty(room, np.int64)
    diff = np.empty(room, np.int64)
    count, event = 0, 0
    for row in range(len(starts)):
        old, now = 0, 0
        since = starts[row]
        while since < ends[row]:
            while event < len(ids) and ids[event] == row and at[event] == since:
                old += old_steps[event]
                now += new_steps[event]
                event += 1
            more = event < len(ids) and ids[event] == row
            until = at[event] if more else ends[row]
            value = int((now > 0) == partnered)
            if row >= new:
                value -= int((old > 0) == partnered)
            if value != 0:
                rows[count], valid_from[count], valid_to[count] = row, since, until
                diff[count] = value * diffs[row]
                count += 1
            since = until
        while event < len(ids) and ids[event] == row:
            event += 1
    return rows[:count], valid_from[:count], valid_to[:count], diff[:count]
