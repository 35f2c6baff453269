"""SQL types as Spark and Arrow know them.

Inside kernels times and durations are int64 microseconds; at the border with Spark a TIMESTAMP is
Spark's own, so that Spark's functions work on it, and only its reading as int64 changes.
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


def spark_type(type_: Type) -> str:
    """The type of a column in Spark's DDL."""
    match cast(AnyType, type_):
        case StructType(fields=fields):
            inner = ", ".join(f"`{name}`: {spark_type(its)}" for name, its in fields)
            return f"STRUCT<{inner}>"
        case ArrayType(element=element):
            return f"ARRAY<{spark_type(element)}>"
        case _:
            return type_.sql


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


def border_type(type_: Type) -> pa.DataType:
    """The Arrow type in which Spark hands a column over and takes it back."""
    match cast(AnyType, type_):
        case TimestampType():
            return pa.timestamp("us", tz="UTC")
        case IntervalType():
            return pa.duration("us")
        case ArrayType(element=element):
            return pa.list_(border_type(element))
        case StructType(fields=fields):
            return pa.struct([(name, border_type(its)) for name, its in fields])
        case _:
            return arrow_type(type_)
