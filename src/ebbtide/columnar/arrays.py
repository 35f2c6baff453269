"""Arrow columns as numpy arrays and as Python values, and back.

An *operand* is a column, or a scalar that stands for all rows; scalars are never NULL here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ebbtide.columnar.vectors import Computed, Failures, Mask, repeated
from ebbtide.core.types import ArrayType, StructType, Type
from ebbtide.core.values import Value, normalise
from ebbtide.errors import EvaluationError
from ebbtide.state.types import arrow_type


def is_scalar(operand: Any) -> bool:
    """Whether an operand stands for all rows."""
    return isinstance(operand, pa.Scalar)


def constant_of(operand: Any) -> Any:
    """The value of a scalar in Python, or None if the operand is a column."""
    return operand.as_py() if is_scalar(operand) else None


def numbers(operand: Any) -> Any:
    """The numbers of an operand, days and truth values included; 0 where it is NULL."""
    if is_scalar(operand):
        value = operand.value if pa.types.is_date(operand.type) else operand.as_py()
        return _DTYPES[operand.type](value)
    if pa.types.is_date(operand.type):
        operand = operand.view(pa.int32())
    if operand.null_count:
        operand = pc.fill_null(operand, False if pa.types.is_boolean(operand.type) else 0)
    return operand.to_numpy(zero_copy_only=False)


def nulls(*operands: Any) -> Mask | None:
    """The rows on which an operand is NULL; None if there are none."""
    result: Mask | None = None
    for operand in operands:
        if not is_scalar(operand) and operand.null_count:
            mask = operand.is_null().to_numpy(zero_copy_only=False)
            result = mask if result is None else result | mask
    return result


def present(mask: Any, *operands: Any) -> Mask:
    """The rows of a mask on which no operand is NULL."""
    absent = nulls(*operands)
    rows = next((len(operand) for operand in operands if not is_scalar(operand)), 1)
    whole: Mask = np.broadcast_to(np.asarray(mask, dtype=np.bool_), (rows,))
    return whole if absent is None else whole & ~absent


def column(values: Any, absent: Mask | None, type_: Type) -> Any:
    """A column of numbers with NULL on some rows."""
    target = arrow_type(type_)
    if pa.types.is_date(target):
        return pa.array(values.astype(np.int32), pa.int32(), mask=absent).view(target)
    return pa.array(values.astype(_DTYPES[target], copy=False), target, mask=absent)


def reals(values: NDArray[np.float64], absent: Mask | None) -> Any:
    """A column of doubles, with one NaN and no negative zero."""
    values = values + 0.0
    strange = np.isnan(values)
    if strange.any():
        values[strange] = np.nan
    return pa.array(values, pa.float64(), mask=absent)


def python(array: Any, type_: Type) -> list[Value]:
    """The values of a column as ``core.values`` has them."""
    match type_:
        case StructType():
            fields = [
                python(pc.struct_field(array, [place]), of)
                for place, (_, of) in enumerate(type_.fields)
            ]
            items: Iterable[Value] = zip(*fields, strict=True) if fields else [()] * len(array)
        case ArrayType():
            flat = python(array.values, type_.element)
            ends = array.offsets.to_pylist()
            items = (tuple(flat[a:b]) for a, b in pairwise(ends))
        case _:
            return list(array.to_pylist())
    valid = array.is_valid().to_pylist()
    return [item if there else None for item, there in zip(items, valid, strict=True)]


def array_of(values: Sequence[Value], type_: Type) -> Any:
    """The column of values as ``core.values`` has them."""
    absent = np.fromiter((value is None for value in values), np.bool_, len(values))
    match type_:
        case StructType():
            fields = [
                array_of([None if value is None else value[place] for value in values], of)
                for place, (_, of) in enumerate(type_.fields)
            ]
            return struct_of(fields, type_, absent)
        case ArrayType():
            flat = [item for value in values if value is not None for item in value]
            sizes = [0, *(0 if value is None else len(value) for value in values)]
            ends = pa.array(np.cumsum(sizes).astype(np.int32))
            mask = pa.array(absent) if absent.any() else None
            return pa.ListArray.from_arrays(ends, array_of(flat, type_.element), mask=mask)
        case _:
            return pa.array(values, arrow_type(type_))


def struct_of(fields: list[Any], type_: StructType, absent: Mask) -> Any:
    """The column of structs with the given fields, NULL on some rows."""
    if not fields:
        return pa.array([None if gone else {} for gone in absent], arrow_type(type_))
    mask = pa.array(absent) if absent.any() else None
    return pa.StructArray.from_arrays(fields, fields=list(arrow_type(type_)), mask=mask)


def each(
    function: Callable[..., Value],
    types: Sequence[Type],
    result: Type,
    *operands: Any,
    strict: bool = True,
) -> Computed:
    """The function of the values, value by value; an EvaluationError is the row's failure.

    A ``strict`` function is not asked where a value is NULL.  With a single column among the
    operands, the function is asked once for each value that occurs in it.
    """
    varying = [place for place, operand in enumerate(operands) if not is_scalar(operand)]
    if len(varying) == 1 and not isinstance(types[varying[0]], ArrayType | StructType):
        (place,) = varying
        given = operands[place]
        if strict and len(given) > 1 and given.null_count < len(given):
            coded = given.dictionary_encode()
            inner = [*operands[:place], coded.dictionary, *operands[place + 1 :]]
            return _spread(_looped(function, types, result, inner, strict), coded.indices)
    return _looped(function, types, result, operands, strict)


def _spread(outcome: Computed, indices: Any) -> Computed:
    """The outcome for each distinct value, on all rows."""
    values = outcome.values.take(indices)
    if outcome.failures is None:
        return Computed(values)
    which = outcome.failures.which[numbers(indices)]
    absent = nulls(indices)
    if absent is not None:
        which = np.where(absent, np.int32(0), which)
    return Computed(values, Failures(which, outcome.failures.errors))


def _looped(
    function: Callable[..., Value],
    types: Sequence[Type],
    result: Type,
    operands: Sequence[Any],
    strict: bool,
) -> Computed:
    rows = next((len(operand) for operand in operands if not is_scalar(operand)), 1)
    columns = [
        python(array_of_scalar(operand), type_) * rows
        if is_scalar(operand)
        else python(operand, type_)
        for operand, type_ in zip(operands, types, strict=True)
    ]
    found: list[Value] = []
    which = np.zeros(rows, np.int32)
    errors: list[EvaluationError] = []
    for row, values in enumerate(zip(*columns, strict=True)):
        if strict and None in values and any(value is None for value in values):
            found.append(None)
            continue
        try:
            found.append(normalise(function(*values)))
        except EvaluationError as error:
            errors.append(error)
            which[row] = len(errors)
            found.append(None)
    return Computed(array_of(found, result), Failures(which, tuple(errors)) if errors else None)


def array_of_scalar(scalar: Any) -> Any:
    """A column of one row."""
    return repeated(scalar, scalar.type, 1)


_DTYPES: dict[pa.DataType, Any] = {
    pa.bool_(): np.bool_,
    pa.int8(): np.int8,
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.float64(): np.float64,
    pa.date32(): np.int32,
}
