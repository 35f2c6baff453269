"""Which of a view's changes are drawn: those of some lanes, and of each lane the last.

Law: what holds is the net multiplicity of a row, and what was taken back are its negative changes.
All of it is decided on columns, so that the cost of a drawing hardly follows the length of the
history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.change import Change
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.state.arrays import Ints, Mask
from ebbtide.state.batch import DIFF, FROM, TO, codes, concat, net, to_changes, where
from ebbtide.state.columns import ints
from ebbtide.store.readers import View

__all__ = ["DrawnChanges", "drawn_changes"]


@dataclass(frozen=True, slots=True)
class DrawnChanges:
    """The changes that are drawn, and how many lanes, and bars of these lanes, are not."""

    changes: tuple[Change, ...]
    lanes_left_out: int
    bars_left_out: int


def drawn_changes(
    view: View,
    places: Sequence[int],
    *,
    fact_time: int | None = None,
    condition: Callable[[Any], Any] | None = None,
    since: Instant = NEG_INF,
    until: Instant = INF,
    lanes: int = 40,
    bars: int = 120,
) -> DrawnChanges:
    """The changes of a view that hold within ``[since, until)``, under a condition on its rows.

    A lane has the rows that agree in the columns at ``places``.  Facts hold always, and are drawn
    at the time in the column at ``fact_time``.
    """
    rows = range(len(view.schema))
    table = concat((table for _, table in view.steps()), view.layout)
    table = table.select([*rows, FROM, TO, DIFF])
    table = table if fact_time is None else _at_their_times(table, fact_time)
    begins, ends = ints(table, FROM), ints(table, TO)
    mask: Mask = (np.maximum(ends, begins + 1) > since) & (begins < until)
    if condition is not None:
        mask &= np.asarray(pc.fill_null(condition(table.select(rows)), False))
    table = where(table, mask)
    both = _held_and_gone(table) if fact_time is None else table
    ids = codes(both, places).ids if places else np.zeros(both.num_rows, np.int64)
    last = _last_lanes(ids, ints(both, FROM), lanes)
    of_lanes = np.isin(ids, last)
    drawn = of_lanes & _last_bars(ids, ints(both, FROM), bars)
    changes = tuple(_within(c, since, until) for c in to_changes(where(both, drawn)))
    return DrawnChanges(
        changes, len(np.unique(ids)) - len(last), int(of_lanes.sum()) - len(changes)
    )


def _held_and_gone(table: Any) -> Any:
    """What holds in the end, and what was taken back."""
    held, gone = net(table), where(table, ints(table, DIFF) < 0)
    return pa.concat_tables([where(held, ints(held, DIFF) > 0), gone]).combine_chunks()


def _within(change: Change, since: Instant, until: Instant) -> Change:
    """The part of a change that is drawn."""
    begins = max(change.valid_from, since)
    return replace(change, valid_from=begins, valid_to=min(change.valid_to, until))


def _at_their_times(table: Any, place: int) -> Any:
    """Facts at their times; those without one are left out."""
    timed = where(table, np.asarray(table.column(place).is_valid()))
    at = pa.array(ints(timed, timed.column_names[place]))
    for end in (FROM, TO):
        timed = timed.set_column(timed.column_names.index(end), end, at)
    return timed


def _last_lanes(ids: Ints, begins: Ints, most: int) -> Ints:
    """The lanes in which something begins last, at most so many."""
    if not len(ids):
        return ids
    known, inverse = np.unique(ids, return_inverse=True)
    last = np.full(len(known), NEG_INF, np.int64)
    np.maximum.at(last, inverse, begins)
    return known[np.argsort(last, kind="stable")[-most:]]


def _last_bars(ids: Ints, begins: Ints, most: int) -> Mask:
    """The bars that begin last in their lane, at most so many of each."""
    order = np.lexsort((begins, ids))
    ordered = ids[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ids) else ids
    sizes = np.diff(np.r_[starts, len(ids)])
    after = np.repeat(starts + sizes, sizes) - np.arange(len(ids))
    mask = np.zeros(len(ids), np.bool_)
    mask[order] = after <= most
    return mask
