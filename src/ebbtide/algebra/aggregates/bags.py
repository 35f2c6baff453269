"""Aggregates that remember the whole bag: COLLECT, MODE, MEDIAN, the percentiles and SINGLE."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from fractions import Fraction
from itertools import groupby
from typing import Any

from ebbtide.algebra.aggregates.function import AggregateFunction, Maker, Types, arity, refused
from ebbtide.algebra.aggregates.moments import to_double
from ebbtide.core.types import DOUBLE, ArrayType, is_numeric
from ebbtide.core.values import Row, Value, normalise, sort_key
from ebbtide.errors import EvaluationError


def _with(items: tuple[Any, ...], item: Any) -> tuple[Any, ...]:
    grown = list(items)
    insort(grown, item)
    return tuple(grown)


def _less(items: tuple[Any, ...], item: Any) -> tuple[Any, ...]:
    position = bisect_left(items, item)
    return items[:position] + items[position + 1 :]


def collect(types: Types) -> AggregateFunction:
    """The values as an array, in the order of the rows."""
    (argument,) = arity("COLLECT", types, 1)

    def entry(row: Row) -> Any:
        return (row[1], sort_key(row[0]), (row[0],))

    return AggregateFunction(
        type=ArrayType(argument),
        initial=(),
        accumulate=lambda state, row: _with(state, entry(row)),
        merge=lambda a, b: tuple(sorted(a + b)),
        result=lambda state: tuple(value for _, _, (value,) in state),
        retract=lambda state, row: _less(state, entry(row)),
        ordered=True,
        nullable=False,
    )


def mode(types: Types) -> AggregateFunction:
    """The value that most rows have; of several such values the least."""
    (argument,) = arity("MODE", types, 1)

    def entry(row: Row) -> Any:
        return (sort_key(row[0]), row[0])

    def result(state: tuple[Any, ...]) -> Value:
        runs = [[value for _, value in run] for _, run in groupby(state, key=lambda e: e[0])]
        # Of runs of one length the first counts, and they are in order.
        return max(runs, key=len)[0] if runs else None

    return AggregateFunction(
        type=argument,
        initial=(),
        accumulate=lambda state, row: _with(state, entry(row)),
        merge=lambda a, b: tuple(sorted(a + b)),
        result=result,
        retract=lambda state, row: _less(state, entry(row)),
    )


def percentile(name: str, exact_value: bool, fixed: float | None = None) -> Maker:
    """The value below which a share of the bag lies: interpolated, or one of the bag."""

    def make(types: Types) -> AggregateFunction:
        argument, *_ = arity(name, types, 1 if fixed is not None else 2)
        if not exact_value and not is_numeric(argument):
            raise refused(name, argument)

        def result(state: tuple[Any, ...]) -> Value:
            if not state:
                return None
            share = _share(name, state[0][2] if fixed is None else fixed)
            values = [value for _, value, _ in state]
            return _discrete(values, share) if exact_value else _continuous(values, share)

        def entry(row: Row) -> Any:
            return (sort_key(row[0]), row[0], row[1] if fixed is None else None)

        return AggregateFunction(
            type=argument if exact_value else DOUBLE,
            initial=(),
            accumulate=lambda state, row: _with(state, entry(row)),
            merge=lambda a, b: tuple(sorted(a + b)),
            result=result,
            retract=lambda state, row: _less(state, entry(row)),
        )

    return make


def _share(name: str, share: Value) -> Fraction:
    exact = Fraction(share)
    if not 0 <= exact <= 1:
        raise EvaluationError("bad-argument", f"{name} needs a share from 0 to 1, not {share}")
    return exact


def _continuous(values: list[Value], share: Fraction) -> float:
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    below, above = values[low], values[high]
    if low == place or below == above:
        return normalise(float(below))  # type: ignore[no-any-return]
    if any(isinstance(v, float) and not math.isfinite(v) for v in (below, above)):
        weight = float(place - low)
        return normalise(below * (1 - weight) + above * weight)  # type: ignore[no-any-return]
    return to_double(Fraction(below) + (Fraction(above) - Fraction(below)) * (place - low))


def _discrete(values: list[Value], share: Fraction) -> Value:
    return values[max(0, math.ceil(share * len(values)) - 1)]


SEVERAL_ROWS = "a subquery used as a value has more than one row"


def single(types: Types) -> AggregateFunction:
    """The one value of a bag of at most one row, for scalar subqueries."""
    (argument,) = arity("SINGLE", types, 1)

    def result(state: tuple[Value, ...]) -> Value:
        if len(state) > 1:
            raise EvaluationError(
                "more-than-one-row",
                SEVERAL_ROWS,
                hint="make it an aggregate, or add LIMIT 1",
            )
        return state[0] if state else None

    return AggregateFunction(
        type=argument,
        initial=(),
        accumulate=lambda state, row: (*state, row[0]),
        merge=lambda a, b: a + b,
        result=result,
        keeps_nulls=True,
    )
