"""Batches: hashes, exact groups and the canonical form, against the model."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core import change as model
from ebbtide.core.change import Change
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.values import NAN, row
from ebbtide.state import hashing, netting
from ebbtide.state.batch import (
    DIFF,
    batch_schema,
    codes,
    consolidate,
    from_changes,
    key_hash,
    minus,
    net,
    to_changes,
    with_times,
)
from ebbtide.state.columns import ints

TYPES = {
    pa.int8(): [None, 0, -1, 7],
    pa.int64(): [None, 0, -1, 2**62],
    pa.float64(): [None, 0.0, -0.0, 1.5, NAN, float("inf")],
    pa.decimal128(38, 2): [None, Decimal("0.00"), Decimal("-1.50"), Decimal("9" * 36 + ".99")],
    pa.string(): [None, "", "a", "abcdefgh", "abcdefghi", "é", "x" * 300, "x" * 299 + "y"],
    pa.binary(): [None, b"", b"\x00", b"\x00\x00", b"abcdefgh"],
    pa.date32(): [None, date(1970, 1, 1), date(2026, 2, 3)],
    pa.bool_(): [None, True, False],
    pa.list_(pa.int64()): [None, (), (1,), (1, None), (None,), (2, 1), (1, 2)],
    pa.struct([("a", pa.int64()), ("b", pa.string())]): [None, (1, "x"), (None, "x"), (1, None)],
}
KINDS = st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=3)


@st.composite
def batches(draw: Any, count: int = 1) -> tuple[Any, list[tuple[Change, ...]]]:
    """A schema, and some lists of changes of it."""
    kinds = draw(KINDS)
    rows = st.tuples(*(st.sampled_from(TYPES[kind]) for kind in kinds)).map(lambda r: row(*r))
    starts = st.sampled_from([NEG_INF, 0, 1, 2, 5])
    lengths = st.sampled_from([1, 2, 3, INF])

    def change(parts: Any) -> Change:
        values, start, length, diff = parts
        return Change(values, start, INF if length == INF else max(start, 0) + length, diff)

    changes = st.tuples(rows, starts, lengths, st.sampled_from([1, 1, -1, 2])).map(change)
    lists = [tuple(draw(st.lists(changes, max_size=12))) for _ in range(count)]
    return batch_schema(kinds), lists


def arrow(changes: Any, schema: Any) -> Any:
    """A batch; structs go in as dictionaries."""

    def value(item: Any, kind: Any) -> Any:
        if item is not None and pa.types.is_struct(kind):
            return dict(zip((f.name for f in kind), item, strict=True))
        return item

    kinds = [field.type for field in schema][:-3]
    wrapped = [
        Change(
            tuple(value(v, k) for v, k in zip(c.row, kinds, strict=True)),
            c.valid_from,
            c.valid_to,
            c.diff,
        )
        for c in changes
    ]
    return from_changes(wrapped, schema)


@given(drawn=batches())
def test_the_canonical_form_is_the_models(drawn) -> None:
    schema, (changes,) = drawn
    assert to_changes(consolidate(arrow(changes, schema))) == model.consolidate(changes)
    assert sorted(map(repr, to_changes(net(arrow(changes, schema))))) == sorted(
        map(repr, model.consolidate(changes))
    )


@given(drawn=batches(), start=st.sampled_from([NEG_INF, 3]), end=st.sampled_from([3, INF]))
def test_over_one_interval_diffs_add_up(drawn, start, end) -> None:
    schema, (changes,) = drawn
    alike = arrow([Change(c.row, 0, 1, c.diff) for c in changes], schema)
    times = (np.full(alike.num_rows, time, np.int64) for time in (start, end))
    table = with_times(alike, *times, ints(alike, DIFF))
    assert to_changes(consolidate(table)) == model.consolidate(to_changes(table))


@given(drawn=batches(2))
def test_minus_leads_from_one_to_the_other(drawn) -> None:
    schema, (left, right) = drawn
    found = minus(arrow(left, schema), arrow(right, schema))
    assert model.consolidate(to_changes(found)) == model.minus(left, right)


@given(drawn=batches())
def test_equal_rows_have_equal_hashes_and_codes(drawn) -> None:
    schema, (changes,) = drawn
    table = arrow(changes, schema)
    columns = range(len(schema) - 3)
    hashes, groups = key_hash(table, columns), codes(table, columns)
    by_row: dict[Any, set[tuple[int, int]]] = {}
    for index, change in enumerate(changes):
        by_row.setdefault(change.row, set()).add((int(hashes[index]), int(groups.ids[index])))
    assert all(len(found) == 1 for found in by_row.values())
    assert groups.count == len(by_row)
    assert len({code for found in by_row.values() for _, code in found}) == len(by_row)


@given(drawn=batches(), cut=st.integers(0, 12))
def test_hashes_do_not_depend_on_chunks(drawn, cut) -> None:
    schema, (changes,) = drawn
    whole = arrow(changes, schema)
    pieces = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    columns = range(len(schema) - 3)
    assert (key_hash(whole, columns) == key_hash(pieces, columns)).all()
    part = whole.slice(min(cut, whole.num_rows))
    assert (key_hash(part, columns) == key_hash(whole, columns)[cut:]).all()


@given(drawn=batches())
def test_codes_are_exact_when_all_hashes_collide(drawn) -> None:
    schema, (changes,) = drawn
    table = arrow(changes, schema)
    same = np.zeros(table.num_rows, np.uint64)
    groups = codes(table, range(len(schema) - 3), same)
    assert groups.count == len({change.row for change in changes})


def test_colliding_rows_are_not_netted_together(monkeypatch) -> None:
    monkeypatch.setattr(
        netting, "key_hash", lambda table, columns: np.zeros(table.num_rows, np.uint64)
    )
    changes = [Change((1,), 0, 5), Change((2,), 0, 5, -1), Change((1,), 5, 9), Change((2,), 2, 3)]
    found = consolidate(from_changes(changes, batch_schema([pa.int64()])))
    assert to_changes(found) == model.consolidate(changes)


def test_hashes_are_the_same_in_every_process() -> None:
    program = """
