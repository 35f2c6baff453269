"""The cost of a step follows its changes, not the state; state goes when its time has passed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.rules import times_of

from ebbtide.config import Config
from ebbtide.core.folds import Fold
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.operators.difference import Difference
from ebbtide.kernels.operators.distinct import Distinct
from ebbtide.kernels.operators.over import Framed, Neighbour, Number, Over
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.sweeps.frames import Frame
from ebbtide.kernels.sweeps.numbering import Ranking
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from ebbtide.state.store import DirectoryStore, WriteScope

SCHEMA = batch_schema([pa.int64(), pa.float64()])
WINDOW = 1_000_000

AVERAGE = Aggregate((0,), (Call("AVG", (1,), pa.float64(), Fold.ACCUMULATOR),))
GREATEST = Aggregate(
    (0,),
    (Call("MAX", (1,), pa.float64(), Fold.EXTREME), Call("COUNT", (), pa.int64(), Fold.NUMBERS)),
)
MEDIAN = Aggregate((0,), (Call("MEDIAN", (1,), pa.float64(), Fold.ROWS),))


def rows(chance: np.random.Generator, count: int, keys: int, start: int, end: int) -> Any:
    """Rows as a window shows them."""
    at = np.sort(chance.integers(start, end, count))
    columns = [chance.integers(0, keys, count), chance.integers(0, 999, count) / 8.0]
    columns += [at, at + WINDOW, np.ones(count, np.int64)]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


class Stepping:
    """A kernel that is taken through steps."""

    def __init__(self, kernel: Kernel, store: Any = None, schema: Any = SCHEMA) -> None:
        self.kernel, self.store = kernel, store
        self.inputs = (
            len([a for a in kernel.areas((schema,) * 2) if a.name in ("left", "right")]) or 1
        )
        self.areas = tuple(SweepArea(lay) for lay in kernel.areas((schema,) * self.inputs))
        self.before, self.version = NEG_INF, 0

    def step(self, changes: Any, now: int) -> float:
        """One step; gives the processor seconds that it took."""
        if self.store is not None:
            scope = WriteScope(self.store, "op", 0, self.version)
            self.areas = tuple(area.at(scope) for area in self.areas)
        start = time.thread_time()
        times = times_of(self.kernel, self.before, now, (now - 1000,) * self.inputs)
        result = self.kernel.step((changes,) * self.inputs, self.areas, times)
        seconds = time.thread_time() - start
        self.areas, self.before, self.version = result.areas, now, self.version + 1
        return seconds


def typical(kernel: Kernel, live: int, keys: int, changes: int = 1000) -> float:
    """The processor seconds of a step with some changes, on a state of that many rows."""
    chance = np.random.default_rng(5)
    stepping = Stepping(kernel)
    for part in range(10):
        start = part * WINDOW // 10
        stepping.step(rows(chance, live // 10, keys, start, start + WINDOW // 10), start)
    now, seconds = WINDOW, []
    for _ in range(24):
        # A stretch of time in which as many rows go as come, were the state the smaller one.
        seconds.append(stepping.step(rows(chance, changes, keys, now, now + 10), now + 10))
        now += 10
    return float(np.median(seconds[4:]))


KERNELS = {
    "average": AVERAGE,
    "distinct": Distinct(),
    "greatest": GREATEST,
    "median": MEDIAN,
    "difference": Difference(),
    "lag": Over((Neighbour(1, -1),), (0,), (SortColumn(1),)),
    "rank over": Over((Number(Ranking.RANK),), (0,), (SortColumn(1),)),
}
LONG = Config.from_environment().profile == "long"


@pytest.mark.parametrize("name", list(KERNELS) if LONG else ["average", "distinct"])
def test_a_step_does_not_grow_with_more_keys(name: str) -> None:
    kernel = KERNELS[name]
    typical(kernel, 10_000, 10_000, 100)
    small, large = typical(kernel, 10_000, 10_000), typical(kernel, 1_000_000, 1_000_000)
    # A hundredfold state has more segments to look into; a scan of it would take some 50 ms.
    assert large <= 1.5 * small + 0.015


@pytest.mark.parametrize("name", ["average", "greatest"])
def test_a_step_does_not_grow_with_more_rows_of_a_key(name: str) -> None:
    kernel = KERNELS[name]
    typical(kernel, 10_000, 1000, 100)
    small, large = typical(kernel, 10_000, 1000), typical(kernel, 1_000_000, 1000)
    assert large <= 1.5 * small + 0.005


@pytest.mark.parametrize("name", list(KERNELS))
def test_nothing_is_left_when_the_window_has_passed(name: str, tmp_path) -> None:
    stepping = Stepping(KERNELS[name], DirectoryStore(str(tmp_path)))
    chance = np.random.default_rng(6)
    for part in range(8):
        start = part * WINDOW // 4
        stepping.step(rows(chance, 5_000, 300, start, start + WINDOW // 4), start + WINDOW // 4)
    now = stepping.before
    nothing = SCHEMA.empty_table()
    for k in range(1, 6):
        stepping.step(nothing, now + k * WINDOW)
    assert sum(area.rows for area in stepping.areas) == 0
    used = {segment.name for area in stepping.areas for segment in area.segments}
    assert used == set()


def folding(*calls: Call) -> Aggregate:
    """An aggregate that folds rows that never end."""
    return Aggregate((0,), calls, folds=True)


def choosing(function: str, *arguments: int) -> Call:
    """A call that chooses one of the doubles."""
    return Call(function, arguments or (1,), pa.float64(), Fold.EXTREME, row=(0, 1))


def of_doubles(function: str) -> Call:
    """A call that sums doubles, or their squares."""
    return Call(function, (1,), pa.float64(), Fold.ACCUMULATOR)


FOR_EVER = {
    "distinct": Distinct(),
    "difference": Difference(),
    "counted and summed": folding(
        Call("COUNT", (1,), pa.int64(), Fold.NUMBERS), Call("SUM", (0,), pa.int64(), Fold.NUMBERS)
    ),
    **{name: folding(of_doubles(name)) for name in ("SUM", "AVG", "VAR_SAMP", "STDDEV_POP")},
    **{name: folding(choosing(name)) for name in ("MIN", "MAX", "FIRST", "LAST")},
    **{name: folding(choosing(name, 1, 0)) for name in ("ARG_MIN", "ARG_MAX")},
    **{
        name: folding(Call(name, (2,), pa.bool_(), Fold.EXTREME))
        for name in ("BOOL_AND", "BOOL_OR")
    },
    "all of them": folding(
        Call("COUNT", (), pa.int64(), Fold.NUMBERS),
        of_doubles("STDDEV_SAMP"),
        choosing("MAX"),
        choosing("LAST"),
        choosing("ARG_MIN", 1, 0),
    ),
}


def for_ever(chance: np.random.Generator, count: int, start: int, end: int) -> Any:
    """Rows with few different values, and a truth value, that never end."""
    part = rows(chance, count, 10, start, end)
    part = part.set_column(1, SCHEMA.field(1), pa.array(chance.integers(0, 5, count) / 8.0))
    return part.set_column(3, SCHEMA.field(3), pa.array(np.full(count, INF)))


@pytest.mark.parametrize("name", list(FOR_EVER))
def test_rows_that_never_end_are_kept_as_numbers(name: str) -> None:
    """Under [UNBOUNDED] state grows with the keys or the different rows, not with what came."""
    kernel = FOR_EVER[name]
    truth = name.startswith("BOOL")
    schema = batch_schema([pa.int64(), pa.float64(), pa.bool_()]) if truth else SCHEMA
    stepping, chance = Stepping(kernel, schema=schema), np.random.default_rng(9)
    stored, brought = [], 0
    for step in range(120):
        start = step * 2000
        part = for_ever(chance, 500, start, start + 2000)
        if truth:
            part = part.add_column(2, "c2", pa.array(chance.integers(0, 2, 500) > 0)).cast(schema)
        stepping.step(part, start + 2000)
        brought += part.num_rows
        stored.append(sum(area.rows for area in stepping.areas))
    # Some steps' rows wait for the horizon, and some for being merged.
    assert max(stored[60:]) <= 1.5 * max(stored[:60]) <= 15_000 < brought // 3


def test_what_can_be_taken_back_is_kept() -> None:
    """The same calls without leave to fold keep every row."""
    stepping, chance = Stepping(Aggregate((0,), (choosing("MAX"),))), np.random.default_rng(9)
    for step in range(20):
        stepping.step(for_ever(chance, 500, step * 2000, step * 2000 + 2000), step * 2000 + 2000)
    assert stepping.areas[0].rows == 20 * 500


def test_late_rows_cost_their_region_only() -> None:
    """With rows somewhat late in every step, a window of a million rows is not read again."""
    chance = np.random.default_rng(8)

    def seconds(live: int) -> float:
        stepping = Stepping(AVERAGE)
        for part in range(10):
            start = part * WINDOW // 10
            stepping.step(rows(chance, live // 10, 1000, start, start + WINDOW // 10), start)
        now, found = WINDOW, []
        for _ in range(12):
            found.append(stepping.step(rows(chance, 1000, 1000, now - 500, now + 10), now + 10))
            now += 10
        return float(np.median(found[2:]))

    seconds(10_000)
    small, large = seconds(10_000), seconds(1_000_000)
    assert large <= 2 * small + 0.010


BEST = (SortColumn(1, descending=True),)
SUM = Framed(Call("SUM", (1,), pa.float64(), Fold.ACCUMULATOR))
MAX = Framed(Call("MAX", (1,), pa.float64(), Fold.EXTREME))
NEAR, CLOSE = Frame(True, -2, 0), Frame(False, -1, 0)

SWEEPS: dict[str, Kernel] = {
    "median": MEDIAN,
    "percentile": Aggregate(
        (0,), (Call("PERCENTILE_DISC", (1,), pa.float64(), Fold.ROWS, share=0.9),)
    ),
    "row number": TopN(10, BEST, (0,), Ranking.ROW_NUMBER, numbered=True),
    "rank": TopN(10, BEST, (0,), Ranking.RANK, offset=1000),
    "dense rank": TopN(10, BEST, (0,), Ranking.DENSE_RANK, numbered=True),
}
FRAMES: dict[str, Kernel] = {
    "sum of rows": Over((SUM,), (0,), BEST, NEAR),
    "greatest of rows": Over((MAX,), (0,), BEST, NEAR),
    "sum of amounts": Over((SUM,), (0,), BEST, CLOSE),
    "greatest of amounts": Over((MAX,), (0,), BEST, CLOSE),
    "lag": Over((Neighbour(1, -1),), (0,), BEST),
    "lead": Over((Neighbour(1, 2),), (0,), BEST),
}
NUMBERS: dict[str, Kernel] = {
    **{r.name: Over((Number(r),), (0,), (SortColumn(1),)) for r in Ranking},
    "with a neighbour": Over((Number(Ranking.RANK), Neighbour(1, -1)), (0,), (SortColumn(1),)),
}


def per_row(kernel: Kernel, count: int, ascending: bool = False) -> float:
    """The processor seconds per row of a step with many rows of one group, all live in the end.

    Each comes at an instant of its own, so a sweep that moves or lists all live rows wherever one
    comes takes a hundred times as long per row for a hundred times the rows.
    """
    chance, seconds = np.random.default_rng(3), []
    at = np.sort(chance.integers(0, 10**12, count))
    values = np.arange(count) // 2 * 1.0 if ascending else chance.random(count) * count
    columns = [np.zeros(count, np.int64), values, at, at + 10**12]
    columns.append(np.ones(count, np.int64))
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)
    for _ in range(1 if count > 10_000 else 3):
        seconds.append(Stepping(kernel).step(table, int(at[-1])))
    return float(np.median(seconds)) / count


@pytest.mark.parametrize("name", SWEEPS)
def test_a_row_of_a_large_group_costs_a_logarithm(name: str) -> None:
    kernel = SWEEPS[name]
    per_row(kernel, 1000)
    assert per_row(kernel, 1_000_000) <= 8 * per_row(kernel, 10_000)


@pytest.mark.parametrize("name", FRAMES)
def test_a_row_of_a_large_partition_costs_its_neighbourhood(name: str) -> None:
    kernel, many, growth = FRAMES[name], 1_000_000 if LONG else 150_000, 8 if LONG else 5
    per_row(kernel, 1000)
    assert per_row(kernel, many) <= growth * per_row(kernel, 10_000)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_of_a_row_that_comes_last_costs_a_logarithm(name: str) -> None:
    """Rows that come elsewhere change the numbers of all behind them, which have to be said."""
    kernel, many, growth = NUMBERS[name], 1_000_000 if LONG else 150_000, 8 if LONG else 5
    per_row(kernel, 1000, ascending=True)
    small, large = (per_row(kernel, count, ascending=True) for count in (10_000, many))
    assert large <= growth * small
