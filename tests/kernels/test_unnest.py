"""The kernel of UNNEST: NULLs, empty arrays, and batches that are parts of others."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.kernels.operators.unnest import Unnest
from ebbtide.state.batch import batch_schema

SCHEMA = batch_schema([pa.int64(), pa.list_(pa.int64())])
ITEMS = st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3)


def batch(rows: list[tuple[int, list[int | None] | None]]) -> Any:
    """Changes of rows, each over an interval of its own."""
    numbers = list(range(len(rows)))
    columns = [[row[0] for row in rows], [row[1] for row in rows], numbers, [9] * len(rows)]
    arrays = [pa.array(c, f.type) for c, f in zip([*columns, [1] * len(rows)], SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def expected(rows: list[Any], numbered: bool, pads: bool) -> list[tuple[Any, ...]]:
    found = []
    for place, (key, items) in enumerate(rows):
        shown = list(enumerate(items or [], 1)) or ([(None, None)] if pads else [])
        for number, item in shown:
            found.append((key, item, *([number] if numbered else []), place, 9, 1))
    return found


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("pads", [False, True])
@given(arrays=st.lists(ITEMS, max_size=5), first=st.integers(0, 2))
def test_every_item_once(numbered: bool, pads: bool, arrays: list[Any], first: int) -> None:
    rows = list(enumerate(arrays))
    kernel = Unnest(numbered, pads)
    changes = batch(rows).slice(first)
    made = kernel.changes(changes)
    assert made.schema.equals(kernel.output((SCHEMA,)))
    shown = [tuple(row.values()) for row in made.to_pylist()]
    assert shown == [row for row in expected(rows, numbered, pads) if row[-3] >= first]


def test_no_rows_of_no_chunks() -> None:
    assert Unnest(True, True).changes(SCHEMA.empty_table()).num_rows == 0
