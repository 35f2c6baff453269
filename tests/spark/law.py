"""The law on Spark: a query's accumulated output against the reference, after every step."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, begin
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.declaration import Declaration
from ebbtide.reference import evaluate
from ebbtide.runtime.engine import Engine
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.query import Query
from ebbtide.runtime.types import arrow_type
from ebbtide.state.batch import batch_schema, concat, to_changes
from ebbtide.testing import assert_snapshot_equal


@dataclass
class Feeding:
    """What is fed to one source in a step: operations on rows, and perhaps a promise."""

    rows: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    advance: int | None = None


@dataclass
class Oracle:
    """The accepted input of each source, by the naive admission."""

    inputs: dict[str, Admission]
    offsets: dict[str, int]

    @staticmethod
    def of(declarations: Sequence[Declaration]) -> Oracle:
        return Oracle({d.name: begin(d) for d in declarations}, {d.name: 0 for d in declarations})

    def take(self, fed: Mapping[str, Feeding]) -> None:
        for name, state in self.inputs.items():
            feeding = fed.get(name, Feeding())
            first = self.offsets[name]
            arrivals = tuple(
                Arrival(Op(op), row, first + i) for i, (op, row) in enumerate(feeding.rows)
            )
            self.offsets[name] = first + len(arrivals) + (feeding.advance is not None)
            self.inputs[name] = admit(state, Step(arrivals, feeding.advance))

    @property
    def accepted(self) -> dict[str, tuple[Change, ...]]:
        return {name: state.accepted for name, state in self.inputs.items()}


def emitted(query: Query) -> tuple[Change, ...]:
    """All changes that a query has emitted, from its archive; none before its time had come."""
    root = Path(query.engine.root_of(query.name))
    schema = batch_schema([arrow_type(column.type) for column in query.schema])
    tables = []
    for entry in Journal(str(root)).entries():
        step = concat([pq.read_table(root / file).cast(schema) for file in entry.output], schema)
        assert all(change.valid_from <= entry.now for change in to_changes(step))
        tables.append(step)
    return consolidate(to_changes(concat(tables, schema)))


def check(engine: Engine, query: Query, oracle: Oracle) -> None:
    """The law, after a step."""
    latest = Journal(engine.root_of(query.name)).latest()
    assert latest is not None
    now = latest.details["now"]
    expected = evaluate(query.bound.plan, oracle.accepted, now)
    assert_snapshot_equal(emitted(query), until(expected, now), now)


def feed(engine: Engine, fed: Mapping[str, Feeding]) -> None:
    """Feeds a step's rows, in order."""
    for name, feeding in fed.items():
        for op, row in feeding.rows:
            engine.feed(name, [row], op)
        if feeding.advance is not None:
            engine.advance(name, feeding.advance)


def some_rows(
    rng: random.Random, width: int, count: int, low: int, high: int
) -> list[tuple[Any, ...]]:
    """Rows of small integers, NULLs among them, and a time in seconds at the end."""
    return [
        (
            *(None if rng.random() < 0.1 else rng.randint(0, 3) for _ in range(width)),
            rng.randint(low, high) * 1_000_000,
        )
        for _ in range(count)
    ]
