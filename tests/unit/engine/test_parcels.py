"""Parcels: what is packed comes out again, however it was cut, and goes where its key says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ebbtide.core.row_text import row_text
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    STRING,
    TIMESTAMP,
    ArrayType,
    DecimalType,
)
from ebbtide.dataflow.routing import Parcel, parcels
from ebbtide.spark import exchange
from ebbtide.spark.shelf import Shelf
from ebbtide.state.batch import DIFF, batch_schema


def changes(count: int) -> Any:
    keys = pa.array([None if i % 7 == 0 else f"k{i % 5}" for i in range(count)], pa.string())
    times = [pa.array(np.full(count, t, np.int64)) for t in (0, 9, 1)]
    schema = batch_schema([pa.int64(), pa.string()])
    return pa.Table.from_arrays([pa.array(np.arange(count)), keys, *times], schema=schema)


def unpacked(parts: Iterator[exchange.Packed]) -> dict[int, Any]:
    found = exchange.unpacked(exchange.batches_of(parts))
    return {tag: exchange.opened(bodies) for tag, bodies in found.items()}


def test_all_rows_of_a_key_are_in_one_shard_and_none_is_lost() -> None:
    table = changes(1000)
    found = list(parcels(3, table, [1], 4))
    assert len(found) > 1
    assert sorted(v for p in found for v in p.rows.column(0).to_pylist()) == list(range(1000))
    keys = [set(parcel.rows.column(1).to_pylist()) for parcel in found]
    assert sum(map(len, keys)) == len(set.union(*keys)) == 6


def test_rows_without_keys_are_in_the_first_shard() -> None:
    (parcel,) = parcels(0, changes(10), [], 4)
    assert parcel.shard == 0
    assert parcel.rows.num_rows == 10
    assert not list(parcels(0, changes(0), [], 4))


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("largest", [1, 100, 1 << 25])
def test_large_parcels_are_cut_and_come_out_whole(
    largest: int, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_LARGEST", largest)
    table = changes(50)
    shelf = Shelf(str(tmp_path), least=0) if beside else None
    parts = list(exchange.packed([Parcel(2, 1, table)], shelf))
    assert (len(parts) > 1) == (largest < table.nbytes)
    assert {(tag, shard) for tag, shard, _ in parts} == {(2, 1)}
    assert unpacked(iter(parts))[2].equals(table)


def test_a_slice_is_packed_without_the_rest() -> None:
    table = changes(100_000)
    (part,) = exchange.packed([Parcel(0, 0, table.slice(5, 1))], None)
    assert len(part[2]) < 2000
    assert unpacked(iter([part]))[0].column(DIFF).to_pylist() == [1]


def test_only_large_parcels_lie_on_the_shelf_and_equal_ones_are_one(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path))
    small, large, other = (Parcel(0, 0, changes(count)) for count in (10, 20_000, 20_001))
    bodies = [body for _, _, body in exchange.packed([small, large, large, other], shelf)]
    assert bodies[1] == bodies[2] != bodies[3]
    assert [len(body) < 200 for body in bodies] == [False, True, True, True]
    assert len(os.listdir(tmp_path)) == 2
    assert all(os.stat(tmp_path / name).st_size > 50_000 for name in os.listdir(tmp_path))


def test_a_row_that_is_refused_is_told_in_full() -> None:
    types = (BIGINT, DecimalType(20, 3), TIMESTAMP, DATE, DOUBLE, BINARY, ArrayType(TIMESTAMP))
    schema = Schema(tuple(Column(f"c{i}", t) for i, t in enumerate((*types, STRING, STRING))))
    day = np.datetime64("2026-01-02", "D").item()
    text = row_text(
        schema,
        (
            1,
            Decimal("12345678901234567.125"),
            1_000_001,
            day,
            float("nan"),
            b"\x00",
            [0],
            'ä"',
            None,
        ),
    )
    assert text == (
        '{"c0":1,"c1":12345678901234567.125,"c2":"1970-01-01T00:00:01.000001Z","c3":"2026-01-02",'
        '"c4":"NaN","c5":"AA==","c6":["1970-01-01T00:00:00.000Z"],"c7":"ä\\""}'
    )
