"""Summaries of archives: what is kept repeats, adds up, and stands for what was there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ebbtide.core.declaration import TAKEN, Histogram, RowSample, StreamDeclaration, Summary
from ebbtide.core.time import INF, NEG_INF
from ebbtide.engine.estimation import interval
from ebbtide.kernels.operators.archive_summary import Summarised
from ebbtide.state.batch import batch_schema, net

SCHEMA = batch_schema([pa.int64(), pa.float64()])
UNIFORM, BY_IMPACT = RowSample(100_000), RowSample(100_000, "x")
BINS = Histogram(("x",), 60)


def changes(values: Any, diff: int = 1) -> Any:
    """A change a row: a time, and a value."""
    n = len(values)
    ends = [pa.array(np.full(n, end)) for end in (NEG_INF, INF)]
    rows = [pa.array(np.arange(n)), pa.array(np.asarray(values, float))]
    return pa.Table.from_arrays([*rows, *ends, pa.array(np.full(n, diff))], schema=SCHEMA)


def summarised(summary: Summary, keyed: bool = True) -> Summarised:
    return Summarised(summary, (0,), () if summary == UNIFORM else (1,), keyed)


def rows(table: Any) -> list[tuple[Any, ...]]:
    columns = (table.column(name).to_pylist() for name in ("c0", "c1", "c2", "diff"))
    return sorted(zip(*columns, strict=True))


VALUES = np.random.default_rng(1).exponential(10.0, 5000)


@pytest.mark.parametrize("summary", [UNIFORM, BY_IMPACT, BINS, RowSample(333_333, None, 9)])
@pytest.mark.parametrize("keyed", [True, False])
def test_what_is_kept_does_not_depend_on_the_order(summary: Summary, keyed: bool) -> None:
    table, how = changes(VALUES), Summarised(summary, (0,), (1,), keyed)
    turned = table.take(pa.array(np.random.default_rng(2).permutation(len(VALUES))))
    assert rows(how.kept(table, 3)) == rows(how.kept(turned, 3))
    assert 0 < how.kept(table, 3).num_rows < len(VALUES)


@pytest.mark.parametrize("per_million", [10_000, 100_000, 300_000, 333_333, 700_000])
@pytest.mark.parametrize("impact", [None, "x"])
def test_the_wanted_part_is_kept(per_million: int, impact: str | None) -> None:
    how = Summarised(RowSample(per_million, impact), (0,), (1,) if impact else (), True)
    kept = how.kept(changes(np.tile(VALUES, 10)), 0)
    wanted = per_million / 1e6 * 50_000
    assert abs(kept.num_rows - wanted) < 5 * wanted**0.5
    weights = kept.column("c2").to_numpy()
    assert weights.sum() == pytest.approx(50_000, rel=0.15)


def test_equal_values_are_sampled_by_impact_in_the_wanted_part() -> None:
    kept = summarised(BY_IMPACT).kept(changes(np.full(20_000, 7.0)), 0)
    assert abs(kept.num_rows - 2000) < 250
    assert summarised(BY_IMPACT).kept(changes(np.zeros(20_000)), 0).num_rows > 1500


def test_by_impact_large_values_are_certain() -> None:
    values = np.concatenate([np.ones(1000), np.full(5, 1e6)])
    kept = summarised(BY_IMPACT).kept(changes(values), 0)
    assert [w for _, x, w, _ in rows(kept) if x == 1e6] == [1] * 5


def test_another_seed_keeps_other_rows() -> None:
    seeds = (Summarised(RowSample(100_000, None, seed), (0,), (), True) for seed in (1, 2))
    first, second = ({row[0] for row in rows(how.kept(changes(VALUES), 0))} for how in seeds)
    assert len(first & second) < len(first) / 4


def test_a_row_with_a_key_that_is_taken_back_is_gone() -> None:
    how = summarised(UNIFORM)
    both = pa.concat_tables([how.kept(changes(VALUES), 1), how.kept(changes(VALUES, -1), 2)])
    assert net(both.cast(batch_schema([pa.int64(), pa.float64(), pa.int64()]))).num_rows == 0
    taken = summarised(BY_IMPACT).kept(changes(VALUES[:10], -1), 2)
    assert [(w, d) for _, _, w, d in rows(taken)] == [(TAKEN, -1)] * 10


def test_without_a_key_copies_are_chosen_one_by_one() -> None:
    same = pa.concat_tables([changes([1.0]).slice(0, 1)] * 1000).combine_chunks()
    kept = summarised(UNIFORM, keyed=False).kept(same, 0)
    assert 50 < kept.num_rows < 170
    several = same.slice(0, 1).set_column(4, SCHEMA.field(4), pa.array([1000]))
    assert summarised(UNIFORM, keyed=False).kept(several, 0).num_rows == kept.num_rows


def test_bins_are_narrow_and_whole() -> None:
    table = changes(np.concatenate([VALUES, -VALUES, [0.0, np.inf]]))
    binned = summarised(BINS).kept(table, 0)
    assert sum(row[3] for row in rows(binned)) == table.num_rows
    assert {row[0] % 60 for row in rows(binned)} == {30}
    exact, middles = sorted(VALUES), sorted(
        row[1] for row in rows(binned) for _ in range(row[3]) if 0 < row[1] < np.inf
    )  # fmt: skip
    assert np.allclose(exact, middles, rtol=1 / 64)


def test_whole_numbers_and_decimals_have_bins_too() -> None:
    schema = batch_schema([pa.int64(), pa.int64(), pa.decimal128(5, 2)])
    ends = [pa.array([end] * 4) for end in (NEG_INF, INF)]
    decimals = pa.array(["999.99", "-999.99", None, "1.00"]).cast(pa.decimal128(5, 2))
    whole = pa.array([(1 << 63) - 1, -(1 << 63), 100, None], pa.int64())
    arrays = [pa.array([0, 60, 120, 180]), whole, decimals, *ends, pa.array([1] * 4)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    kept = Summarised(Histogram(("n", "d"), 60), (0,), (1, 2), True).kept(table, 0)
    found = dict(zip(kept.column("c0").to_pylist(), kept.to_pylist(), strict=True))
    assert (found[150]["c1"], found[150]["c2"], found[210]["c1"]) == (100, None, None)
    assert float(found[30]["c2"]) == pytest.approx(999.99, rel=1 / 64)


@pytest.mark.parametrize("impact", [None, "x"])
@pytest.mark.parametrize("shape", ["uniform", "normal", "exponential"])
def test_intervals_cover_as_often_as_they_say(shape: str, impact: str | None) -> None:
    """Over 1,000 groups of 500 rows, of sums and means where at least 30 rows were sampled."""
    random = np.random.default_rng(4)
    values = {
        "uniform": 100 + 20 * random.random((1000, 500)),
        "normal": random.normal(50, 10, (1000, 500)),
        "exponential": random.exponential(1.0, (1000, 500)),
    }[shape]
    how = Summarised(RowSample(100_000, impact), (0,), (1,) if impact else (), True)
    kept = how.kept(changes(values.ravel()), 0)
    groups: dict[int, list[tuple[float, int, int]]] = {number: [] for number in range(1000)}
    for place, value, weight, _ in rows(kept):
        groups[place // 500].append((value, 1, weight))
    for mean, truth in ((False, values.sum(axis=1)), (True, values.mean(axis=1))):
        stated = {n: interval(found, mean, 0.95) for n, found in groups.items()}
        known = [(ends, truth[n]) for n, ends in stated.items() if ends is not None]
        covered = sum(low <= value <= high for (low, high), value in known)
        assert len(known) > 950
        assert abs(100 * covered / len(known) - 95) <= 2


SHAPES: dict[str, Any] = {
    "uniform": lambda random, size: 100 + 20 * random.random(size),
    "normal": lambda random, size: random.normal(50, 10, size),
    "exponential": lambda random, size: random.exponential(1.0, size),
    "log-normal": lambda random, size: random.lognormal(0, 1, size),
}
TRIALS = {30: 4000, 50: 4000, 100: 2000, 300: 1000}
"""By the rows that are expected; the part that covers is then known within a point or so."""


def coverage(shape: str, rows: int, mean: bool) -> float:
    """How many of a hundred intervals cover, where so many rows are expected in a tenth of all, and
    at least 30 were sampled; values of no shape are counted."""
    random = np.random.default_rng(rows)
    stated = covered = 0
    while stated < TRIALS[rows]:
        values = SHAPES[shape](random, 10 * rows) if shape else np.ones(10 * rows)
        chosen = values[random.random(10 * rows) < 0.1]
        found = interval([(float(value), 1, 10) for value in chosen], mean, 0.95)
        if found is not None:
            stated += 1
            covered += found[0] <= (values.mean() if mean else values.sum()) <= found[1]
    return 100 * covered / stated


@pytest.mark.parametrize("rows", [30, 50, 100, 300])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_means_cover_whatever_the_values_are(shape: str, rows: int) -> None:
    assert 93 <= coverage(shape, rows, mean=True) <= 97


@pytest.mark.parametrize("rows", [30, 50, 100, 300])
@pytest.mark.parametrize("shape", [*SHAPES, ""])
def test_intervals_of_sums_and_counts_cover_whatever_the_values_are(shape: str, rows: int) -> None:
    assert 93 <= coverage(shape, rows, mean=False) <= 97


def test_no_interval_of_a_sum_is_stated_that_is_a_single_row_s() -> None:
    even = [(1.0 + i / 100, 1, 10) for i in range(40)]
    assert interval([*even, (5.0, 1, 10)], False, 0.95) is not None
    assert interval([*even, (500.0, 1, 10)], False, 0.95) is None


def test_no_interval_is_stated_below_30_rows_of_chance() -> None:
    assert interval([(1.0, 29, 10), (2.0, 50, 1)], False, 0.95) is None
    assert interval([(1.0, 30, 10)], False, 0.95) is not None
    assert interval([(1.0, 30, 10)], True, 0.95) == (1.0, 1.0)


def test_streams_that_keep_all_rows_have_no_summary() -> None:
    from ebbtide.core.schema import Column, Schema
    from ebbtide.core.types import TIMESTAMP

    declaration = StreamDeclaration("s", Schema((Column("at", TIMESTAMP),)))
    assert Summarised.of(declaration) is None
