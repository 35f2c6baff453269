"""Values of other Arrow types as values of a type.

Law: NULL where a value does not fit, however deep inside of it.  A value fits if it can be turned
back: a number by the fewest digits that say which it is, a time by whole microseconds, a day by its
beginning.  Numbers are neither times nor truth values, and times are no numbers.

A column is converted at once; where Arrow refuses, value by value.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.time import DAY, FIRST_TIME, LAST_TIME, MILLISECOND, SECOND
from ebbtide.core.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    NullType,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.files.reader import Unreadable
from ebbtide.files.texts import WRITTEN, from_texts, in_range, local_times
from ebbtide.state.types import AnyType, arrow_type

_MICROSECONDS = {"s": SECOND, "ms": MILLISECOND, "us": 1}
_NANOSECONDS = 1000
_FIRST_DAY, _LAST_DAY = FIRST_TIME // DAY, LAST_TIME // DAY
_SAFE_DIGITS = 15
"""Every decimal of so many digits is a double of its own."""
_DIGITS_OF_INTEGERS = 20


def fitted(values: Any, type_: Type, zone: str) -> Any:
    """The values as those of a type; NULL where one does not fit."""
    given = _plain(values)
    if pa.types.is_null(given.type):
        return pa.nulls(len(given), arrow_type(type_))
    if _is_text(given.type) and isinstance(type_, WRITTEN):
        return from_texts(_texts(given), type_, zone)
    known = cast(AnyType, type_)
    match known:
        case ArrayType(element=element):
            return _lists(given, element, zone)
        case StructType():
            return _structs(given, known, zone)
        case TimestampType():
            return _times(given, zone)
        case DateType():
            return _days(given, zone)
        case IntervalType() if pa.types.is_duration(given.type):
            return _microseconds(given)
        case IntegerType() | IntervalType():
            return _whole(given, arrow_type(type_))
        case DoubleType():
            return _doubles(given)
        case DecimalType():
            return _decimals(given, known)
        case StringType():
            return _written(given)
        case BooleanType() | BinaryType() | NullType():
            return _cast(given, arrow_type(type_), _is_bytes(given.type))


def misfits(values: Any, found: Any) -> Any:
    """Which of the values are something, and NULL as those of a type."""
    return np.asarray(pc.and_(found.is_null(), _plain(values).is_valid()))


def _plain(values: Any) -> Any:
    """The values without what is only how they are stored."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values


def _is_text(type_: Any) -> bool:
    of = pa.types
    return bool(of.is_string(type_) or of.is_large_string(type_) or of.is_string_view(type_))


def _is_bytes(type_: Any) -> bool:
    of = pa.types
    plain = of.is_binary(type_) or of.is_large_binary(type_) or of.is_binary_view(type_)
    return bool(plain or of.is_fixed_size_binary(type_) or _is_text(type_))


def _texts(values: Any) -> Any:
    """Texts, but for those that are no UTF-8, which Arrow takes as they are."""
    texts = values.cast(pa.string())
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return _one_by_one(texts.cast(pa.binary()), pa.string())
    return texts


def _cast(values: Any, target: Any, known: bool) -> Any:
    """Values of a type that is ``known`` to have the same ones, or is the same."""
    if values.type == target:
        return values
    if not known:
        return pa.nulls(len(values), target)
    try:
        return pc.cast(values, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _one_by_one(values, target)


def _one_by_one(values: Any, target: Any) -> Any:
    return pa.array((_one(value, target) for value in values), target)


def _one(value: Any, target: Any) -> Any:
    try:
        return value.cast(target).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _lists(values: Any, element: Type, zone: str) -> Any:
    """Lists of values that fit, all of them."""
    given, of = values.type, pa.types
    if of.is_map(given):
        entry = pa.struct([("key", given.key_type), ("value", given.item_type)])
        values = values.cast(pa.list_(entry))
    elif of.is_large_list(given) or of.is_fixed_size_list(given):
        values = values.cast(pa.list_(given.value_type))
    elif not of.is_list(given):
        return pa.nulls(len(values), pa.list_(arrow_type(element)))
    inner = values.flatten()
    found = fitted(inner, element, zone)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
    absent = np.array(values.is_null())
    absent[np.repeat(np.arange(len(values)), lengths)[misfits(inner, found)]] = True
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    kind = pa.list_(arrow_type(element))
    return pa.ListArray.from_arrays(offsets, found, type=kind, mask=pa.array(absent))


def _structs(values: Any, type_: StructType, zone: str) -> Any:
    """Structs of values that fit, found by the names of their fields in any case."""
    target = arrow_type(type_)
    if not pa.types.is_struct(values.type):
        return pa.nulls(len(values), target)
    names = [field.name.casefold() for field in values.type]
    inner, found = values.flatten(), []
    absent = np.array(values.is_null())
    for name, its in type_.fields:
        places = [place for place, given in enumerate(names) if given == name.casefold()]
        if len(places) > 1:
            raise Unreadable(f"it has the field {name} twice")
        given = inner[places[0]] if places else pa.nulls(len(values))
        fields = fitted(given, its, zone)
        absent |= misfits(given, fields)
        found.append(fields)
    return pa.StructArray.from_arrays(found, fields=list(target), mask=pa.array(absent))


def _times(values: Any, zone: str) -> Any:
    """Instants: times with a zone or in ``zone``, and days."""
    if pa.types.is_date(values.type):
        days = _days(values, zone)
        return local_times(days.cast(pa.timestamp("us")), zone)
    if not pa.types.is_timestamp(values.type):
        return pa.nulls(len(values), pa.int64())
    found = _microseconds(values)
    return in_range(found) if values.type.tz else local_times(found.cast(pa.timestamp("us")), zone)


def _microseconds(values: Any) -> Any:
    """Times or durations in microseconds, if they are whole and about as far as the calendar."""
    raw, nothing = values.cast(pa.int64()), pa.scalar(None, pa.int64())
    if values.type.unit == "ns":
        cut = pc.divide(raw, _NANOSECONDS)
        whole = pc.equal(pc.multiply(cut, _NANOSECONDS), raw)
        return pc.if_else(whole, cut, nothing)
    factor = _MICROSECONDS[values.type.unit]
    first, last = ((end // factor) for end in (FIRST_TIME - DAY, LAST_TIME + DAY))
    near = pc.and_(pc.greater_equal(raw, first), pc.less_equal(raw, last))
    return pc.multiply(pc.if_else(near, raw, nothing), factor)


def _days(values: Any, zone: str) -> Any:
    """Days of the calendar: also times at the beginning of one."""
    of = pa.types
    if of.is_date32(values.type):
        days = values.cast(pa.int32()).cast(pa.int64())
    elif of.is_date64(values.type):
        days = _divided(values.cast(pa.int64()), DAY // MILLISECOND)
    elif of.is_timestamp(values.type):
        times = _microseconds(values)
        if values.type.tz:
            clock = pc.local_timestamp(in_range(times).cast(pa.timestamp("us", zone)))
            times = clock.cast(pa.int64())
        days = _divided(times, DAY)
    else:
        return pa.nulls(len(values), pa.date32())
    known = pc.and_(pc.greater_equal(days, _FIRST_DAY), pc.less_equal(days, _LAST_DAY))
    kept = pc.if_else(known, days, pa.scalar(None, pa.int64()))
    return kept.cast(pa.int32()).cast(pa.date32())


def _divided(values: Any, by: int) -> Any:
    found = pc.divide(values, by)
    exact = pc.equal(pc.multiply(found, by), values)
    return pc.if_else(exact, found, pa.scalar(None, pa.int64()))


def _whole(values: Any, target: Any) -> Any:
    of = pa.types
    if of.is_floating(values.type):
        wide = values.cast(pa.float64())
        limit = 2.0 ** (target.bit_width - 1)
        near = pc.and_(pc.greater_equal(wide, -limit), pc.less(wide, limit))
        fits = pc.and_(near, pc.equal(pc.floor(wide), wide))
        return pc.if_else(fits, wide, pa.scalar(None, pa.float64())).cast(target)
    return _cast(values, target, of.is_integer(values.type) or of.is_decimal(values.type))


def _doubles(values: Any) -> Any:
    of = pa.types
    if of.is_decimal(values.type):
        return _doubles_of_decimals(values)
    if of.is_integer(values.type):
        try:
            return pc.cast(values, pa.float64())
        except pa.ArrowInvalid:
            return pa.array(map(_exact_double, values.to_pylist()), pa.float64())
    return _cast(values, pa.float64(), of.is_floating(values.type))


def _exact_double(number: int | None) -> float | None:
    return None if number is None or int(float(number)) != number else float(number)


def _doubles_of_decimals(values: Any) -> Any:
    found = pc.cast(pc.cast(values, pa.string()), pa.float64())
    if values.type.precision <= _SAFE_DIGITS:
        return found
    limit = 10.0 ** (_SAFE_DIGITS - values.type.scale)
    doubtful = np.asarray(pc.greater_equal(pc.abs(found), limit).fill_null(False))
    if not doubtful.any():
        return found
    lost = [
        bool(odd) and Decimal(repr(double.as_py())) != value.as_py()
        for odd, double, value in zip(doubtful, found, values, strict=True)
    ]
    return pc.if_else(pa.array(lost), pa.scalar(None, pa.float64()), found)


def _decimals(values: Any, type_: DecimalType) -> Any:
    of, target = pa.types, arrow_type(type_)
    if of.is_floating(values.type):
        return from_texts(pc.cast(values, pa.string()), type_, "UTC")
    if of.is_integer(values.type):
        values = values.cast(pa.decimal256(_DIGITS_OF_INTEGERS + type_.scale, type_.scale))
    return _cast(values, target, of.is_decimal(values.type))


def _written(values: Any) -> Any:
    """Texts of values; what is no day or time of the calendar has none."""
    of = pa.types
    if of.is_date(values.type):
        values = _days(values, "UTC")
    elif of.is_timestamp(values.type):
        values = _in_calendar(values)
    known = not of.is_nested(values.type) and not of.is_duration(values.type)
    return _cast(values, pa.string(), known)


def _in_calendar(times: Any) -> Any:
    if times.type.unit == "ns":
        return times
    known = in_range(_microseconds(times)).is_valid()
    return pc.if_else(known, times, pa.scalar(None, times.type))
