"""Sums that do not drift, do not overflow in silence, and survive doubles of every size."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.rules import times_of

from ebbtide.algebra import aggregates
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, end_points, snapshot
from ebbtide.core.folds import Fold
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.types import BIGINT, DOUBLE, DecimalType
from ebbtide.errors import EvaluationError
from ebbtide.kernels.aggregates.accumulation import Kind, Moment
from ebbtide.kernels.aggregates.arithmetic import add_whole, square
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.aggregates.moments import values_of
from ebbtide.kernels.aggregates.totals import add_endless, from_column, to_column, width
from ebbtide.kernels.aggregates.totals import sums as totals_of
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.sweeps.spans import Spans
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema
from kernels.simulation import Step, histories, run

NUMBERS = batch_schema([pa.int64(), pa.float64()])
REALS = ("SUM", "AVG", "VAR_SAMP", "STDDEV_POP")


def of_doubles(*names: str) -> Aggregate:
    """Aggregates of the second column by the first."""
    return Aggregate(
        (0,), tuple(Call(name, (1,), pa.float64(), Fold.ACCUMULATOR) for name in names)
    )


def close(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two results agree, NULL and the numbers that are none included."""
    if found is None or wanted is None or not math.isfinite(wanted) or not math.isfinite(found):
        return found == wanted or (found != found and wanted != wanted)
    return abs(found - wanted) <= tolerance


# Sizes from far below to far above one another, so that sums swallow what is added to them.
WILD = st.one_of(
    st.sampled_from([1.0, -1.0, 0.1, 1e16, -1e16, 1e300, -1e300, 1e-300, math.inf, math.nan, None]),
    st.floats(-1e6, 1e6, allow_nan=False),
)


def check_doubles(history: list[Step]) -> None:
    """Every result is right within its tolerance, with rows folded and without."""
    functions = [aggregates.aggregate(name, (DOUBLE,)) for name in REALS]
    accepted: list[Change] = []

    def check(step: Step, output: list[Change], emitted: Any) -> None:
        accepted.extend(step.inputs[0])
        net = consolidate(accepted)
        points = [t for t in {*end_points(net, output), step.now} if NEG_INF < t <= step.now]
        for t in points:
            shown = {row[0]: row[1:] for row in snapshot(output, t)}
            rows = snapshot(net, t)
            assert shown.keys() == {row[0] for row in rows}
            for key, values in shown.items():
                bag = [r[1] for r in rows.elements() if r[0] == key and r[1] is not None]
                size = math.fsum(abs(x) for x in bag if math.isfinite(x))
                for name, function, value in zip(REALS, functions, values, strict=True):
                    state = function.initial
                    for x in bag:
                        state = function.accumulate(state, (x,))
                    wanted = function.result(state)
                    finite = wanted is not None and math.isfinite(wanted)
                    slack = 1e-12 * (abs(wanted) if finite and name not in ("SUM", "AVG") else 0)
                    assert close(value, wanted, 1e-12 * size + slack), (name, bag)

    run(of_doubles(*REALS), (NUMBERS,), history, keys=((0,),), each=check)
    accepted.clear()
    folding = replace(of_doubles(*REALS), folds=True)
    run(folding, (NUMBERS,), history, keys=((0,),), compacted=True, each=check)


@given(history=histories([st.tuples(st.sampled_from([1, 2]), WILD)]))
def test_doubles_of_every_size(history: list[Step]) -> None:
    check_doubles(history)


@given(history=histories([st.tuples(st.sampled_from([1, 2]), WILD)], for_ever=7))
def test_doubles_of_every_size_that_never_end(history: list[Step]) -> None:
    check_doubles(history)


