"""What is narrowed comes out whole, and what need not travel does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.time import INF, NEG_INF
from ebbtide.dataflow.routing import Parcel
from ebbtide.spark import exchange, narrowing
from ebbtide.spark.narrowing import narrowed, widened
from ebbtide.state.batch import batch_schema

ROWS = 5000
SPREADS = [0, 1, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**63]


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    """A few numbers as far apart as it takes to need one byte more, some of them NULL."""
    low = draw(st.sampled_from([NEG_INF, -1, 0, 1_700_000_000_000_000, INF - 70_000]))
    high = min(low + draw(st.sampled_from(SPREADS)), INF)
    return draw(st.lists(st.sampled_from([low, high]) | st.none(), min_size=1, max_size=5))


@given(
    column=numbers(),
    begin=numbers(),
    end=numbers() | st.integers(-(2**63), 2**63 - 1),
    kind=st.sampled_from([pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.int32()]),
)
def test_what_is_narrowed_comes_out_whole(
    column: list[Any], begin: list[Any], end: list[Any] | int, kind: Any
) -> None:
    fits = [v if kind != pa.int32() or v is None or abs(v) < 2**31 else 7 for v in column]
    starts = _repeated([v or 0 for v in begin])
    if isinstance(end, int):
        with np.errstate(over="ignore"):
            ends = starts + np.int64(end)
    else:
        ends = _repeated([v or 0 for v in end])
    values = pa.array((fits * ROWS)[:ROWS], kind)
    columns = [values, pa.array(["x"] * ROWS), starts, ends, np.ones(ROWS, np.int64)]
    rows = pa.Table.from_arrays(
        [pa.array(part) for part in columns], schema=batch_schema([kind, pa.string()])
    )
    again = widened(narrowed(rows))
    again.validate(full=True)
    assert again.equals(rows)
    assert again.schema.equals(rows.schema, check_metadata=True)


def _repeated(values: list[int]) -> Any:
    return np.array((values * ROWS)[:ROWS], np.int64)


def test_rows_of_a_window_take_a_few_bytes_each() -> None:
    at = np.arange(ROWS) * 1000 + 1_700_000_000_000_000
    columns = [np.arange(ROWS) % 200, at, at + 300_000_000, np.ones(ROWS, np.int64)]
    rows = pa.Table.from_arrays([pa.array(c) for c in columns], schema=batch_schema([pa.int64()]))
    # A byte for the key and four for the beginning.
    assert narrowed(rows).nbytes < 6 * ROWS
    assert sent(rows).equals(rows)


def test_rows_that_are_all_alike_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowing, "_ENOUGH", 1)
    ones = pa.array([1, 1, 1])
    rows = pa.Table.from_arrays([ones, ones, ones, ones], schema=batch_schema([pa.int64()]))
    assert sent(rows).equals(rows)


def test_few_rows_travel_as_they_are() -> None:
    ones = pa.array([1, 1, 1])
    rows = pa.Table.from_arrays([ones, ones, ones, ones], schema=batch_schema([pa.int64()]))
    assert narrowed(rows) is rows


def sent(rows: Any) -> Any:
    """Rows as they come out of an exchange."""
    parcels = exchange.packed([Parcel(0, 0, rows)], None)
    return exchange.opened(exchange.unpacked(exchange.batches_of(parcels))[0])
