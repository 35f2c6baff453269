"""A large step of an operator, worked off in parts.

Law: what a snapshot operator says of an instant depends on the rows that are valid at it.  So a
step is the sum of one up to an earlier instant, with what begins by then, and one from there on;
in between, what ends later is kept besides what the rule of the step keeps.

                  before      cut        cut       now
    first part       |---------|
    second                     |----------|
    last                                  |---------|   and what begins after now

A part fits into a processor's caches and a worker's memory, where a load of many million rows does
not.  Facts hold at every instant, and cannot be cut this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ebbtide.core.time import Instant
from ebbtide.kernels.kernel import Kernel, Result, Times
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Mask
from ebbtide.state.batch import DIFF, FROM, TO, concat, net, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import After, Keep
from ebbtide.state.segment import ENDS

LARGE = 1 << 20
"""About how many rows make a part."""


def stepped(
    kernel: Kernel, inputs: tuple[Any, ...], areas: tuple[SweepArea, ...], times: Times
) -> Result:
    """A step of a snapshot operator, in as many parts as its rows are worth."""
    cuts = _cuts(inputs, times)
    if not cuts:
        return kernel.step(inputs, areas, times)
    tight, loose = [], []
    for part, until, now in _parts(inputs, cuts, times):
        result = kernel.step(part, areas, until)
        areas = result.areas
        # What ends behind a part may be taken back by the next one.
        ahead = _may_meet(result.changes, now)
        tight.append(where(result.changes, ~ahead))
        loose.append(where(result.changes, ahead))
    schema = result.changes.schema
    return Result(concat([*tight, net(concat(loose, schema))], schema), areas)


def stepped_singly(
    kernel: Kernel, inputs: tuple[Any, ...], areas: tuple[SweepArea, ...], times: Times
) -> Result:
    """A step of a snapshot operator, in a part for each instant at which rows begin.

    All that it says in between is said, though the next part may take it back.
    """
    starts = np.unique(np.concatenate([ints(table, FROM) for table in inputs]))
    inside = starts[(starts > times.before) & (starts < times.now)]
    said = []
    for part, until, _ in _parts(inputs, inside.tolist(), times):
        result = kernel.step(part, areas, until)
        areas = result.areas
        said.append(result.changes)
    return Result(concat(said, result.changes.schema), areas)


def _cuts(inputs: tuple[Any, ...], times: Times) -> list[Instant]:
    """The instants between ``before`` and ``now`` that part the rows evenly."""
    count = sum(table.num_rows for table in inputs) // LARGE
    if count < 2:
        return []
    starts = np.concatenate([ints(table, FROM) for table in inputs])
    inside = starts[(starts > times.before) & (starts < times.now)]
    if not len(inside):
        return []
    places = np.linspace(0, len(inside), count, endpoint=False, dtype=np.int64)[1:]
    return sorted(set(np.partition(inside, places)[places].tolist()))


def _parts(
    inputs: tuple[Any, ...], cuts: list[Instant], times: Times
) -> Iterator[tuple[tuple[Any, ...], Times, Instant]]:
    """The rows of each part, its frontiers, and the instant up to which it goes."""
    after = None
    for cut in (*cuts, None):
        part = tuple(where(table, _begins(table, after, cut)) for table in inputs)
        before = times.before if after is None else after
        if cut is None:
            yield part, replace(times, before=before), times.now
        else:
            yield part, _up_to(cut, replace(times, before=before)), cut
        after = cut


def _begins(table: Any, after: Instant | None, upto: Instant | None) -> Mask:
    starts = ints(table, FROM)
    chosen: Mask = np.ones(len(starts), np.bool_)
    if after is not None:
        chosen &= starts > after
    if upto is not None:
        chosen &= starts <= upto
    return chosen


def _up_to(cut: Instant, times: Times) -> Times:
    """The frontiers of a part that is not the last: what ends after it is kept, too."""

    def longer(keep: Keep) -> Keep:
        kept = keep.either((After(ENDS, cut),))
        return replace(kept, begun=min(keep.begun, cut - 1))

    return replace(
        times, now=cut, inputs=tuple(map(longer, times.inputs)), output=longer(times.output)
    )


def _may_meet(changes: Any, now: Instant) -> Mask:
    """The changes that end after a part, or take something back."""
    found: Mask = (ints(changes, TO) > now) | (ints(changes, DIFF) < 0)
    return found