@given(numbers=st.lists(st.tuples(st.floats(allow_nan=False), st.integers(-9, 9)), max_size=8))
def test_totals_round_nothing(numbers: list[tuple[float, int]]) -> None:
    moment = Moment((0,), None, Kind.REAL, squares=True)
    table = pa.table({"x": pa.array([x for x, _ in numbers], pa.float64())})
    count = len(numbers)
    spans = Spans(
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, INF),
        np.array([n for _, n in numbers], np.int64),
        np.arange(count),
    )
    words = np.zeros((1, width(moment)), np.uint64)
    add_endless(words, moment, 0, values_of(table, (moment,)), spans)
    words = from_column(to_column(words), width(moment))
    finite = [(Fraction(x), n) for x, n in numbers if math.isfinite(x)]
    total, squares = totals_of(words, 0, moment)
    assert total == sum(x * n for x, n in finite)
    assert squares == sum(x * x * n for x, n in finite)


def test_a_sum_that_a_large_number_swallowed_is_known_after_its_rows_are_gone() -> None:
    """A late row leads back to before the large number came, where only the totals are exact."""
    small = tuple(Change((1, x), 0, INF) for x in (1.0, 0.25, 1e-9))
    steps = [
        Step((small,), 5, (5,)),
        Step(((Change((1, 1e300), 20, INF),),), 20, (10,)),
        Step(((Change((1, 0.5), 12, INF),),), 21, (12,)),
    ]
    kernel = replace(of_doubles("SUM"), folds=True)
    done = run(kernel, (NUMBERS,), steps, keys=((0,),), compacted=True)
    assert list(snapshot(done.output, 12)) == [(1, 1.750000001)]
    stored, *_ = done.areas[0]
    assert stored.rows == 1


def test_what_a_large_number_swallowed_comes_back() -> None:
    steps = [
        Step(
            (tuple(Change((1, x), t, t + 10) for x, t in [(1e300, 0), (1.0, 5), (0.25, 5)]),),
            5,
            (0,),
        ),
        Step(((),), 10, (0,)),
        Step(((),), 12, (0,)),
    ]
    shown = snapshot(run(of_doubles("SUM"), (NUMBERS,), steps, keys=((0,),)).output, 12)
    assert list(shown) == [(1, 1.25)]


@pytest.mark.parametrize("late", [0, 3_000])
def test_sums_do_not_drift(late: int) -> None:
    """Many rows in and out of a window, large ones among them; at the end a fresh sum of those
    that are in it, which are small: what the large ones have left behind would be seen."""
    long = Config.from_environment().profile == "long"
    steps, rows = (100, 100_000) if long else (10, 10_000)
    keys, span, window = 20, 100_000, 100_000
    chance = np.random.default_rng(7)
    kernel = of_doubles("SUM", "AVG")
    areas = tuple(SweepArea(layout) for layout in kernel.areas((NUMBERS,)))
    before, shown = NEG_INF, []
    for step in range(steps):
        at = chance.integers(step * span, (step + 1) * span, rows) - chance.integers(
            0, late + 1, rows
        )
        key = chance.integers(0, keys, rows)
        largest = 15 if step < steps - 2 else 3
        value = 10.0 ** chance.uniform(-3, largest, rows) * chance.choice([-1, 1], rows)
        columns = [key, value, at, at + window, np.ones(rows, np.int64)]
        batch = pa.Table.from_arrays([pa.array(c) for c in columns], schema=NUMBERS)
        now = int(at.max())
        result = kernel.step((batch,), areas, times_of(kernel, before, now, (now - late - 1,)))
        areas, before = result.areas, now
        shown.append((key, value, at))
    key, value, at = (np.concatenate(part) for part in zip(*shown[-3:], strict=True))
    live = (at <= before) & (at + window > before)
    found = areas[1].query(None, before, before + 1).to_pylist()
    net: dict[tuple[Any, ...], int] = {}
    for row in found:
        values = (row["c0"], row["c1"], row["c2"])
        net[values] = net.get(values, 0) + row["diff"]
    results = {row[0]: row[1:] for row, count in net.items() if count}
    assert results.keys() == set(range(keys))
    assert np.abs(value[live]).max() <= 1000
    for k, (total, mean) in results.items():
        mine = value[live & (key == k)]
        exact, size = math.fsum(mine), math.fsum(np.abs(mine))
        assert abs(total - exact) <= 1e-12 * size
        assert abs(mean - exact / len(mine)) <= 1e-12 * size / len(mine)


def test_an_empty_sum_is_exactly_nothing() -> None:
    steps = [
        Step(
            ((Change((1, 0.1), 0, 5), Change((1, 0.2), 0, 5), Change((1, None), 0, 20)),), 0, (0,)
        ),
        Step(((Change((1, 0.3), 6, 9),),), 6, (0,)),
    ]
    output = run(of_doubles("SUM"), (NUMBERS,), steps, keys=((0,),)).output
    assert list(snapshot(output, 5)) == [(1, None)]
    assert list(snapshot(output, 6)) == [(1, 0.3)]


WHOLE = batch_schema([pa.int64(), pa.int64()])


def test_a_sum_may_leave_the_type_on_its_way_but_not_in_the_end() -> None:
    kernel = Aggregate(
        (0,),
        (
            Call("SUM", (1,), pa.int64(), Fold.NUMBERS),
            Call("AVG", (1,), pa.float64(), Fold.NUMBERS),
        ),
    )
    rows = [(1, 2**62), (1, 2**62), (1, -(2**62))]
    changes = tuple(Change(row, 0, 9) for row in rows)
    output = run(kernel, (WHOLE,), [Step((changes,), 0, (0,))], keys=((0,),)).output
    assert list(snapshot(output, 0)) == [(1, 2**62, 2**62 / 3)]
    with pytest.raises(EvaluationError, match="SUM does not fit into int64") as caught:
        run(kernel, (WHOLE,), [Step((changes[:2],), 0, (0,))], keys=((0,),))
    assert caught.value.code == "overflow"


INTEGERS = st.integers(-(2**63), 2**63 - 1)


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), n=st.integers(1, 9)
)
def test_whole_numbers_are_exact(values: list[int], n: int) -> None:
    names = ("AVG", "VAR_POP", "VAR_SAMP", "STDDEV_SAMP")
    kernel = Aggregate((0,), tuple(Call(name, (1,), pa.float64(), Fold.NUMBERS) for name in names))
    changes = tuple(Change((1, value), 0, 9, n) for value in values)
    output = run(kernel, (WHOLE,), [Step((changes,), 0, (0,))], keys=((0,),)).output
    ((row, _),) = snapshot(output, 0).items()
    for name, found in zip(names, row[1:], strict=True):
        function = aggregates.aggregate(name, (BIGINT,))
        state = function.initial
        for value in values * n:
            state = function.accumulate(state, (value,))
        assert found == function.result(state), name


@given(
    values=st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1, max_size=5),
    n=st.integers(1, 3),
)
def test_decimals_are_exact_or_an_error(values: list[int], n: int) -> None:
    kind = DecimalType(38, 4)
    wide = [Decimal((int(v < 0), tuple(map(int, str(abs(v)))), -4)) for v in values]
    schema = batch_schema([pa.int64(), pa.decimal128(38, 4)])
    for name in ("SUM", "AVG", "VAR_POP"):
        function = aggregates.aggregate(name, (kind,))
        type_ = function.type
        arrow = pa.float64() if name == "VAR_POP" else pa.decimal128(type_.precision, type_.scale)
        kernel = Aggregate((0,), (Call(name, (1,), arrow, function.fold),))
        changes = tuple(Change((1, value), 0, 9, n) for value in wide)
        state = function.initial
        for value in wide * n:
            state = function.accumulate(state, (value,))
        steps = [Step((changes,), 0, (0,))]
        try:
            wanted = function.result(state)
        except EvaluationError:
            with pytest.raises(EvaluationError, match="does not fit"):
                run(kernel, (schema,), steps, keys=((0,),))
        else:
            assert list(snapshot(run(kernel, (schema,), steps, keys=((0,),)).output, 0)) == [
                (1, wanted)
            ]


@given(
    numbers=st.lists(
        st.tuples(st.integers(-(2**127), 2**127 - 1), st.integers(-1000, 1000)), max_size=8
    )
)
def test_sums_of_words(numbers: list[tuple[int, int]]) -> None:
    words = np.zeros(3, np.uint64)
    for number, times in numbers:
        low, high = number % 2**64, (number >> 64) % 2**64
        add_whole(words, 0, np.uint64(low), np.uint64(high), times)
    total = sum(number * times for number, times in numbers)
    assert sum(int(word) << 64 * i for i, word in enumerate(words)) == total % 2**192


