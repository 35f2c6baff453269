"""Kernels against the reference: random histories, run step by step, judged after every step.

A history is what a kernel may meet: rows that come and go in any order, in the future and in the
past, whole and in part, but never below the horizon of an earlier step, and never a negative
without its positive.  ``check`` runs it with some number of shards, with or without collection,
taking the state apart and putting it together again between steps, and holds that

- after every step all snapshots up to ``now`` are the reference's, and
- in the end all of the output, not only up to ``now``, is that of one shard in one step.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from tests.kernels.rules import times_of

from ebbtide.algebra.operators import AcrossTime, Pointwise
from ebbtide.algebra.relation import Values
from ebbtide.core.change import Change, consolidate, fact, until
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    StringType,
    Type,
)
from ebbtide.core.values import Row
from ebbtide.kernels.kernel import Kernel
from ebbtide.reference import apply
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, key_hash, to_changes, where
from ebbtide.state.store import MemoryStore, WriteScope

SHARDS = (1, 1, 2, 2, 7)


@dataclass(frozen=True, slots=True)
class Input:
    """What comes in: rows of a schema, made at random; facts, if ``time`` says where theirs is.

    If it has ``begun``, no row is there from ``-inf`` on.
    """

    schema: Schema
    row: Callable[[Random], Row]
    time: int | None = None
    begun: bool = False

    @property
    def node(self) -> Values:
        """A relation of the schema, for the operator to stand on."""
        return Values(self.schema, ())

    @property
    def arrow(self) -> Any:
        """The schema of batches."""
        return arrow_schema(self.schema)


@dataclass(frozen=True, slots=True)
class Case:
    """An operator twice: the reference's node and the kernel.

    ``exchange`` has the columns of each input that shards go by; None is a broadcast to all.
    """

    node: Pointwise | AcrossTime
    kernel: Kernel
    inputs: tuple[Input, ...]
    exchange: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What arrives in a step, and the frontiers after it."""

    inputs: tuple[tuple[Change, ...], ...]
    now: Instant
    horizons: tuple[Instant, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A history, by the seed that makes it, and how to run it."""

    seed: int
    steps: int
    size: int
    shards: int
    collect: bool
    restart: bool


WAYS = st.builds(
    Way,
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    size=st.integers(1, 6),
    shards=st.sampled_from(SHARDS),
    collect=st.booleans(),
    restart=st.booleans(),
)


def judge(case: Case, way: Way) -> None:
    """Holds the law for the history of a seed."""
    steps = history(Random(way.seed), case.inputs, way.steps, way.size)
    check(case, steps, way.shards, way.collect, way.restart)


def history(random: Random, inputs: tuple[Input, ...], steps: int = 4, size: int = 4) -> list[Step]:
    """A random history of some steps with up to ``size`` changes of every input each."""
    live: list[list[Change]] = [[] for _ in inputs]
    horizons = [NEG_INF] * len(inputs)
    now = random.randint(0, 4)
    result = []
    for _ in range(steps):
        now += random.choice((0, 1, 2, 5, 12))
        arrived = []
        for number, input_ in enumerate(inputs):
            changes = []
            for _ in range(random.randint(0, size)):
                change = _change(random, input_, live[number], horizons[number], now)
                if change is not None:
                    changes.append(change)
                    live[number].append(change)
            # Within a step only the net effect counts.
            random.shuffle(changes)
            arrived.append(tuple(changes))
            live[number] = list(consolidate(live[number]))
        for number in range(len(inputs)):
            if random.random() < 0.6:
                low = max(horizons[number], now - 12)
                horizons[number] = random.randint(low, now) if low <= now else low
        result.append(Step(tuple(arrived), now, tuple(horizons)))
    return result


def _change(
    random: Random, input_: Input, live: list[Change], horizon: Instant, now: Instant
) -> Change | None:
    there = consolidate(live) if random.random() < 0.35 else ()
    if there:
        return _negative(random, input_, there, horizon)
    row = input_.row(random)
    if input_.time is None:
        return _interval(random, row, horizon, now, input_.begun)
    if row[input_.time] is None:
        return fact(row)
    low = max(horizon + 1, now - 12)
    if low > now + 2:
        return None
    ts = random.randint(low, max(low, now + random.choice((0, 0, 0, 2))))
    return fact((*row[: input_.time], ts, *row[input_.time + 1 :]))


def _interval(random: Random, row: Row, horizon: Instant, now: Instant, begun: bool) -> Change:
    start = random.randint(max(horizon + 1, now - 12), max(horizon + 1, now + 4))
    if not begun and horizon == NEG_INF and random.random() < 0.1:
        start = NEG_INF
    end = INF if random.random() < 0.1 else max(start, now - 12) + random.randint(1, 14)
    return Change(row, start, end, random.choice((1, 1, 1, 2)))


def _negative(
    random: Random, input_: Input, live: tuple[Change, ...], horizon: Instant
) -> Change | None:
    """A part of something that is there, above the horizon."""
    found = random.choice(live)
    if input_.time is not None:
        ts = found.row[input_.time]
        return fact(found.row, -1) if ts is None or ts > horizon else None
    start, end = max(found.valid_from, horizon + 1), found.valid_to
    if horizon == NEG_INF:
        start = found.valid_from
    if start >= end:
        return None
    if random.random() < 0.5 and start > NEG_INF and end < INF:
        start = random.randint(start, end - 1)
        end = random.randint(start + 1, end)
    return Change(found.row, start, end, -random.randint(1, found.diff))


def check(case: Case, steps: list[Step], shards: int, collect: bool, restart: bool) -> None:
    """Holds the law for one history and one way to run it."""
    if not collect:
        steps = [replace(step, horizons=(NEG_INF,) * len(step.horizons)) for step in steps]
    run = Run(case, shards)
    taken: list[tuple[Change, ...]] = [() for _ in case.inputs]
    output: tuple[Change, ...] = ()
    for step in steps:
        taken = [(*old, *new) for old, new in zip(taken, step.inputs, strict=True)]
        output = (*output, *run.step(step))
        below = tuple(consolidate(changes) for changes in taken)
        expected = apply(case.node, below, step.now)
        assert consolidate(until(output, step.now)) == consolidate(until(expected, step.now))
        if restart:
            run.restart()
    last = steps[-1]
    once = Run(case, 1).step(Step(tuple(taken), last.now, (NEG_INF,) * len(taken)))
    assert consolidate(output) == consolidate(once)


class Run:
    """A kernel between steps, in some shards."""

    def __init__(self, case: Case, shards: int) -> None:
        self.case = case
        self.kernel = case.kernel
        self.now = NEG_INF
        self.schemas = tuple(input_.arrow for input_ in case.inputs)
        self.stores = [MemoryStore() for _ in range(shards)]
        layouts = self.kernel.areas(self.schemas)
        self.areas = [
            tuple(SweepArea(layout, WriteScope(store)) for layout in layouts)
            for store in self.stores
        ]

    @property
    def rows(self) -> int:
        """How many changes the state holds."""
        return sum(area.rows for areas in self.areas for area in areas)

    def step(self, step: Step) -> tuple[Change, ...]:
        """The changes that the step emits."""
        batches = [
            from_changes(changes, schema)
            for changes, schema in zip(step.inputs, self.schemas, strict=True)
        ]
        owner = _shard_of(pa.table({"none": [0]}), (), len(self.areas))[0]
        output: list[Change] = []
        for shard, areas in enumerate(self.areas):
            mine = tuple(
                batch
                if columns is None
                else where(batch, _shard_of(batch, columns, len(self.areas)) == shard)
                for batch, columns in zip(batches, self.case.exchange, strict=True)
            )
            times = times_of(
                self.kernel, self.now, step.now, step.horizons, owner=bool(shard == owner)
            )
            result = self.kernel.step(mine, areas, times)
            assert result.changes.schema == self.kernel.output(self.schemas)
            output += to_changes(result.changes)
            self.areas[shard] = result.areas
        self.now = step.now
        return tuple(output)

    def restart(self) -> None:
        """Forgets everything but what a manifest and a plan would bring back."""
        self.kernel = pickle.loads(pickle.dumps(self.kernel))
        layouts = self.kernel.areas(self.schemas)
        self.areas = [
            tuple(
                SweepArea.restore(layout, json.loads(json.dumps(area.describe())), area.scope)
                for layout, area in zip(layouts, areas, strict=True)
            )
            for areas in self.areas
        ]


def _shard_of(batch: Any, columns: tuple[int, ...], shards: int) -> Any:
    return (key_hash(batch, columns) % np.uint64(shards)).astype(np.int64)


def arrow_schema(schema: Schema) -> Any:
    """The schema of batches of such rows."""
    return batch_schema(arrow_type(column.type) for column in schema)


def arrow_type(type_: Type) -> Any:
    """How a column of the type travels."""
    match type_:
        case BooleanType():
            return pa.bool_()
        case IntegerType(bits=bits):
            return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
        case DoubleType():
            return pa.float64()
        case StringType():
            return pa.string()
        case DateType():
            return pa.date32()
        case DecimalType(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case _:
            return pa.int64()
