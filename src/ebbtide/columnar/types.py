"""SQL types as Arrow holds them inside of the engine.

Times and durations are int64 microseconds, so that arithmetic on them is that of integers.
"""

from __future__ import annotations

from typing import assert_never, cast

import pyarrow as pa

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

AnyType = (
    NullType
    | BooleanType
    | IntegerType
    | DoubleType
    | DecimalType
    | StringType
    | BinaryType
    | DateType
    | TimestampType
    | IntervalType
    | ArrayType
    | StructType
)


def arrow_type(type_: Type) -> pa.DataType:
    """The type of a column inside kernels."""
    known = cast(AnyType, type_)
    match known:
        case NullType():
            return pa.null()
        case BooleanType():
            return pa.bool_()
        case IntegerType(bits=bits):
            return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
        case DoubleType():
            return pa.float64()
        case DecimalType(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case StringType():
            return pa.string()
        case BinaryType():
            return pa.binary()
        case DateType():
            return pa.date32()
        case TimestampType() | IntervalType():
            return pa.int64()
        case ArrayType(element=element):
            return pa.list_(arrow_type(element))
        case StructType(fields=fields):
            return pa.struct([(name, arrow_type(its)) for name, its in fields])
        case _:
            assert_never(known)
