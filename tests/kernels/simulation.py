"""Histories of input, kernels run through them in every way, and the output that is right.

A history is a list of steps: net changes for each input, `now` and the horizons.  Every prefix is
a relation, and changes begin after the horizon of the step before.  `run` takes a kernel through
it, cut and sharded as asked, with every segment written, read back and collected between steps.
`canonical` is the emission rule, from the reference: per key, the operator's output up to the
first net end point after `now`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from tests.kernels.rules import times_of

from ebbtide.core.change import Change, consolidate, end_points, restrict
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.kernel import Kernel
from ebbtide.reference.evaluation import apply
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import from_changes, key_hash, to_changes
from ebbtide.state.keep import Keep
from ebbtide.state.store import DirectoryStore, MemoryStore, WriteScope


@dataclass(frozen=True)
class Step:
    """What one step brings."""

    inputs: tuple[tuple[Change, ...], ...]
    now: int
    horizons: tuple[int, ...]


@st.composite
def histories(
    draw: Any,
    rows: Sequence[st.SearchStrategy[tuple[Any, ...]]],
    max_steps: int = 5,
    max_changes: int = 5,
    last: int = 20,
    negatives: bool = True,
    for_ever: int = 1,
) -> list[Step]:
    """Steps with changes of every kind: new, late, negative, in the future, for ever.

    Of ten rows ``for_ever`` never end.
    """
    steps: list[Step] = []
    accepted: list[list[Change]] = [[] for _ in rows]
    now, horizons = NEG_INF, tuple(NEG_INF for _ in rows)
    for _ in range(draw(st.integers(1, max_steps))):
        now = max(now, draw(st.sampled_from([NEG_INF, 0])) + draw(st.integers(0, last)))
        new: list[tuple[Change, ...]] = []
        for index, strategy in enumerate(rows):
            changes: list[Change] = []
            for _ in range(draw(st.integers(0, max_changes))):
                known = accepted[index] if negatives else []
                change = _change(draw, strategy, known, horizons[index], last, for_ever)
                if change is not None:
                    changes.append(change)
                    accepted[index].append(change)
            new.append(tuple(changes))
        horizons = tuple(
            max(old, min(now, draw(st.integers(-2, last + 5)) if draw(st.booleans()) else old))
            for old in horizons
        )
        steps.append(Step(tuple(new), now, horizons))
    return steps


def _change(
    draw: Any, strategy: Any, accepted: list[Change], horizon: int, last: int, for_ever: int
) -> Change | None:
    first = max(0, horizon + 1)
    if accepted and draw(st.integers(0, 2)) == 0:
        standing = [c for c in consolidate(accepted) if c.valid_to > horizon + 1]
        if not standing:
            return None
        old = standing[draw(st.integers(0, len(standing) - 1))]
        start = max(old.valid_from, horizon + 1)
        if draw(st.booleans()):
            start = max(start, min(old.valid_to - 1, draw(st.integers(first, first + last))))
        end = old.valid_to
        if draw(st.integers(0, 3)) == 0:
            end = max(start + 1, min(end, start + draw(st.integers(1, last))))
        return Change(old.row, start, end, -draw(st.integers(1, old.diff)))
    row = draw(strategy)
    start = first + draw(st.integers(0, last)) if horizon >= 0 else draw(st.integers(first, last))
    if horizon == NEG_INF and draw(st.integers(0, 9)) == 0:
        start = NEG_INF
    endless = draw(st.integers(0, 9)) < for_ever
    end = INF if endless else max(start, 0) + draw(st.integers(1, last))
    return Change(row, start, end, draw(st.sampled_from([1, 1, 1, 2])))


def cut(history: Sequence[Step], seed: int) -> list[Step]:
    """The same input in fewer steps, each in another order."""
    chance = random.Random(seed)
    result: list[Step] = []
    for step in history:
        if result and chance.random() < 0.5:
            last = result.pop()
            both = zip(last.inputs, step.inputs, strict=True)
            step = replace(step, inputs=tuple(a + b for a, b in both))
        shuffled = tuple(tuple(chance.sample(c, len(c))) for c in step.inputs)
        result.append(replace(step, inputs=shuffled))
    return result


def without_collection(history: Sequence[Step]) -> list[Step]:
    """The same input with horizons that never move."""
    return [replace(step, horizons=tuple(NEG_INF for _ in step.horizons)) for step in history]


@dataclass
class Run:
    """The accumulated output of a kernel, and its state."""

    output: list[Change]
    areas: list[tuple[SweepArea, ...]]


def run(
    kernel: Kernel,
    schemas: tuple[Any, ...],
    history: Sequence[Step],
    shards: int = 1,
    keys: tuple[Sequence[int], ...] | None = None,
    directory: Path | None = None,
    compacted: bool = False,
    each: Callable[[Step, list[Change], tuple[Change, ...]], None] | None = None,
) -> Run:
    """Takes a kernel through a history; with a directory, through files and a restart per step.

    If it is ``compacted``, all that may be merged, dropped or folded is, after every step.
    """
    layouts = kernel.areas(schemas)
    keys = keys or tuple(tuple(range(len(schema) - 3)) for schema in schemas)
    store = MemoryStore() if directory is None else DirectoryStore(str(directory))
    areas = [
        tuple(SweepArea(lay, WriteScope(store, "o", s, 0)) for lay in layouts)
        for s in range(shards)
    ]
    owner = int(key_hash(pa.table({"none": [0]}), ())[0] % np.uint64(shards))
    output: list[Change] = []
    before = NEG_INF
    for version, step in enumerate(history):
        tables = [from_changes(c, schema) for c, schema in zip(step.inputs, schemas, strict=True)]
        emitted: list[Change] = []
        for shard in range(shards):
            parts = tuple(
                table.filter(pa.array(key_hash(table, key) % np.uint64(shards) == shard))
                for table, key in zip(tables, keys, strict=True)
            )
            scope = WriteScope(store, "o", shard, version)
            state = tuple(
                _restored(area, layout, scope, directory)
                for area, layout in zip(areas[shard], layouts, strict=True)
            )
            times = times_of(kernel, before, step.now, step.horizons, owner == shard)
            result = kernel.step(parts, state, times)
            assert result.changes.schema.equals(kernel.output(schemas)), "output schema"
            areas[shard] = result.areas
            if compacted:
                rules = (*times.inputs, times.output)
                areas[shard] = tuple(
                    _compact(area, rules[place] if place < len(rules) else times.groups)
                    for place, area in enumerate(result.areas)
                )
            emitted += to_changes(result.changes)
        output += emitted
        before = step.now
        if each is not None:
            each(step, output, tuple(emitted))
    return Run(output, areas)


def _compact(area: SweepArea, keep: Keep) -> SweepArea:
    """An area that holds what a merge of all its segments would leave."""
    if area.layout.newest or not area.segments:
        return area
    names = {segment.name for segment in area.segments}
    merged_ = area._merge([tuple(area.segments)], keep)
    assert names.isdisjoint(segment.name for segment in merged_.segments)
    return merged_


def _restored(area: SweepArea, layout: Any, scope: WriteScope, directory: Path | None) -> SweepArea:
    if directory is None:
        return area.at(scope)
    return SweepArea.restore(layout, area.describe(), scope)


def canonical(
    node: Any, inputs: Sequence[Sequence[Change]], keys: Sequence[Sequence[int]], now: int
) -> tuple[Change, ...]:
    """The emission rule: per key the reference's output, up to the next known end point."""
    by_key: dict[Any, list[list[Change]]] = defaultdict(lambda: [[] for _ in inputs])
    for index, changes in enumerate(inputs):
        for change in changes:
            key = tuple(change.row[i] for i in keys[index])
            by_key[key][index].append(change)
    if not any(keys):
        by_key.setdefault((), [[] for _ in inputs])
    result: list[Change] = []
    for parts in by_key.values():
        net = [consolidate(part) for part in parts]
        after = [t for t in end_points(*net) if t > now]
        until = after[0] if after else INF
        output = apply(node, tuple(net), now)
        if until > NEG_INF:
            result += restrict(output, Interval(NEG_INF, until))
    return consolidate(result)
