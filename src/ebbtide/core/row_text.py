"""A row as text, for people: one that counts for nothing, or on which an expression failed.

Law: the text is JSON, and nothing of a value is lost.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from ebbtide.core.schema import Schema
from ebbtide.core.time import DAY, Instant, instant
from ebbtide.core.types import (
    ArrayType,
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.core.values import Row, row


def row_text(schema: Schema, values: Sequence[Any]) -> str:
    """A row as JSON, without its NULLs."""
    types = tuple(column.type for column in schema)
    return object_text(tuple(schema.names), types, values)


def object_text(names: Sequence[str], types: Sequence[Type], values: Sequence[Any]) -> str:
    """Values by their names as JSON, without those that are NULL."""
    fields = (
        f"{json.dumps(name, ensure_ascii=False)}:{_text(value, type_)}"
        for name, type_, value in zip(names, types, values, strict=True)
        if value is not None
    )
    return "{" + ",".join(fields) + "}"


def read_row(schema: Schema, text: str) -> Row:
    """The row of which ``row_text`` has made a text."""
    told = json.loads(text, parse_float=Decimal)
    return row(*(_read(told.get(column.name), column.type) for column in schema))


def _read(value: Any, type_: Type) -> Any:
    match type_:
        case _ if value is None:
            return None
        case TimestampType():
            return instant(value)
        case DecimalType(scale=scale):
            return Decimal(value).quantize(Decimal(1).scaleb(-scale))
        case DateType():
            return date.fromisoformat(value)
        case BinaryType():
            return b64decode(value)
        case DoubleType():
            return float(value)
        case ArrayType(element=element):
            return tuple(_read(item, element) for item in value)
        case StructType(fields=fields):
            return tuple(_read(value.get(name), its) for name, its in fields)
        case _:
            return value


def told_apart(schema: Schema) -> tuple[str, ...]:
    """The names of columns, with their tables where several have the same name."""
    names = [column.name.casefold() for column in schema]
    return tuple(
        column.name if names.count(column.name.casefold()) == 1 else str(column)
        for column in schema
    )


def _text(value: Any, type_: Type) -> str:
    match type_:
        case _ if value is None:
            return "null"
        case TimestampType():
            return f'"{_moment(value)}"'
        case DecimalType():
            return f"{value:f}"
        case DateType():
            return f'"{value.isoformat()}"'
        case BinaryType():
            return f'"{b64encode(value).decode()}"'
        case DoubleType() if not math.isfinite(value):
            return f'"{_NOT_FINITE[str(value)]}"'
        case ArrayType(element=element):
            return "[" + ",".join(_text(item, element) for item in value) + "]"
        case StructType(fields=fields):
            items = value.values() if isinstance(value, dict) else value
            inner = (
                f"{json.dumps(name)}:{_text(item, its)}"
                for (name, its), item in zip(fields, items, strict=True)
            )
            return "{" + ",".join(inner) + "}"
        case _:
            return json.dumps(value, ensure_ascii=False)


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _moment(time_us: Instant) -> str:
    """An instant of any year, in milliseconds where that is exact."""
    days, rest = divmod(time_us, DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    shown = f"{fraction // 1000:03}" if fraction % 1000 == 0 else f"{fraction:06}"
    return f"{_day(days)}T{hour:02}:{minute:02}:{second:02}.{shown}Z"


_ERA, _DAYS_OF_ERA = 400, 146_097
_FIRST_DAYS = (date(1970, 1, 1) - date(400, 3, 1)).days
"""The Gregorian calendar repeats after 400 years; one of these began this long before 1970."""


def _day(days: int) -> str:
    """A day of any year, by how many days it is after the epoch."""
    eras, rest = divmod(days + _FIRST_DAYS, _DAYS_OF_ERA)
    inside = date(400, 3, 1) + timedelta(days=rest)
    year = inside.year + eras * _ERA
    return f"{year:04}-{inside.month:02}-{inside.day:02}"
