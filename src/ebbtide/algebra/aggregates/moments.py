"""COUNT, SUM, AVG, TRY_SUM, TRY_AVG and the variances.

Law: each is exact.  Sums are kept as fractions and rounded once, so that rows can come and go
without drift, and without any trace of the order in which they did.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from ebbtide.algebra.aggregates.function import AggregateFunction, Maker, Types, arity, refused
from ebbtide.core.folds import Fold
from ebbtide.core.types import (
    BIGINT,
    DOUBLE,
    INTERVAL,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    Type,
    admits,
    is_numeric,
)
from ebbtide.core.values import NAN, Value, normalise
from ebbtide.errors import EvaluationError

_WIDE = Context(prec=80, rounding=ROUND_HALF_UP)
_NARROW = 18
"""The most digits whose squares add up in numbers of a fixed size."""


def count(types: Types) -> AggregateFunction:
    return AggregateFunction(
        type=BIGINT,
        initial=0,
        accumulate=lambda count, row: count + 1,
        merge=lambda a, b: a + b,
        result=lambda count: count,
        retract=lambda count, row: count - 1,
        nullable=False,
        fold=Fold.NUMBERS,
    )


@dataclass(frozen=True, slots=True)
class _Moments:
    """Count, exact sum and exact sum of squares; infinities and NaNs are counted apart."""

    count: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)
    nans: int = 0
    above: int = 0
    below: int = 0

    def plus(self, other: _Moments, sign: int = 1) -> _Moments:
        return _Moments(
            self.count + sign * other.count,
            self.total + sign * other.total,
            self.squares + sign * other.squares,
            self.nans + sign * other.nans,
            self.above + sign * other.above,
            self.below + sign * other.below,
        )

    @staticmethod
    def of(value: Value) -> _Moments:
        if isinstance(value, float) and not math.isfinite(value):
            return _Moments(1, nans=int(value != value), above=int(value > 0), below=int(value < 0))
        exact = Fraction(value)
        return _Moments(1, exact, exact * exact)

    @property
    def special(self) -> float | None:
        """The sum as a double where it is not finite."""
        if self.nans or (self.above and self.below):
            return NAN
        if self.above or self.below:
            return math.inf if self.above else -math.inf
        return None


def _fold(argument: Type, squares: bool = False) -> Fold:
    """What sums of such arguments fold into."""
    match argument:
        case DoubleType():
            return Fold.ACCUMULATOR
        case DecimalType(precision=precision) if squares and precision > _NARROW:
            return Fold.ROWS
        case _:
            return Fold.NUMBERS


def _moments(type_: Type, fold: Fold, result: Callable[[_Moments], Value]) -> AggregateFunction:
    return AggregateFunction(
        type=type_,
        initial=_Moments(),
        accumulate=lambda state, row: state.plus(_Moments.of(row[0])),
        merge=lambda a, b: a.plus(b),
        result=lambda state: normalise(result(state)) if state.count else None,
        retract=lambda state, row: state.plus(_Moments.of(row[0]), -1),
        fold=fold,
    )


def sum_(types: Types) -> AggregateFunction:
    (argument,) = arity("SUM", types, 1)
    match argument:
        case IntegerType():
            type_: Type = BIGINT
        case DecimalType(precision=precision, scale=scale):
            type_ = DecimalType(min(38, precision + 10), scale)
        case DoubleType() | IntervalType():
            type_ = argument
        case _:
            raise refused("SUM", argument)
    return _moments(type_, _fold(argument), lambda state: _number(state, state.total, type_, "SUM"))


def average(types: Types) -> AggregateFunction:
    (argument,) = arity("AVG", types, 1)
    match argument:
        case IntegerType() | DoubleType():
            type_: Type = DOUBLE
        case DecimalType(precision=precision, scale=scale):
            type_ = DecimalType(min(38, precision + 4), min(38, scale + 4))
        case IntervalType():
            type_ = INTERVAL
        case _:
            raise refused("AVG", argument)
    return _moments(
        type_,
        _fold(argument),
        lambda state: _number(state, state.total / state.count, type_, "AVG"),
    )


def trying(make: Maker) -> Maker:
    """The aggregate with NULL for a value that does not fit."""

    def make_trying(types: Types) -> AggregateFunction:
        function = make(types)

        def result(state: Any) -> Value:
            try:
                return function.result(state)
            except EvaluationError:
                return None

        return replace(function, result=result)

    return make_trying


def variance(sample: bool, root: bool, name: str) -> Maker:
    def make(types: Types) -> AggregateFunction:
        (argument,) = arity(name, types, 1)
        if not is_numeric(argument):
            raise refused(name, argument)

        def result(state: _Moments) -> Value:
            divisor = state.count - 1 if sample else state.count
            if divisor == 0:
                return None
            if state.special is not None:
                return NAN
            variance = (state.squares - state.total**2 / state.count) / divisor
            return root_of(variance) if root else to_double(variance)

        return _moments(DOUBLE, _fold(argument, squares=True), result)

    return make


def _number(state: _Moments, exact: Fraction, type_: Type, name: str) -> Value:
    match type_:
        case DoubleType():
            return state.special if state.special is not None else to_double(exact)
        case DecimalType():
            value = _WIDE.divide(Decimal(exact.numerator), Decimal(exact.denominator))
            result: Value = value.quantize(Decimal(1).scaleb(-type_.scale), context=_WIDE)
        case _:
            # Durations are whole microseconds, halves away from zero.
            whole = int(abs(exact) + Fraction(1, 2))
            result = whole if exact >= 0 else -whole
    if not admits(type_, result):
        raise EvaluationError(
            "overflow", f"{name} does not fit into {type_}", hint="CAST to a wider type"
        )
    return result


def to_double(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def root_of(exact: Fraction) -> float:
    """The square root as a double, also of what is too large or too small to be a double."""
    if exact == 0:
        return 0.0
    # A power of 4 brings the number near 1, where doubles are at their best.
    half = (exact.numerator.bit_length() - exact.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(exact / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf
