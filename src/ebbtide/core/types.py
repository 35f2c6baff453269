"""SQL types.

Law: a type is a value; two types are equal iff they hold the same values.  ``sql`` is the text
that Spark SQL knows the type by, and ``type_from_sql`` reads it back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from ebbtide.core.values import Value
from ebbtide.errors import QueryError


@dataclass(frozen=True, slots=True)
class Type:
    """A SQL type; the subclasses are all there are."""

    @property
    def sql(self) -> str:
        """The type's name in SQL."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True)
class NullType(Type):
    """The type of a bare NULL."""

    @property
    def sql(self) -> str:
        return "VOID"


@dataclass(frozen=True, slots=True)
class BooleanType(Type):
    """TRUE and FALSE."""

    @property
    def sql(self) -> str:
        return "BOOLEAN"


@dataclass(frozen=True, slots=True)
class IntegerType(Type):
    """Signed integers of ``bits`` bits."""

    bits: int

    @property
    def sql(self) -> str:
        return {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}[self.bits]

    @property
    def least(self) -> int:
        """The smallest value."""
        return -(1 << (self.bits - 1))

    @property
    def greatest(self) -> int:
        """The largest value."""
        return (1 << (self.bits - 1)) - 1


@dataclass(frozen=True, slots=True)
class DoubleType(Type):
    """Binary floating point of 64 bits."""

    @property
    def sql(self) -> str:
        return "DOUBLE"


@dataclass(frozen=True, slots=True)
class DecimalType(Type):
    """Exact decimals of at most ``precision`` digits, ``scale`` of them after the point."""

    precision: int = 10
    scale: int = 0

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= 38 and 0 <= self.scale <= self.precision):
            raise QueryError(
                "bad-decimal",
                f"DECIMAL({self.precision}, {self.scale}) does not exist",
                hint="precision is 1 to 38 and scale 0 to the precision",
            )

    @property
    def sql(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"

    @property
    def limit(self) -> Decimal:
        """The smallest number whose size no value reaches."""
        return Decimal(10) ** (self.precision - self.scale)


@dataclass(frozen=True, slots=True)
class StringType(Type):
    """Text."""

    @property
    def sql(self) -> str:
        return "STRING"


@dataclass(frozen=True, slots=True)
class BinaryType(Type):
    """Bytes."""

    @property
    def sql(self) -> str:
        return "BINARY"


@dataclass(frozen=True, slots=True)
class DateType(Type):
    """Calendar days."""

    @property
    def sql(self) -> str:
        return "DATE"


@dataclass(frozen=True, slots=True)
class TimestampType(Type):
    """Instants, as microseconds since the epoch."""

    @property
    def sql(self) -> str:
        return "TIMESTAMP"


@dataclass(frozen=True, slots=True)
class IntervalType(Type):
    """Durations of fixed length, in microseconds."""

    @property
    def sql(self) -> str:
        return "INTERVAL DAY TO SECOND"


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    """Sequences of one element type; payload only."""

    element: Type

    @property
    def sql(self) -> str:
        return f"ARRAY<{self.element.sql}>"


@dataclass(frozen=True, slots=True)
class StructType(Type):
    """Named fields; payload only."""

    fields: tuple[tuple[str, Type], ...]

    @property
    def sql(self) -> str:
        return f"STRUCT<{', '.join(f'{name}: {type_.sql}' for name, type_ in self.fields)}>"


NULL = NullType()
BOOLEAN = BooleanType()
TINYINT = IntegerType(8)
SMALLINT = IntegerType(16)
INT = IntegerType(32)
BIGINT = IntegerType(64)
DOUBLE = DoubleType()
STRING = StringType()
BINARY = BinaryType()
DATE = DateType()
TIMESTAMP = TimestampType()
INTERVAL = IntervalType()

OF_ANY_SIZE = (StringType, BinaryType, ArrayType, StructType)
"""The types of which one value can be much larger than another."""

_BY_NAME: dict[str, Type] = {
    "VOID": NULL,
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "LONG": BIGINT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "INTERVAL DAY TO SECOND": INTERVAL,
    "DECIMAL": DecimalType(10, 0),
}


def type_from_sql(text: str) -> Type:
    """The type that a SQL name stands for.

    >>> type_from_sql("array<decimal(10, 2)>")
    ArrayType(element=DecimalType(precision=10, scale=2))
    """
    stripped = re.sub(r"\s+", " ", text.strip())
    name = stripped.upper()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if match := re.fullmatch(r"DECIMAL ?\( ?(\d+) ?(?:, ?(\d+) ?)?\)", name):
        return DecimalType(int(match[1]), int(match[2] or 0))
    if match := re.fullmatch(r"(?i)ARRAY ?<(.*)>", stripped):
        return ArrayType(type_from_sql(match[1]))
    if match := re.fullmatch(r"(?i)STRUCT ?<(.*)>", stripped):
        return StructType(tuple(_struct_field(part) for part in _split_top(match[1])))
    raise QueryError(
        "unknown-type",
        f'"{text}" is not a type',
        hint="use BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, DOUBLE, DECIMAL(p, s), STRING, "
        "BINARY, DATE, TIMESTAMP, ARRAY<...> or STRUCT<...>",
    )


def admits(type_: Type, value: Value) -> bool:
    """Whether ``value`` is a value of ``type_`` or NULL."""
    if value is None:
        return True
    match type_:
        case BooleanType():
            return isinstance(value, bool)
        case IntegerType():
            return _is_int(value) and type_.least <= value <= type_.greatest
        case TimestampType() | IntervalType():
            return _is_int(value) and BIGINT.least <= value <= BIGINT.greatest
        case DoubleType():
            return isinstance(value, float)
        case DecimalType():
            return (
                isinstance(value, Decimal)
                and value.is_finite()
                and value.as_tuple().exponent == -type_.scale
                and value.copy_abs() < type_.limit
            )
        case StringType():
            return isinstance(value, str)
        case BinaryType():
            return isinstance(value, bytes)
        case DateType():
            return isinstance(value, date) and not isinstance(value, datetime)
        case ArrayType():
            return isinstance(value, tuple) and all(admits(type_.element, v) for v in value)
        case StructType():
            return (
                isinstance(value, tuple)
                and len(value) == len(type_.fields)
                and all(admits(t, v) for (_, t), v in zip(type_.fields, value, strict=True))
            )
        case _:
            return False


def is_numeric(type_: Type) -> bool:
    """Whether arithmetic is defined on the type."""
    return isinstance(type_, IntegerType | DoubleType | DecimalType)


def is_comparable(type_: Type) -> bool:
    """Whether values of the type can be compared, grouped and joined on."""
    return not isinstance(type_, NullType)


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _struct_field(text: str) -> tuple[str, Type]:
    name, separator, type_text = text.strip().partition(":")
    if not separator or "<" in name:  # b STRUCT<c: INT>
        name, _, type_text = text.strip().partition(" ")
    return name.strip(), type_from_sql(type_text)


def _split_top(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
