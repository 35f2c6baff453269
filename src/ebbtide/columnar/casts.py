"""Columns of one type as columns of another.

Law: the values are those of ``core.conversion``, which is asked value by value for text, nested
values, the rarer pairs of types and the words of every error; numbers and times are converted as
columns.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ebbtide.columnar.arithmetic import in_range, unbounded, whole
from ebbtide.columnar.arrays import column, each, is_scalar, nulls, numbers, present, reals
from ebbtide.columnar.calendar import local_days, starts_of_days
from ebbtide.columnar.vectors import Computed, Failures, Mask, failing
from ebbtide.core.conversion import convert
from ebbtide.core.decimals import MAX_PRECISION
from ebbtide.core.time import SECOND
from ebbtide.core.types import (
    BIGINT,
    DATE,
    TIMESTAMP,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    Type,
)
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError
from ebbtide.state.types import arrow_type

_HALF_UP = "half_towards_infinity"
_EXACT_POWER = 22
"""The greatest power of ten that is a double."""


def cast(source: Type, target: Type, zone: tzinfo, operand: Any) -> Computed:
    """The operand as a column of the type ``target``."""
    if source == target:
        return Computed(operand)
    found = _as_column(source, target, zone, operand)
    if found is None:
        return _by_value(source, target, zone, operand)
    if found.failures is None:
        return found
    return Computed(found.values, _told(found.failures, source, target, zone, operand))


def _told(
    failures: Failures, source: Type, target: Type, zone: tzinfo, operand: Any
) -> Failures | None:
    """The same failures, each in the words for its own value."""
    if is_scalar(operand):
        return _by_value(source, target, zone, operand).failures
    rows = np.flatnonzero(failures.mask)
    said = _by_value(source, target, zone, operand.take(pa.array(rows))).failures
    assert said is not None
    which = np.zeros(len(failures), np.int32)
    which[rows] = said.which
    return Failures(which, said.errors)


def _by_value(source: Type, target: Type, zone: tzinfo, operand: Any) -> Computed:
    def compute(value: Value) -> Value:
        return convert(value, source, target, zone)

    return each(compute, (source,), target, operand)


def _as_column(source: Type, target: Type, zone: tzinfo, operand: Any) -> Computed | None:
    """The whole column converted at once; None where it has to be done value by value."""
    match source, target:
        case _, StringType() | BinaryType():
            return _to_text(source, target, operand)
        case BooleanType(), IntegerType() | DoubleType():
            return Computed(pc.cast(operand, arrow_type(target)))
        case IntegerType() | DoubleType(), BooleanType():
            return Computed(pc.not_equal(operand, pa.scalar(0, operand.type)))
        case IntegerType(), IntegerType():
            return _narrowed(operand, target)
        case IntegerType(), DoubleType():
            return Computed(pc.cast(operand, pa.float64(), safe=False))
        case IntegerType(), DecimalType():
            return _integer_to_decimal(source, target, operand)
        case IntegerType(), TimestampType() | IntervalType():
            return whole("*", target, pc.cast(operand, pa.int64()), pa.scalar(SECOND, pa.int64()))
        case DoubleType(), IntegerType():
            return _truncated(operand, target)
        case DoubleType(), TimestampType():
            return _seconds(operand)
        case DecimalType(), DecimalType():
            return _rescaled(source, target, operand)
        case DecimalType(), IntegerType():
            return _decimal_to_integer(target, operand)
        case DecimalType(), DoubleType():
            return _decimal_to_double(source, operand)
        case TimestampType(), IntegerType():
            return _narrowed(column(numbers(operand) // SECOND, nulls(operand), BIGINT), target)
        case IntervalType(), IntegerType():
            given = numbers(operand)
            cut = given // SECOND + ((given < 0) & (given % SECOND != 0))
            return _narrowed(column(cut, nulls(operand), BIGINT), target)
        case TimestampType(), DoubleType():
            return Computed(reals(numbers(operand) / float(SECOND), nulls(operand)))
        case TimestampType() | IntervalType(), DecimalType():
            return _rescaled(DecimalType(MAX_PRECISION, 6), target, _as_micros(operand))
        case TimestampType(), DateType():
            days, failures = local_days(operand, zone)
            return failing(column(days, nulls(operand), DATE), failures)
        case DateType(), TimestampType():
            starts = starts_of_days(numbers(operand), zone)
            return Computed(column(starts, nulls(operand), TIMESTAMP))
        case _:
            return None


def _to_text(source: Type, target: Type, operand: Any) -> Computed | None:
    match source, target:
        case ((IntegerType() | BooleanType() | DateType()), StringType()):
            return Computed(pc.cast(operand, pa.string()))
        case StringType(), BinaryType():
            return Computed(pc.cast(operand, pa.binary()))
        case BinaryType(), StringType():
            try:
                return Computed(pc.cast(operand, pa.string()))
            except pa.ArrowInvalid:
                return None
        case _:
            return None


def _past(type_: Type) -> EvaluationError:
    return EvaluationError("overflow", f"the value is out of the range of {type_}")


def _narrowed(operand: Any, target: IntegerType) -> Computed:
    try:
        return Computed(pc.cast(operand, arrow_type(target)))
    except pa.ArrowInvalid:
        return in_range(unbounded(operand), target, operand)


def _truncated(operand: Any, target: IntegerType) -> Computed:
    """Doubles without what is after the point."""
    return whole_reals(np.trunc(numbers(operand)), target, _past(target), operand)


def whole_reals(
    values: NDArray[np.float64], target: Type, error: EvaluationError, operand: Any
) -> Computed:
    """Doubles that are whole numbers as integers; those out of range fail."""
    bounds = target if isinstance(target, IntegerType) else BIGINT
    # One more than the greatest is a power of two, so it is a double.
    beyond = ~((values >= float(bounds.least)) & (values < float(bounds.greatest + 1)))
    failures = None
    if beyond.any():
        failures = Failures.where(present(beyond, operand), error)
        values = np.where(beyond, 0.0, values)
    return failing(column(values.astype(np.int64), nulls(operand), target), failures)


def _seconds(operand: Any) -> Computed:
    """Doubles as seconds since the epoch, cut to microseconds."""
    given = numbers(operand)
    strange: Mask = ~np.isfinite(given)
    with np.errstate(over="ignore", invalid="ignore"):
        micros = np.trunc(given * SECOND)
    outcome = whole_reals(np.where(strange, 0.0, micros), TIMESTAMP, _past(TIMESTAMP), operand)
    if not strange.any():
        return outcome
    error = EvaluationError("bad-cast", f"a number that is not finite is not a {TIMESTAMP}")
    failures = Failures.where(present(strange, operand), error)
    return failing(outcome.values, outcome.failures, failures)


def _integer_to_decimal(source: IntegerType, target: DecimalType, operand: Any) -> Computed | None:
    digits = len(str(source.greatest))
    if digits + target.scale > MAX_PRECISION:
        return None
    between = pc.cast(operand, pa.decimal128(digits + target.scale, target.scale))
    try:
        return Computed(pc.cast(between, arrow_type(target)))
    except pa.ArrowInvalid:
        return None


def _rescaled(source: DecimalType, target: DecimalType, operand: Any) -> Computed:
    """Decimals with other digits, rounded half up."""
    try:
        if target.scale >= source.scale:
            return Computed(pc.cast(operand, arrow_type(target)))
        if source.precision < MAX_PRECISION or _has_room(source, operand):
            # Arrow does not notice when a rounded number has a digit more than its type.
            wider = pa.decimal128(min(source.precision + 1, MAX_PRECISION), source.scale)
            rounded = pc.round(pc.cast(operand, wider), ndigits=target.scale, round_mode=_HALF_UP)
            return Computed(pc.cast(rounded, arrow_type(target)))
    except pa.ArrowInvalid:
        pass
    return _by_value(source, target, UTC, operand)


def _has_room(type_: DecimalType, operand: Any) -> bool:
    """Whether all numbers have a digit less than their type allows."""
    ends = pc.min_max(operand).as_py()
    limit = Decimal((0, (1,), type_.precision - type_.scale - 1))
    return ends["min"] is None or (ends["min"] > -limit and ends["max"] < limit)


def _decimal_to_integer(target: IntegerType, operand: Any) -> Computed | None:
    try:
        return Computed(pc.cast(pc.trunc(operand), arrow_type(target)))
    except pa.ArrowInvalid:
        return None


def _decimal_to_double(source: DecimalType, operand: Any) -> Computed | None:
    """Unscaled numbers that are doubles, divided by a power of ten that is one: rounded once."""
    if source.scale > _EXACT_POWER or len(operand) == 0:
        return None
    halves = np.frombuffer(operand.buffers()[1], np.int64)
    halves = halves[2 * operand.offset : 2 * (operand.offset + len(operand))].reshape(-1, 2)
    low, high = halves[:, 0], halves[:, 1]
    absent = nulls(operand)
    small = (high == (low >> 63)) & (np.abs(low) <= 2**53)
    if not (small if absent is None else small | absent).all():
        return None
    return Computed(reals(low / 10.0**source.scale, absent))


def _as_micros(operand: Any) -> Any:
    """Microseconds as decimals of seconds."""
    units = pc.cast(operand, pa.decimal128(MAX_PRECISION, 0))
    return pa.Array.from_buffers(pa.decimal128(MAX_PRECISION, 6), len(units), units.buffers())