@given(number=INTEGERS)
def test_squares_of_words(number: int) -> None:
    low, high = square(np.uint64(number % 2**64))
    assert (int(high) << 64) + int(low) == number * number


def test_medians_lie_between() -> None:
    kernel = Aggregate((0,), (Call("MEDIAN", (1,), pa.float64(), Fold.ROWS),))
    changes = tuple(Change((1, x), 0, 9) for x in (2**62 + 1, 2**62 + 4))
    output = run(kernel, (WHOLE,), [Step((changes,), 0, (0,))], keys=((0,),)).output
    assert list(snapshot(output, 0)) == [(1, float(Fraction(2 * 2**62 + 5, 2)))]


def test_a_share_outside_of_0_to_1_is_an_error() -> None:
    kernel = Aggregate((0,), (Call("PERCENTILE", (1,), pa.float64(), Fold.ROWS, share=1.5),))
    with pytest.raises(EvaluationError, match="share"):
        run(kernel, (WHOLE,), [Step(((Change((1, 1), 0, 9),),), 0, (0,))], keys=((0,),))


def test_more_than_one_row_is_an_error_of_single() -> None:
    function = aggregates.aggregate("SINGLE", (BIGINT,))
    kernel = Aggregate((), (Call(function, (1,), pa.int64(), Fold.ROWS),))
    one = Change((1, 7), 0, 5)
    output = run(kernel, (WHOLE,), [Step(((one,),), 3, (0,))], keys=((),)).output
    assert list(snapshot(output, 3)) == [(7,)]
    assert list(snapshot(output, -5)) == [(None,)]
    with pytest.raises(EvaluationError, match="more than one row"):
        run(kernel, (WHOLE,), [Step(((one, Change((2, 8), 4, 6)),), 4, (0,))], keys=((),))


def test_a_median_of_rows_that_have_all_gone() -> None:
    kernel = Aggregate((0,), (Call("MEDIAN", (1,), pa.float64(), Fold.ROWS),))
    steps = [Step(((Change((1, 5), 0, 4),),), 3, (0,)), Step(((),), 4, (0,))]
    output = run(kernel, (WHOLE,), steps, keys=((0,),)).output
    assert consolidate(output) == (Change((1, 5.0), 0, 4),)


def test_trying_gives_null_while_a_sum_does_not_fit() -> None:
    calls = (
        Call("TRY_SUM", (1,), pa.int64(), Fold.NUMBERS),
        Call("TRY_AVG", (1,), pa.int64(), Fold.NUMBERS),
    )
    changes = (Change((1, 2**63 - 1), 0, 9), Change((1, 1), 3, 6))
    steps = [Step((changes,), 8, (0,)), Step(((Change((1, 5), 7, 9),),), 8, (0,))]
    output = run(Aggregate((0,), calls), (WHOLE,), steps, keys=((0,),)).output
    assert list(snapshot(output, 2)) == [(1, 2**63 - 1, 2**63 - 1)]
    assert list(snapshot(output, 3)) == [(1, None, 2**62)]
    assert list(snapshot(output, 6)) == [(1, 2**63 - 1, 2**63 - 1)]
    assert list(snapshot(output, 7)) == [(1, None, 2**62 + 2)]


def test_trying_gives_null_for_a_mean_without_room() -> None:
    kind = pa.decimal128(38, 10)
    kernel = Aggregate((0,), (Call("TRY_AVG", (1,), kind, Fold.NUMBERS),))
    schema = batch_schema([pa.int64(), pa.decimal128(38, 6)])
    large = Decimal(10) ** 31
    steps = [Step(((Change((1, large), 0, 9), Change((1, -large), 3, 9)),), 8, (0,))]
    output = run(kernel, (schema,), steps, keys=((0,),)).output
    assert list(snapshot(output, 2)) == [(1, None)]
    assert list(snapshot(output, 3)) == [(1, Decimal(0))]
