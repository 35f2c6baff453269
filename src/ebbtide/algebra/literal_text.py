"""Constants as SQL writes them.

Law: the text has the type of the constant.  Where SQL has no literal of the type, it is a CAST,
which ``coercion.cast`` turns back into the constant; the constructors of arrays and structs
likewise.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ebbtide.algebra.identifiers import type_text
from ebbtide.core.text import write
from ebbtide.core.time import format_duration
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
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError, InternalError

_SUFFIXES = {8: "Y", 16: "S", 32: "", 64: "L"}
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal_text(value: Value, type_: Type) -> str:
    """A constant of a type.

    >>> from ebbtide.core.types import BIGINT, STRING
    >>> literal_text(5, BIGINT), literal_text("it's", STRING)
    ('5L', "'it\\\\'s'")
    """
    if value is None:
        return "NULL" if isinstance(type_, NullType) else f"CAST(NULL AS {type_text(type_)})"
    match type_:
        case BooleanType():
            return "TRUE" if value else "FALSE"
        case IntegerType():
            return _integer(value, type_)
        case DoubleType():
            return f"{write(value, type_)}D" if math.isfinite(value) else _cast_text(value, type_)
        case DecimalType():
            return _decimal(value, type_)
        case StringType():
            return string_text(value)
        case BinaryType():
            return f"X'{value.hex().upper()}'"
        case DateType():
            return f"DATE '{write(value, type_)}'"
        case TimestampType():
            return _timestamp(value)
        case IntervalType():
            return f"INTERVAL {format_duration(value)}"
        case ArrayType():
            return _array(value, type_)
        case StructType():
            return struct_text(
                type_,
                tuple(literal_text(v, t) for v, (_, t) in zip(value, type_.fields, strict=True)),
            )
        case _:
            raise InternalError("no-literal", f"there is no constant of type {type_}")


def string_text(value: str) -> str:
    """A text in quotes."""
    return f"'{''.join(_ESCAPES.get(character, character) for character in value)}'"


def struct_text(type_: StructType, values: tuple[str, ...]) -> str:
    """The constructor of a struct, given the text of its values."""
    pairs = (
        f"{string_text(name)}, {value}"
        for (name, _), value in zip(type_.fields, values, strict=True)
    )
    return f"NAMED_STRUCT({', '.join(pairs)})"


def natural_decimal(value: Decimal) -> DecimalType:
    """The type of a decimal number that is written as it is.

    >>> str(natural_decimal(Decimal("0.05")))
    'DECIMAL(2, 2)'
    """
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return DecimalType(max(len(digits), scale, 1), scale)


def _integer(value: int, type_: IntegerType) -> str:
    # The least value has no positive counterpart that a minus sign could stand before.
    return _cast_text(value, type_) if value == type_.least else f"{value}{_SUFFIXES[type_.bits]}"


def _decimal(value: Decimal, type_: DecimalType) -> str:
    text = f"{value:f}"
    if type_.scale > 0 and natural_decimal(value) == type_:
        return text
    return f"CAST({text} AS {type_.sql})"


def _timestamp(value: int) -> str:
    try:
        return f"TIMESTAMP '{write(value, TimestampType())}'"
    except EvaluationError:
        return f"TIMESTAMP_MICROS({literal_text(value, IntegerType(64))})"


def _array(value: tuple[Value, ...], type_: ArrayType) -> str:
    if not value and not isinstance(type_.element, NullType):
        return f"CAST(ARRAY() AS {type_text(type_)})"
    return f"ARRAY({', '.join(literal_text(item, type_.element) for item in value)})"


def _cast_text(value: Value, type_: Type) -> str:
    return f"CAST({string_text(write(value, type_))} AS {type_.sql})"
