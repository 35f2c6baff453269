"""The driver of every operator that is neither linear nor bilinear.

Law: per touched key and from the first instant at which something can differ,
``emitted(new) - emitted(old) = canonical(new input, now) - what stands in the output area``.
What is retracted is what was emitted, never a recomputation, whose floats may differ in the last
bit.  Untouched keys and earlier instants cannot differ, so nothing else is looked at (paper 3's
Replay-Minimal, per operator and key).

    input of a key     |-----------)  |-------)          end points ->  a  b  c  d
    now                         ^                                          now
    canonical          [a, b) [b, c)                     begins at or before now;
                              the one that spans now ends at the next known end point, c

A key is touched if one of its rows changes, or begins or ends in ``(before, now]``.  An operator
adds a tactic: a pure function from the touched keys' net input to their canonical output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.grouping import hash_without_key, numbered
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.batch import DIFF, FROM, TO, codes, concat, key_hash, minus, net, with_times
from ebbtide.state.columns import column, ints


@dataclass(frozen=True, slots=True)
class Touched:
    """Hashes of keys, sorted, and for each the instant from which its results may differ.

    ``inputs`` has the hashes of the changes of each input.
    """

    hashes: Hashes
    since: Ints
    inputs: tuple[Hashes, ...] = ()

    def since_of(self, hashes: Hashes) -> Ints:
        """The instants of given hashes, which are all touched."""
        return self.since[np.searchsorted(self.hashes, hashes)]


@dataclass(frozen=True, slots=True)
class Part:
    """Changes of the touched keys, and for each the number of its group."""

    changes: Batch
    groups: Ints


@dataclass(frozen=True, slots=True)
class Region:
    """What a tactic has to say something about: every group, from ``since`` on, up to ``now``.

    ``keys`` has the key columns, a row per group.
    """

    keys: Batch
    since: Ints
    now: Instant

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.since)


class Tactic(Protocol):
    """The work of one operator on the touched keys."""

    def __call__(self, parts: tuple[Part, ...], region: Region) -> Part:
        """The canonical output from the net changes of each input, clipped to the region.

        The result's segments begin at or before ``now``; what they say about instants before
        a group's ``since`` is ignored.
        """
        ...


def rederive(
    tactic: Tactic,
    inputs: tuple[Batch, ...],
    areas: tuple[SweepArea, ...],
    times: Times,
    output: Schema,
    always: bool = False,
) -> Result:
    """One step of an operator with an area per input, and one of its output as the last.

    The rows of the output area are those that the tactic gives.  They may begin with columns
    that ``output`` does not have, such as a key that the output hides.  ``always`` is for the
    operator whose one group has output even where it has no input.
    """
    *input_areas, output_area = times.seen(areas)
    keys = touched(inputs, tuple(input_areas), output_area, times, always)
    if not len(keys.hashes):
        stored = inputs_after(inputs, tuple(input_areas), keys, times)
        return Result(output.empty_table(), (*stored, output_area.reorganize(times.output)))
    parts, region = load(inputs, tuple(input_areas), keys, times.now)
    new = tactic(parts, region)
    emitted = output_area.probe(keys.hashes, keys.since)
    changes = minus(
        times.open.of(_clipped(new.changes, region.since[new.groups])),
        times.open.of(_clipped(emitted.changes, keys.since_of(emitted.hashes))),
    )
    stored = inputs_after(inputs, tuple(input_areas), keys, times)
    hidden = len(changes.schema) - len(output)
    visible = changes.drop_columns([changes.schema.field(i).name for i in range(hidden)])
    return Result(
        visible.rename_columns(output.names) if hidden else visible,
        (*stored, settled(output_area, changes, times.output)),
    )


def inputs_after(
    inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], keys: Touched, times: Times
) -> tuple[SweepArea, ...]:
    """The input areas after the step."""
    return tuple(
        settled(area, changes, keep, hashes)
        for area, changes, keep, hashes in zip(
            areas, inputs, times.inputs, keys.inputs, strict=True
        )
    )


def touched(
    inputs: tuple[Batch, ...],
    areas: tuple[SweepArea, ...],
    output: SweepArea,
    times: Times,
    always: bool = False,
) -> Touched:
    """The keys whose output may differ after the step."""
    new = tuple(area.hash(changes) for area, changes in zip(areas, inputs, strict=True))
    hashes = list(new)
    since = [np.minimum(ints(changes, FROM), times.now) for changes in inputs]
    for area in areas if times.now > times.before else ():
        turning = area.turning(times.before, times.now)
        hashes.append(turning)
        since.append(np.full(len(turning), times.before + 1, np.int64))
    if always and times.owner and not output.segments:
        hashes.append(hash_without_key())
        since.append(np.array([NEG_INF], np.int64))
    return replace(earliest(np.concatenate(hashes), np.concatenate(since)), inputs=new)


def earliest(hashes: Hashes, since: Ints) -> Touched:
    """Every hash once, with the least of its instants."""
    numbers, first = numbered(hashes)
    least = np.full(len(first), INF, np.int64)
    np.minimum.at(least, numbers, since)
    order = np.argsort(hashes[first])
    return Touched(hashes[first][order], least[order])


def load(
    inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], keys: Touched, now: Instant
) -> tuple[tuple[Part, ...], Region]:
    """The touched keys' net input in their regions, stored and new, in numbered groups."""
    rows = []
    for changes, area, new in zip(inputs, areas, keys.inputs, strict=True):
        found = area.probe(keys.hashes, keys.since)
        hashes = np.concatenate([found.hashes, new])
        both = concat([found.changes, changes], area.layout.schema)
        rows.append(net(_clipped(both, keys.since_of(hashes))))
    by_key = [
        pa.Table.from_arrays(
            [column(table, i) for i in area.layout.keys],
            names=[f"k{i}" for i in range(len(area.layout.keys))],
        )
        if area.layout.keys
        else table.select([FROM])
        for table, area in zip(rows, areas, strict=True)
    ]
    together = pa.concat_tables(by_key).combine_chunks()
    columns = range(len(areas[0].layout.keys))
    hashes = key_hash(together, columns)
    groups = codes(together, columns, hashes)
    ends = np.cumsum([table.num_rows for table in rows])
    parts = tuple(
        Part(table, groups.ids[end - table.num_rows : end])
        for table, end in zip(rows, ends, strict=True)
    )
    if not columns:
        return parts, Region(together.select([]), keys.since[:1], now)
    firsts = together.take(pa.array(groups.first))
    return parts, Region(firsts, keys.since_of(hashes[groups.first]), now)


def _clipped(changes: Batch, since: Ints) -> Any:
    starts = ints(changes, FROM)
    if (starts >= since).all():
        return changes
    return with_times(changes, np.maximum(starts, since), ints(changes, TO), ints(changes, DIFF))
