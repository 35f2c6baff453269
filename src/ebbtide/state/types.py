"""SQL types as Arrow has them: for people, and inside kernels, where times and durations are int64
microseconds."""

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


def shown_type(type_: Type) -> pa.DataType:
    """The type in which people see values, times inside of others included."""
    match type_:
        case TimestampType():
            return pa.timestamp("us", "UTC")
        case IntervalType():
            return pa.duration("us")
        case ArrayType(element=element):
            return pa.list_(shown_type(element))
        case StructType(fields=fields):
            return pa.struct([(name, shown_type(its)) for name, its in fields])
        case _:
            return arrow_type(type_)
