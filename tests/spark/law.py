"""The law on Spark: a query's accumulated output against the reference, after every step."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from tests.histories import Fed, Oracle

from ebbtide.core.change import Change, consolidate, until
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.reference import evaluate
from ebbtide.state.batch import to_changes
from ebbtide.store.journal import Journal
from ebbtide.testing import assert_snapshot_equal


def emitted(query: Query) -> tuple[Change, ...]:
    """All changes that a query has emitted, from its archive; none before its time had come."""
    found: list[Change] = []
    for record in Journal(query.view.root).entries():
        step = to_changes(query.view.table(record))
        assert all(change.valid_from <= record.nows[query.name] for change in step)
        found += step
    return consolidate(found)


def check(engine: Engine, query: Query, oracle: Oracle) -> None:
    """The law, after a step."""
    latest = Journal(engine.root_of(query.name)).latest()
    assert latest is not None
    now = latest.record.nows[query.name]
    expected = evaluate(query.bound.plan, oracle.accepted, now)
    assert_snapshot_equal(emitted(query), until(expected, now), now)


def feed(engine: Engine, fed: Mapping[str, Fed]) -> None:
    """Feeds a step's rows, in order."""
    for name, what in fed.items():
        for op, arrivals in groupby(what.arrivals, lambda arrival: arrival.op):
            engine.feed(name, [arrival.row for arrival in arrivals], op and op.value)
        if what.advance is not None:
            engine.advance(name, what.advance)


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
