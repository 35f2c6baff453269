"""What a query has left in its directory, read without Spark.

Law: the answers are those of ``results``, which gives them as DataFrames: ``changes`` are all
changes of the steps that were kept, ``snapshot`` at an instant is their sum there, ``unused`` are
the rows that counted for nothing, net of what was taken back.  Reading takes no lock: what a step
has committed is there, and nothing else is looked at.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.change import Change
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError, StateError
from ebbtide.runtime.journal import Entry, Journal
from ebbtide.runtime.types import arrow_type
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema, concat, net, to_changes, with_times
from ebbtide.state.columns import ints


@dataclass(frozen=True, slots=True)
class UnusedRow:
    """A row that counted for nothing: why, its text, what it was to do, and in which step."""

    reason: str
    row: str
    op: str | None
    step: int


def kept_entries(root: str, since: int | None = None) -> list[Entry]:
    """The steps after ``since``; their output must be in the archive."""
    entries = [e for e in Journal(root).entries() if since is None or e.version > since]
    for entry in entries:
        if not entry.kept:
            raise QueryError(
                "no-archive",
                f"the output of step {entry.version} was not kept",
                hint="start the query with archive=True, under another name",
            )
    return entries


def last_now(entries: list[Entry]) -> Instant:
    """``now`` after the last of the steps."""
    return max((entry.now for entry in entries), default=NEG_INF)


def changes(root: str, schema: Schema, since: int | None = None) -> Iterator[tuple[int, Change]]:
    """The changes of all steps after ``since``, each with its step, in the order of time."""
    for entry in kept_entries(root, since):
        table = concat([_read(root, file, schema) for file in entry.output], _layout(schema))
        ordered = sorted(to_changes(table), key=_time_order)
        yield from ((entry.version, change) for change in ordered)


def snapshot(root: str, schema: Schema, at: Instant | None = None) -> list[Row]:
    """The rows that are valid at an instant, or now, in order; equal ones as often as they are."""
    entries = kept_entries(root)
    moment = last_now(entries) if at is None else at
    valid = [(FROM, "<=", moment), (TO, ">", moment)]
    files = [file for entry in entries for file in entry.output]
    table = concat([_read(root, file, schema, valid) for file in files], _layout(schema))
    start, end = (np.full(table.num_rows, t, np.int64) for t in (NEG_INF, INF))
    netted = net(with_times(table, start, end, ints(table, DIFF)))
    found = ((change.row, change.diff) for change in to_changes(netted))
    rows = [row for row, count in found for _ in range(count)]
    return sorted(rows, key=row_key)


def unused(root: str, source: str) -> list[UnusedRow]:
    """The rows of a source that were not used, in the order of their steps."""
    counts: Counter[tuple[str, str, str | None]] = Counter()
    steps: dict[tuple[str, str, str | None], int] = {}
    for entry in Journal(root).entries():
        for file in entry.unused:
            for told in _table(root, file).to_pylist():
                if told["source"].casefold() == source.casefold():
                    key = told["reason"], told["row"], told["op"]
                    counts[key] += told["diff"]
                    steps[key] = entry.version
    rows = [UnusedRow(*key, steps[key]) for key, count in counts.items() for _ in range(count)]
    return sorted(rows, key=lambda row: (row.step, row.reason, row.row))


def _read(root: str, file: str, schema: Schema, filters: Any = None) -> Any:
    return _table(root, file, filters).cast(_layout(schema))


def _table(root: str, file: str, filters: Any = None) -> Any:
    path = os.path.join(root, file)
    try:
        return pq.ParquetFile(path).read() if filters is None else _filtered(path, filters)
    except FileNotFoundError as error:
        raise missing_output(root, file) from error
    except (OSError, pa.ArrowInvalid) as error:
        raise StateError(
            "damaged-output",
            f'the file "{file}" of the archive cannot be read',
            detail=str(error).splitlines()[0],
            hint="restore the directory, or run the query anew in another location",
        ) from error


def missing_output(root: str, file: str) -> StateError:
    """The error of a file of the archive that is not there."""
    return StateError(
        "missing-output",
        f'the file "{file}" of the archive is not there',
        detail=f"below {root}",
        hint="restore the directory, or run the query anew in another location",
    )


def _filtered(path: str, filters: Any) -> Any:
    return pq.read_table(path, filters=filters, partitioning=None)


def _layout(schema: Schema) -> Any:
    return batch_schema([arrow_type(column.type) for column in schema])


def _time_order(change: Change) -> tuple[Any, ...]:
    return change.valid_from, change.valid_to, change.diff, row_key(change.row)


def progress(root: str) -> tuple[Instant, Instant | None]:
    """``now`` of a query, and the progress of the slowest of its sources that have any."""
    latest = Journal(root).latest()
    if latest is None:
        return NEG_INF, None
    lines = [line for source in latest.frontiers["sources"] for line in source["lines"]]
    reached = [reached for reached, _ in lines if reached > NEG_INF]
    return latest.details["now"], min(reached, default=None)
