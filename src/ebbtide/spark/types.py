"""SQL types as Spark and Arrow know them.

Inside kernels times and durations are int64 microseconds; at the border with Spark a TIMESTAMP is
Spark's own, so that Spark's functions work on it, and only its reading as int64 changes.
"""

from __future__ import annotations

from typing import cast

import pyarrow as pa

from ebbtide.core.types import (
    ArrayType,
    IntervalType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.spark.names import quoted
from ebbtide.state.types import AnyType, arrow_type

__all__ = ["arrow_type", "border_type", "spark_type"]


def spark_type(type_: Type) -> str:
    """The type of a column in Spark's DDL."""
    match cast(AnyType, type_):
        case StructType(fields=fields):
            inner = ", ".join(f"{quoted(name)}: {spark_type(its)}" for name, its in fields)
            return f"STRUCT<{inner}>"
        case ArrayType(element=element):
            return f"ARRAY<{spark_type(element)}>"
        case _:
            return type_.sql


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
