"""Aggregation against the reference, in both of its ways, for every aggregate of the library."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import algebra
from ebbtide.algebra import aggregates
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Literal
from ebbtide.algebra.relation import Named, NamedCall, Values
from ebbtide.core.change import Change, consolidate, snapshot
from ebbtide.core.folds import Fold
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTERVAL,
    STRING,
    ArrayType,
    BooleanType,
    DecimalType,
    DoubleType,
    StringType,
)
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.ordering import SortColumn
from ebbtide.state.batch import batch_schema
from kernels.simulation import Step, canonical, cut, histories, run, without_collection

TYPES = (BIGINT, BIGINT, DOUBLE, STRING, BOOLEAN, DecimalType(10, 2), INTERVAL)
NAMES = ("k", "x", "d", "s", "b", "m", "i")
INPUT = Values(Schema(tuple(Column(n, t) for n, t in zip(NAMES, TYPES, strict=True))), ())


def arrow(type_: Any) -> Any:
    """The Arrow type of a column."""
    match type_:
        case DoubleType():
            return pa.float64()
        case StringType():
            return pa.string()
        case BooleanType():
            return pa.bool_()
        case DecimalType():
            return pa.decimal128(type_.precision, type_.scale)
        case ArrayType():
            return pa.list_(arrow(type_.element))
        case _:
            return pa.int64()


SCHEMA = batch_schema([arrow(type_) for type_ in TYPES])
ROWS = st.tuples(
    st.sampled_from([1, 2, None]),
    st.sampled_from([None, 0, 3, -4, 7]),
    st.sampled_from([None, 0.5, -1.25, 8.0]),
    st.sampled_from([None, "", "a", "b"]),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, Decimal("1.50"), Decimal("-0.25")]),
    st.sampled_from([None, 3, 4]),
)


def call(name: str, *arguments: str, **options: Any) -> AggregateCall:
    """A call on columns of the input."""
    refs = tuple(INPUT.ref(argument) for argument in arguments)
    if name in ("PERCENTILE", "PERCENTILE_DISC"):
        refs += (Literal(0.3, DOUBLE),)
    if "filter" in options:
        options["filter"] = INPUT.ref(options["filter"])
    order = tuple(SortKey(INPUT.ref(o), descending=True) for o in options.pop("order", ()))
    return AggregateCall(name, refs, order=order, **options)


def lowered(given_: AggregateCall, by_name: bool = True) -> Call:
    """The call as a kernel takes it."""
    known = by_name and given_.name not in ("COLLECT", "MODE", "SINGLE")
    percentile = given_.name in ("PERCENTILE", "PERCENTILE_DISC")
    refs = given_.arguments[:1] if percentile else given_.arguments
    return Call(
        given_.name if known else given_.function,
        tuple(INPUT.schema.position(ref.column.name) for ref in refs),
        arrow(given_.type),
        given_.function.fold if known else Fold.ROWS,
        given_.is_distinct,
        None if given_.filter is None else INPUT.schema.position(given_.filter.column.name),
        tuple(
            SortColumn(INPUT.schema.position(s.expression.column.name), True, False)
            for s in given_.order
        ),
        tuple(range(len(NAMES))),
        0.3 if percentile else 0.5,
    )


SUMS = [
    call("COUNT"),
    call("COUNT", filter="b"),
    call("COUNT", "s"),
    call("SUM", "x"),
    call("AVG", "x"),
    call("SUM", "d", filter="b"),
    call("AVG", "d"),
    call("SUM", "m"),
    call("AVG", "m"),
    call("SUM", "i"),
    call("AVG", "i"),
    call("TRY_SUM", "d"),
    call("TRY_SUM", "m", filter="b"),
    call("TRY_AVG", "x"),
    call("TRY_AVG", "d"),
    call("VAR_POP", "x"),
    call("STDDEV_SAMP", "x"),
    call("VAR_SAMP", "d"),
    call("STDDEV_POP", "d"),
    call("VAR_SAMP", "m"),
]
EXTREMES = [
    call("MIN", "x"),
    call("MAX", "d"),
    call("MIN", "s"),
    call("MAX", "m", filter="b"),
    call("MAX", "x", distinct=True),
    call("BOOL_AND", "b"),
    call("BOOL_OR", "b"),
]
OTHERS = [
    call("FIRST", "s"),
    call("LAST", "s"),
    call("LAST", "x", order=("d",)),
    call("LAST", "x", distinct=True),
    call("ARG_MIN", "s", "x"),
    call("ARG_MAX", "s", "x", order=("m",)),
    call("MEDIAN", "x"),
    call("MEDIAN", "d"),
    call("PERCENTILE", "m"),
    call("PERCENTILE_DISC", "s"),
    call("COLLECT", "s"),
    call("MODE", "s"),
    call("MODE", "x", distinct=True, filter="b"),
    call("COLLECT", "x", distinct=True),
    call("COUNT", "x", distinct=True),
    call("SUM", "d", distinct=True, filter="b"),
    call("AVG", "m", distinct=True),
    call("MEDIAN", "x", distinct=True),
    call("VAR_SAMP", "x", distinct=True),
]


def plan(keys: tuple[str, ...], calls: list[AggregateCall]) -> algebra.Aggregate:
    """The operator of the reference."""
    return algebra.Aggregate(
        INPUT,
        tuple(Named(key, INPUT.ref(key)) for key in keys),
        tuple(NamedCall(f"a{i}", each) for i, each in enumerate(calls)),
    )


def check(
    keys: tuple[str, ...],
    calls: list[AggregateCall],
    data: Any,
    by_name: bool = True,
    folds: bool = False,
    **kinds: Any,
) -> None:
    """The kernel's output is the reference's, for every cut, order, shards and collection."""
    positions = tuple(NAMES.index(key) for key in keys)
    kernel = Aggregate(positions, tuple(lowered(each, by_name) for each in calls), folds)
    node = plan(keys, calls)
    history = data.draw(histories([ROWS], **kinds))
    seed, shards = data.draw(st.integers(0, 99)), data.draw(st.sampled_from([1, 2, 7]))
    accepted: list[Any] = []

    def each_step(step: Any, output: Any, emitted: Any) -> None:
        accepted.extend(step.inputs[0])
        assert consolidate(output) == canonical(node, [accepted], [positions], step.now)
        assert len(consolidate(emitted)) == len(emitted), "a step shows only its net effect"

    first = run(kernel, (SCHEMA,), history, keys=(positions,), each=each_step)
    other = run(kernel, (SCHEMA,), cut(history, seed), shards, (positions,))
    kept = run(kernel, (SCHEMA,), without_collection(cut(history, seed + 1)), 1, (positions,))
    merged = run(kernel, (SCHEMA,), history, shards, (positions,), compacted=True)
    assert consolidate(first.output) == consolidate(other.output) == consolidate(kept.output)
    assert consolidate(merged.output) == consolidate(first.output)


@given(data=st.data(), keys=st.sampled_from([("k",), (), ("k", "s")]))
def test_sums_that_move(data, keys) -> None:
    calls = data.draw(st.lists(st.sampled_from(SUMS), min_size=1, max_size=4))
    check(keys, calls, data)


@given(data=st.data(), keys=st.sampled_from([("k",), (), ("k", "s")]))
def test_extremes_that_move(data, keys) -> None:
    calls = data.draw(st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=3))
    calls += data.draw(st.lists(st.sampled_from(SUMS), max_size=2))
    check(keys, calls, data)


@given(data=st.data(), keys=st.sampled_from([("k",), (), ("k", "s")]))
def test_calls_that_sweep(data, keys) -> None:
    calls = data.draw(st.lists(st.sampled_from(OTHERS), min_size=1, max_size=4))
    calls += data.draw(st.lists(st.sampled_from([*SUMS, *EXTREMES]), max_size=3))
    check(keys, calls, data)


CHOICES = [each for each in [*EXTREMES, *OTHERS] if each.fold is Fold.EXTREME]


@given(data=st.data(), keys=st.sampled_from([("k",), (), ("k", "s")]))
def test_sums_fold_what_never_ends(data, keys) -> None:
    calls = data.draw(st.lists(st.sampled_from(SUMS), min_size=1, max_size=4))
    check(keys, calls, data, folds=True, for_ever=7)


@given(data=st.data(), keys=st.sampled_from([("k",), (), ("k", "s")]))
def test_choices_fold_what_never_ends_and_is_never_taken_back(data, keys) -> None:
    calls = data.draw(st.lists(st.sampled_from(CHOICES), min_size=1, max_size=3))
    calls += data.draw(st.lists(st.sampled_from(SUMS), max_size=2))
    check(keys, calls, data, folds=True, for_ever=7, negatives=False)


@pytest.mark.parametrize("given_", CHOICES, ids=lambda each: each.name)
def test_the_best_of_what_never_ends_is_kept(given_: AggregateCall) -> None:
    """Rows that the horizon has passed are merged into the best one before another comes."""
    chance = Random(3)
    values = ((1,), (0, 3, -4, 7), (0.5, 8.0), ("", "a", "b"), (True, False), (None,), (3, 4))
    for _ in range(20):
        rows = [tuple(chance.choice(column) for column in values) for _ in range(8)]
        changes = [Change(row, t, INF) for t, row in enumerate(rows)]
        steps = [
            Step((tuple(changes[:6]),), 6, (6,)),
            Step(((replace(changes[6], valid_from=8),),), 8, (7,)),
            Step(((replace(changes[7], valid_from=9),),), 12, (9,)),
        ]
        folding, plain = (Aggregate((0,), (lowered(given_),), folds) for folds in (True, False))
        folded = run(folding, (SCHEMA,), steps, keys=((0,),), compacted=True)
        kept = run(plain, (SCHEMA,), steps, keys=((0,),))
        assert consolidate(folded.output) == consolidate(kept.output)
        assert folded.areas[0][0].rows <= 2 < kept.areas[0][0].rows


def test_a_row_that_is_cut_short_ahead_of_now_may_go_on_in_time() -> None:
    """A known end point ahead cuts what is emitted; where rows only gain time, it goes on there."""
    best, other = ((1, x, None, None, None, None, None) for x in (7, 3))
    calls = [call("MAX", "x"), call("LAST", "x")]
    kernel = Aggregate((0,), tuple(lowered(each) for each in calls), folds=True)
    steps = [
        Step(((Change(best, 0, INF), Change(other, 1, INF)),), 2, (2,)),
        Step(((Change(best, 10, INF, -1),),), 5, (5,)),
        Step(((Change(best, 10, INF),),), 12, (11,)),
    ]
    output = run(kernel, (SCHEMA,), steps, keys=((0,),), compacted=True).output
    for t in (1, 5, 9, 10, 12):
        assert list(snapshot(output, t)) == [(1, 7, 7)]


@given(data=st.data())
def test_calls_as_five_functions(data) -> None:
    # A percentile takes its share from a column there; here it is a parameter.
    known = [each for each in [*SUMS, *EXTREMES, *OTHERS] if not each.name.startswith("PERCENTILE")]
    calls = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=2))
    check(("k",), calls, data, by_name=False)


@given(data=st.data(), keys=st.sampled_from([("k",), ("s", "k")]))
def test_groups_without_calls(data, keys) -> None:
    check(keys, [], data)


@pytest.mark.parametrize("given_", [*SUMS, *EXTREMES, *OTHERS], ids=lambda each: each.name)
def test_kernels_fold_what_is_declared_to_fold(given_: AggregateCall) -> None:
    moved = Aggregate((0,), (lowered(given_),)).moments(SCHEMA) is not None
    assert moved == (given_.fold is not Fold.ROWS)


def test_every_aggregate_of_the_library_is_tried() -> None:
    assert {each.name for each in [*SUMS, *EXTREMES, *OTHERS]} == set(aggregates.AGGREGATES) - {
        "SINGLE",
        "TRY_SINGLE",
    }


@pytest.mark.parametrize("calls", [[*SUMS[:8], *EXTREMES[:3]], OTHERS[:4]])
@given(data=st.data())
def test_aggregation_starts_again_between_any_two_steps(calls, data, tmp_path_factory) -> None:
    kernel = Aggregate((0,), tuple(lowered(each) for each in calls))
    history = data.draw(histories([ROWS]))
    directory: Path = tmp_path_factory.mktemp("state")
    stored = run(kernel, (SCHEMA,), history, keys=((0,),), directory=directory)
    kept = run(kernel, (SCHEMA,), history, keys=((0,),))
    assert stored.output == kept.output