import pyarrow as pa
from ebbtide.state.batch import key_hash
table = pa.table({"a": [1, None], "b": ["x" * 9, ""], "c": [[1.5, -0.0], None]})
print(*key_hash(table, (0, 1, 2)))
"""
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert first == second
    # A stored area is found again only if these never change.
    assert first.split() == ["9794354565624436019", "17879646003131052739"]


def test_hashes_spread() -> None:
    numbers = hashing.key_hash(pa.table({"a": np.arange(100_000)}), (0,))
    assert len(np.unique(numbers)) == 100_000
    shards = np.bincount((numbers % np.uint64(7)).astype(np.int64), minlength=7)
    assert shards.max() < 1.05 * shards.min()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0xEF641F33A7668DEF),
        ("a", 0x3ADA8554491AE4ED),
        ("abcdefgh", 0x366E18BDE7839980),
        ("abcdefghi", 0x181466AE5E92FA7F),
        ("é" * 20, 0x70563E0536BA0640),
        ("x" * 256, 0xF0B8D11D3781BE8D),
        ("x" * 257, 0xC505792FBDE195B8),
    ],
)
def test_texts_have_the_hash_that_stored_rows_have(text: str, expected: int) -> None:
    alone = key_hash(pa.table({"c": [text]}), [0])
    others = pa.table({"c": ["abc", text, None, *(str(i) for i in range(20))]})
    again = pa.table({"c": [text, "odd"] * 600}).slice(2)
    found = {int(alone[0]), int(key_hash(others, [0])[1]), int(key_hash(again, [0])[0])}
    assert found == {expected}
